//! A well-behaved client: it writes and reads one entity repeatedly and measures the response times.

use std::time::{Duration, Instant};

use fastrand::Rng;

use super::resident;
use crate::client::{Client, Reply};
use crate::model::Model as _;
use crate::server::Server;
use crate::tables::{Address, Content, EntityChange, EntityOperation, IfMatch, TableModel, TableWrite};

pub(super) const TABLE: &str = "Probe";
pub(super) const PARTITION: &str = "probe";
pub(super) const ROW: &str = "row";
/// A query of the whole table returns pages of almost 4 MiB.
const LARGE_ENTITIES: usize = 256;
const LARGE_ENTITY_BYTES: usize = 30_000;
const PAUSE: Duration = Duration::from_millis(10);

pub(super) struct Probe {
    client: Client,
    rng: Rng,
}

/// The measurements during an attack.
pub(super) struct Measurements {
    /// The connections of the attack.
    pub(super) connections: usize,
    pub(super) resident_bytes: u64,
    pub(super) slowest: Duration,
}

impl Probe {
    pub(super) fn of(server: &Server) -> Self {
        Self { client: server.client(), rng: Rng::with_seed(1) }
    }

    /// Creates the table and the large entities.
    pub(super) async fn prepare(&mut self) -> Result<(), String> {
        TableModel::send(&mut self.client, &TableWrite::CreateTable(TABLE.to_owned())).await?;
        for number in 0..LARGE_ENTITIES {
            let address = Address::new(TABLE, "large", format!("{number:04}"));
            self.write(address, LARGE_ENTITY_BYTES).await?;
        }
        Ok(())
    }

    /// Writes, reads and measures for this time.
    pub(super) async fn measure(&mut self, server: &Server, time: Duration) -> Result<Measurements, String> {
        let mut measured = Measurements { connections: 0, resident_bytes: 0, slowest: Duration::ZERO };
        let started = Instant::now();
        while started.elapsed() < time {
            let sent = Instant::now();
            let address = Address::new(TABLE, PARTITION, ROW);
            self.write(address.clone(), 500).await?;
            measured.slowest = measured.slowest.max(sent.elapsed());
            let sent = Instant::now();
            match self.client.get(&address.path(), &[]).await {
                Reply::Response(answer) if answer.status == 200 => {}
                other => return Err(format!("a read got {other:?}")),
            }
            measured.slowest = measured.slowest.max(sent.elapsed());
            measured.resident_bytes = measured.resident_bytes.max(resident(server)?);
            tokio::time::sleep(PAUSE).await;
        }
        Ok(measured)
    }

    async fn write(&mut self, address: Address, bytes: usize) -> Result<(), String> {
        let content = Content::unique(PARTITION, bytes, &mut self.rng);
        let change = EntityChange::Replace(content, IfMatch::Upsert);
        let write = TableWrite::Entities(vec![EntityOperation { address, change }]);
        match TableModel::send(&mut self.client, &write).await? {
            Reply::Response(_) => Ok(()),
            other => Err(format!("a write got {other:?}")),
        }
    }
}
