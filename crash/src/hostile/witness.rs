//! Somebody who only wants to be served: reads and writes one entity after the other, and takes the time.

use std::time::{Duration, Instant};

use fastrand::Rng;

use super::resident;
use crate::client::{Client, ClockOffset, Reply};
use crate::content::{Address, Content};
use crate::operation::{Attempt, Change, Match, Operation};
use crate::server::Server;

pub(super) const TABLE: &str = "Witness";
/// What a query for everything returns at a time: pages of almost 4 MiB.
const LARGE_ENTITIES: usize = 256;
const LARGE_ENTITY_BYTES: usize = 30_000;
const PAUSE: Duration = Duration::from_millis(10);

pub(super) struct Witness {
    client: Client,
    rng: Rng,
}

/// What there was to see during an attack.
pub(super) struct Seen {
    pub(super) resident_bytes: u64,
    pub(super) slowest: Duration,
}

impl Witness {
    pub(super) fn of(server: &Server) -> Self {
        Self { client: server.client(&ClockOffset::default()), rng: Rng::with_seed(1) }
    }

    /// Makes the table that everything is about.
    pub(super) async fn prepare(&mut self) -> Result<(), String> {
        self.client.attempt(&Attempt::CreateTable(TABLE.to_owned())).await?;
        for number in 0..LARGE_ENTITIES {
            let address = Address::new(TABLE, "large", format!("{number:04}"));
            self.write(address, LARGE_ENTITY_BYTES).await?;
        }
        Ok(())
    }

    /// Works for that long.
    pub(super) async fn watch(&mut self, server: &Server, time: Duration) -> Result<Seen, String> {
        let mut seen = Seen { resident_bytes: 0, slowest: Duration::ZERO };
        let started = Instant::now();
        while started.elapsed() < time {
            let asked = Instant::now();
            let address = Address::new(TABLE, "witness", "row");
            self.write(address.clone(), 500).await?;
            seen.slowest = seen.slowest.max(asked.elapsed());
            let asked = Instant::now();
            match self.client.get(&address.path(), &[]).await {
                Reply::Answered(answer) if answer.status == 200 => {}
                other => return Err(format!("a read was answered with {other:?}")),
            }
            seen.slowest = seen.slowest.max(asked.elapsed());
            seen.resident_bytes = seen.resident_bytes.max(resident(server)?);
            tokio::time::sleep(PAUSE).await;
        }
        Ok(seen)
    }

    async fn write(&mut self, address: Address, bytes: usize) -> Result<(), String> {
        let content = Content::unique("witness", bytes, &mut self.rng);
        let change = Change::Replace(content, Match::Upsert);
        match self.client.attempt(&Attempt::Entities(vec![Operation { address, change }])).await? {
            Reply::Answered(_) => Ok(()),
            other => Err(format!("a write was answered with {other:?}")),
        }
    }
}
