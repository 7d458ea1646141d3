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
//! | the capacity of blobs | `capacity_writer.rs`, and `blob/usage` |
//! | a line | `log_buffer.rs`, `log_writer.rs` |
//! | how old data goes | `retention.rs` |

mod capacity_writer;
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
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use tablerock_kv::{Clock, Rng};
use tablerock_protocol::{DateTime, Service};
use tokio::sync::Mutex;

use crate::work_lease::WorkLease;
use crate::{AccountService, BlobService, Result, TableService};

pub use counters::Measured;
pub use log_buffer::LogLine;
pub use watched::Watched;

use log_buffer::LogRoom;
use watched::Round;

/// How often the writer looks whether there is something to write.
const ROUND_TIME: Duration = Duration::from_secs(1);

/// How old the settings may be that a server follows while others can change them.
const REFRESH_TIME: Duration = Duration::from_secs(5);

/// A third of the lease on writing metrics: a server that died holds it for no longer than three of these.
const METRICS_LEASE_PERIOD: Duration = Duration::from_secs(60);

/// How often old data is looked for.
const RETENTION_TIME: Duration = Duration::from_secs(3600);

/// How long an orderly stop waits for the last writes.
const STOP_TIME: Duration = Duration::from_secs(10);

/// The services of one account, in the order of [`Service::ALL`].
type OfAccount = [Arc<Watched>; 3];

/// Names all operations of a service. They are counted by their place in that list.
type OperationNames = fn(Service) -> Vec<&'static str>;

/// The records of the requests of all accounts that are not written yet.
#[derive(Debug)]
pub struct Analytics {
    clock: Arc<dyn Clock>,
    /// Accounts are added, never removed: one that is no longer served may have records that are not written.
    accounts: ArcSwap<HashMap<String, OfAccount>>,
    operations: OperationNames,
    /// The number of this server in the names of logs.
    server: u64,
    log_room: Arc<LogRoom>,
    /// Of two changes of the same properties, the later one must be the one that stays.
    refreshing: Mutex<()>,
    /// Where other servers may change settings as well, and when they were last looked at.
    shared: Option<Shared>,
}

#[derive(Debug)]
struct Shared {
    settings: AccountService,
    refreshed: parking_lot::Mutex<Instant>,
    retention_lease: WorkLease,
}

impl Analytics {
    /// Watches over these accounts by their settings. `operations` names all operations of a service; they are counted
    /// by their place in that list.
    pub async fn open<'a>(
        settings: &AccountService,
        blobs: &BlobService,
        clock: Arc<dyn Clock>,
        accounts: impl IntoIterator<Item = &'a str>,
        operations: OperationNames,
    ) -> Result<Self> {
        let shared = settings.sharing().coordination(|| {
            let refreshed = parking_lot::Mutex::new(clock.instant());
            let retention_lease = settings.work_lease(clock.clone(), crate::keys::RETENTION_LEASE, RETENTION_TIME);
            Shared { settings: settings.clone(), refreshed, retention_lease }
        });
        let analytics = Self {
            clock,
            accounts: ArcSwap::default(),
            operations,
            server: Rng::from_os().number(),
            log_room: Arc::default(),
            refreshing: Mutex::default(),
            shared,
        };
        for account in accounts {
            analytics.add_account(settings, blobs, account).await?;
        }
        Ok(analytics)
    }

    /// Watches over one more account, unless it is watched already.
    pub async fn add_account(&self, settings: &AccountService, blobs: &BlobService, account: &str) -> Result<()> {
        if self.accounts.load().contains_key(account) {
            return Ok(());
        }
        let now = DateTime::from_ticks(self.clock.ticks());
        let watch = |service| {
            let key = crate::keys::metrics_lease_key(service, account);
            let metrics_lease = settings.work_lease(self.clock.clone(), key, METRICS_LEASE_PERIOD);
            let (names, room) = ((self.operations)(service), self.log_room.clone());
            Arc::new(Watched::new(account, service, names, room, self.server, now, metrics_lease))
        };
        let services = Service::ALL.map(watch);
        self.accounts.rcu(|accounts| {
            let mut accounts = HashMap::clone(accounts);
            accounts.insert(account.to_owned(), services.clone());
            accounts
        });
        for service in Service::ALL {
            self.refresh(settings, blobs, account, service).await?;
        }
        Ok(())
    }

    /// Takes up the settings that an account has now. Where something is logged, there is a container for it.
    pub async fn refresh(
        &self,
        settings: &AccountService,
        blobs: &BlobService,
        account: &str,
        service: Service,
    ) -> Result<()> {
        let Some(watched) = self.find(account, service) else { return Ok(()) };
        let _one_at_a_time = self.refreshing.lock().await;
        let properties = settings.service_properties(account, service).await?;
        let logging = &properties.logging;
        if logging.read || logging.write || logging.delete {
            log_writer::create_container(blobs, account).await?;
        }
        watched.apply(&properties);
        Ok(())
    }

    /// The place to record a request, if analytics is on for its account and service.
    pub fn watched(&self, account: &str, service: Service) -> Option<Arc<Watched>> {
        self.find(account, service).filter(|watched| watched.is_on())
    }

    fn find(&self, account: &str, service: Service) -> Option<Arc<Watched>> {
        self.accounts.load().get(account).map(|services| services[service as usize].clone())
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
            tracing::warn!(timeout = ?STOP_TIME, "writing the last Storage Analytics timed out, the rest is lost");
        }
    }

    /// Takes up settings that other servers may have changed.
    async fn follow(&self, blobs: &BlobService) {
        let Some(Shared { settings, refreshed, .. }) = &self.shared else { return };
        let now = self.clock.instant();
        if now < *refreshed.lock() + REFRESH_TIME {
            return;
        }
        let accounts = self.accounts.load_full();
        for watched in accounts.values().flatten() {
            if let Err(error) = self.refresh(settings, blobs, watched.account(), watched.service()).await {
                let (account, service) = (watched.account(), watched.service().name());
                tracing::warn!(account, service, %error, "reading Storage Analytics settings failed, will retry");
            }
        }
        *refreshed.lock() = now;
    }

    /// Whether this server deletes what is too old. Servers that share a store leave it to one of them.
    async fn drops_old(&self) -> bool {
        let Some(shared) = &self.shared else { return true };
        shared.retention_lease.renew().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "acquiring the lease on analytics retention failed, will retry");
            false
        })
    }

    async fn round(&self, tables: &TableService, blobs: &BlobService, is_last: bool) {
        self.follow(blobs).await;
        if let Err(error) = blobs.store_usage_if_due().await {
            tracing::warn!(%error, "storing the usage of containers failed, will retry");
        }
        let now = DateTime::from_ticks(self.clock.ticks());
        let accounts = self.accounts.load_full();
        for services in accounts.values() {
            let round = Round { analytics: self, tables, blobs, now, is_last, services };
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
