//! Storage Analytics: logs of requests as blobs in `$logs`, and counts of requests by the hour and the minute as tables.
//!
//! A request that has ended is counted in memory and, if its kind is logged, becomes a line in a bounded buffer. Nothing
//! of this waits or fails. In the background, [`Analytics::keep_writing`] puts lines and counts where clients find them,
//! through the same services that clients use; its own writes are not logged. What a server had in memory when it died
//! is lost: some seconds of logs, and the counts of the hour.
//!
//! | to follow | read |
//! | --- | --- |
//! | what is switched on | `switches.rs` |
//! | a count | `counters.rs`, `counts.rs`, `metrics_writer.rs` |
//! | a line | `log_buffer.rs`, `log_writer.rs` |
//! | how old data goes | `retention.rs` |

mod counters;
mod counts;
mod log_buffer;
mod log_writer;
mod metrics_writer;
mod retention;
mod switches;
mod watched;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::Clock;
use tablerock_protocol::{DateTime, Service};
use tokio::sync::Mutex;

use crate::{AccountService, BlobService, Result, TableService};

pub use counters::Measured;
pub use log_buffer::LogLine;
pub use watched::Watched;

use log_buffer::LogRoom;
use watched::Round;

/// How often the writer looks whether there is something to write.
const ROUND_TIME: Duration = Duration::from_secs(1);

/// How long an orderly stop waits for the last writes.
const STOP_TIME: Duration = Duration::from_secs(10);

/// The services of one account, in the order of [`Service::ALL`].
type OfAccount = [Watched; 3];

/// What is known about the requests of all accounts, and not written yet.
#[derive(Debug)]
pub struct Analytics {
    clock: Arc<dyn Clock>,
    accounts: HashMap<String, OfAccount>,
    log_room: Arc<LogRoom>,
    /// Of two changes of the same properties, the later one must be the one that stays.
    refreshing: Mutex<()>,
}

impl Analytics {
    /// Watches over these accounts by their settings. `operations` names all operations of a service; they are counted
    /// by their place in that list.
    pub async fn open(
        settings: &AccountService,
        clock: Arc<dyn Clock>,
        accounts: impl IntoIterator<Item = &str>,
        operations: impl Fn(Service) -> Vec<&'static str>,
    ) -> Result<Self> {
        let log_room = Arc::new(LogRoom::default());
        let now = DateTime::from_ticks(clock.ticks());
        let watch = |account: &str| {
            Service::ALL.map(|service| Watched::new(account, service, operations(service), log_room.clone(), now))
        };
        let accounts: HashMap<_, _> =
            accounts.into_iter().map(|account| (account.to_owned(), watch(account))).collect();
        let analytics = Self { clock, accounts, log_room, refreshing: Mutex::default() };
        for watched in analytics.accounts.values().flatten() {
            analytics.refresh(settings, watched.account(), watched.service()).await?;
        }
        Ok(analytics)
    }

    /// Takes up the settings that an account has now.
    pub async fn refresh(&self, settings: &AccountService, account: &str, service: Service) -> Result<()> {
        let Some(watched) = self.find(account, service) else { return Ok(()) };
        let _one_at_a_time = self.refreshing.lock().await;
        let properties = settings.service_properties(account, service).await?;
        watched.apply(&properties);
        Ok(())
    }

    /// Where to tell about a request, if anybody wants to know.
    pub fn watched(&self, account: &str, service: Service) -> Option<&Watched> {
        self.find(account, service).filter(|watched| watched.is_on())
    }

    fn find(&self, account: &str, service: Service) -> Option<&Watched> {
        self.accounts.get(account).map(|services| &services[service as usize])
    }

    /// Writes what there is to write until `stop` is done. A round is never cut short: what it wrote and did not yet
    /// know to be written would be written twice.
    pub async fn keep_writing(&self, tables: &TableService, blobs: &BlobService, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                () = tokio::time::sleep(ROUND_TIME) => {}
                () = self.log_room.filling() => {}
                () = &mut stop => return,
            }
            self.write(tables, blobs).await;
        }
    }

    /// One round of the writer: counts of periods that are over, logs that have waited long enough, and retention once
    /// an hour. What cannot be written now stays for the next round.
    pub async fn write(&self, tables: &TableService, blobs: &BlobService) {
        self.round(tables, blobs, false).await;
    }

    /// Writes everything, for an orderly stop.
    pub async fn close(&self, tables: &TableService, blobs: &BlobService) {
        if tokio::time::timeout(STOP_TIME, self.round(tables, blobs, true)).await.is_err() {
            tracing::warn!("the last logs and metrics of Storage Analytics could not be written in time");
        }
    }

    async fn round(&self, tables: &TableService, blobs: &BlobService, is_last: bool) {
        let now = DateTime::from_ticks(self.clock.ticks());
        for services in self.accounts.values() {
            let round = Round { tables, blobs, now, is_last, services };
            // What is written now belongs to the period that has just begun.
            for watched in services {
                watched.roll(&round).await;
            }
            for watched in services {
                watched.write(&round).await;
            }
        }
    }
}
