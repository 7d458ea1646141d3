//! The scenarios that are recorded: the first start, growth and sweeping, a full journal, load, and load with kills.

use std::time::Duration;

use fastrand::Rng;

use super::coverage::EngineEvent;
use crate::blobs::BlobOptions;
use crate::run::DataDirectory;
use crate::tables::{
    Address, Content, EntityChange, EntityOperation, IfMatch, SHARED_TABLES, TableOptions, TableWrite,
};
use crate::workload::{Workload, WorkloadOptions};

/// Long enough for sweeps and compactions after a start.
pub(super) const BACKGROUND_TIME: Duration = Duration::from_millis(500);
const LOAD_TIME: Duration = Duration::from_millis(1_200);
/// A new journal begins when the current one has 64 MB.
const JOURNAL_BYTES: usize = 64_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scenario {
    /// The first start in an empty folder, a few requests, and a second start.
    FirstStart,
    /// Enough writes to flush buffers and compact tables; a table is dropped and, at the next start, swept.
    Growth,
    /// Enough writes to fill the journal, so that a new one begins and the old one is removed.
    Rotation,
    /// Many clients at once.
    Load,
    /// Kills under load. The system keeps unsynced writes of a killed process, so the next process finds and shows them.
    /// From then on they must survive a power cut too.
    KilledLoad,
}

/// Few enough workers that all data can be read after each cut.
pub(super) fn options() -> WorkloadOptions {
    let table_options = TableOptions { value_bytes: 2_000, large_value_bytes: 30_000, ..TableOptions::default() };
    let blob_options = BlobOptions { bytes_max: 24_000, large_bytes_max: 700 << 10, large_every: 24 };
    WorkloadOptions { tables: 6, queues: 3, blobs: 2, table_options, blob_options }
}

impl Scenario {
    /// One request after the other, so that each sync belongs to one request.
    pub(super) const SEQUENTIAL: [Self; 3] = [Self::FirstStart, Self::Growth, Self::Rotation];

    /// Many clients at once.
    pub(super) const CONCURRENT: [Self; 2] = [Self::Load, Self::KilledLoad];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::FirstStart => "first-start",
            Self::Growth => "growth",
            Self::Rotation => "rotation",
            Self::Load => "load",
            Self::KilledLoad => "killed-load",
        }
    }

    pub(super) fn has_small_buffers(self) -> bool {
        self != Self::FirstStart
    }

    /// The engine events that the recording must contain.
    pub(super) fn covers(self) -> &'static [EngineEvent] {
        match self {
            Self::FirstStart => &[EngineEvent::DirectoryCreated],
            Self::Growth => &[EngineEvent::TableWritten, EngineEvent::TableRemoved],
            Self::Rotation => &[EngineEvent::JournalCreated, EngineEvent::JournalRemoved],
            Self::Load | Self::KilledLoad => &[EngineEvent::TableWritten],
        }
    }

    pub(super) async fn run(self, directory: &DataDirectory, workload: Workload, rng: Rng) -> Result<Workload, String> {
        match self {
            Self::FirstStart => first_start(directory, workload, rng).await,
            Self::Growth => growth(directory, workload, rng).await,
            Self::Rotation => rotation(directory, workload, rng).await,
            Self::Load => load(directory, workload).await,
            Self::KilledLoad => killed_load(directory, workload, rng).await,
        }
    }
}

async fn first_start(directory: &DataDirectory, mut workload: Workload, mut rng: Rng) -> Result<Workload, String> {
    for start in 0..2 {
        let server = directory.start().await?;
        let mut client = server.client();
        if start == 0 {
            workload.set_up(&mut client).await?;
        }
        for _ in 0..8 {
            workload.step(&mut client, &mut rng).await;
        }
        directory.verify("first start", workload.check(&mut client).await)?;
        server.stop().await?;
    }
    Ok(workload)
}

async fn growth(directory: &DataDirectory, mut workload: Workload, mut rng: Rng) -> Result<Workload, String> {
    for start in 0..3 {
        let server = directory.start().await?;
        let mut client = server.client();
        if start == 0 {
            workload.set_up(&mut client).await?;
        } else {
            tokio::time::sleep(BACKGROUND_TIME).await;
        }
        for _ in 0..30 {
            workload.step(&mut client, &mut rng).await;
        }
        let dropped = format!("Dropped{start}");
        let worker = &mut workload.tables.workers[0];
        worker.send(&mut client, TableWrite::CreateTable(dropped.clone())).await;
        for number in 0..12 {
            let upsert = large_upsert(&dropped, number, 25_000, &mut rng);
            worker.send(&mut client, TableWrite::Entities(vec![upsert])).await;
        }
        worker.send(&mut client, TableWrite::DropTable(dropped)).await;
        directory.verify("growth", workload.check(&mut client).await)?;
        server.stop().await?;
    }
    Ok(workload)
}

async fn rotation(directory: &DataDirectory, mut workload: Workload, mut rng: Rng) -> Result<Workload, String> {
    const GROUP: usize = 100;
    const VALUE_BYTES: usize = 30_000;
    let server = directory.start().await?;
    let mut client = server.client();
    workload.set_up(&mut client).await?;
    let worker = &mut workload.tables.workers[0];
    for _ in 0..JOURNAL_BYTES / (GROUP * VALUE_BYTES) + 2 {
        // The same rows every time, so that little is left to compare afterwards.
        let upsert = |number| large_upsert(SHARED_TABLES[0], number, VALUE_BYTES, &mut rng);
        let operations = (0..GROUP).map(upsert).collect();
        worker.send(&mut client, TableWrite::Entities(operations)).await;
    }
    for _ in 0..20 {
        worker.write(&mut client).await;
    }
    tokio::time::sleep(BACKGROUND_TIME).await;
    directory.verify("rotation", workload.check(&mut client).await)?;
    server.stop().await?;
    Ok(workload)
}

async fn load(directory: &DataDirectory, mut workload: Workload) -> Result<Workload, String> {
    let server = directory.start().await?;
    workload.set_up(&mut server.client()).await?;
    let running = workload.start(&server);
    running.run_for(LOAD_TIME).await;
    let mut workload = running.stop().await;
    directory.verify("load", workload.take_failures())?;
    directory.verify("load", workload.check(&mut server.client()).await)?;
    server.stop().await?;
    Ok(workload)
}

async fn killed_load(directory: &DataDirectory, mut workload: Workload, mut rng: Rng) -> Result<Workload, String> {
    for start in 0..5 {
        let server = directory.start().await?;
        let mut client = server.client();
        if start == 0 {
            workload.set_up(&mut client).await?;
        }
        directory.verify("killed load", workload.check(&mut client).await)?;
        if start == 4 {
            server.stop().await?;
            break;
        }
        let running = workload.start(&server);
        running.run_for(LOAD_TIME.mul_f64(rng.f64() / 2.0)).await;
        directory.shim().kill(server).await?;
        workload = running.stop().await;
    }
    Ok(workload)
}

fn large_upsert(table: &str, number: usize, bytes: usize, rng: &mut Rng) -> EntityOperation {
    let address = Address::new(table, "large", format!("r{number:03}"));
    let content = Content::unique(&format!("large{}", rng.u32(..)), bytes, rng);
    EntityOperation { address, change: EntityChange::Replace(content, IfMatch::Upsert) }
}
