//! What is played while the layer records: the first start, growth and sweeping, a full journal, load, and load with
//! kills.

use std::time::Duration;

use fastrand::Rng;

use super::scenes::BACKGROUND_TIME;
use crate::client::ClockOffset;
use crate::company::Company;
use crate::content::{Address, Content};
use crate::history::LogLength;
use crate::layer::Layer;
use crate::operation::{Attempt, Change, Match, Operation};
use crate::run::{Place, Run};
use crate::server::Server;
use crate::workload::SHARED_TABLES;

const LOAD_TIME: Duration = Duration::from_millis(1_200);
/// A journal is left for a new one when it has 64 MB.
const JOURNAL_BYTES: usize = 64_000_000;

/// Where a script plays.
pub(super) struct Stage<'r> {
    pub(super) run: &'r Run,
    pub(super) place: &'r Place,
    pub(super) layer: &'r Layer,
    pub(super) clock: ClockOffset,
    pub(super) log: LogLength,
}

impl Stage<'_> {
    async fn start(&self) -> Result<Server, String> {
        Server::start(&self.run.program, &self.place.location, Some(self.layer)).await
    }
}

/// The first start in an empty folder, a few requests, and a second start.
pub(super) async fn birth(stage: &Stage<'_>, mut company: Company, mut rng: Rng) -> Result<Company, String> {
    for life in 0..2 {
        let server = stage.start().await?;
        let mut client = server.client(&stage.clock);
        if life == 0 {
            company.found(&mut client, Some(&stage.log)).await?;
        }
        for _ in 0..8 {
            company.step(&mut client, &mut rng, Some(&stage.log)).await;
        }
        stage.place.judge("birth", company.check(&mut client, &mut rng, Some(&stage.log)).await)?;
        server.stop().await?;
    }
    Ok(company)
}

/// Enough for buffers to become tables and tables to be merged; a table is dropped and, at the next start, swept.
pub(super) async fn growth(stage: &Stage<'_>, mut company: Company, mut rng: Rng) -> Result<Company, String> {
    for life in 0..3 {
        let server = stage.start().await?;
        let mut client = server.client(&stage.clock);
        if life == 0 {
            company.found(&mut client, Some(&stage.log)).await?;
        } else {
            tokio::time::sleep(BACKGROUND_TIME).await;
        }
        for _ in 0..30 {
            company.step(&mut client, &mut rng, Some(&stage.log)).await;
        }
        let doomed = format!("Doomed{life}");
        let worker = &mut company.tables.workers[0];
        worker.perform(&mut client, Attempt::CreateTable(doomed.clone()), Some(&stage.log)).await;
        for number in 0..12 {
            let upsert = large_upsert(&doomed, number, 25_000, &mut rng);
            worker.perform(&mut client, Attempt::Entities(vec![upsert]), Some(&stage.log)).await;
        }
        worker.perform(&mut client, Attempt::DropTable(doomed), Some(&stage.log)).await;
        stage.place.judge("growth", company.check(&mut client, &mut rng, Some(&stage.log)).await)?;
        server.stop().await?;
    }
    Ok(company)
}

/// So much is written that the journal is full and a new one begins, and the old one is removed.
pub(super) async fn rotation(stage: &Stage<'_>, mut company: Company, mut rng: Rng) -> Result<Company, String> {
    const GROUP: usize = 100;
    const VALUE_BYTES: usize = 30_000;
    let server = stage.start().await?;
    let mut client = server.client(&stage.clock);
    company.found(&mut client, Some(&stage.log)).await?;
    let worker = &mut company.tables.workers[0];
    let table = SHARED_TABLES[0];
    for _ in 0..JOURNAL_BYTES / (GROUP * VALUE_BYTES) + 2 {
        // The same rows every time, so that little is left to compare afterwards.
        let upsert = |number| large_upsert(table, number, VALUE_BYTES, &mut rng);
        let operations = (0..GROUP).map(upsert).collect();
        worker.perform(&mut client, Attempt::Entities(operations), Some(&stage.log)).await;
    }
    for _ in 0..20 {
        worker.write(&mut client, Some(&stage.log)).await;
    }
    tokio::time::sleep(BACKGROUND_TIME).await;
    stage.place.judge("rotation", company.check(&mut client, &mut rng, Some(&stage.log)).await)?;
    server.stop().await?;
    Ok(company)
}

pub(super) async fn load(stage: &Stage<'_>, mut company: Company, mut rng: Rng) -> Result<Company, String> {
    let server = stage.start().await?;
    company.found(&mut server.client(&stage.clock), Some(&stage.log)).await?;
    let shift = company.begin(&server, &stage.clock, Some(&stage.log));
    shift.last(LOAD_TIME).await;
    let mut company = shift.end().await;
    stage.place.judge("load", company.take_failures())?;
    stage.place.judge("load", company.check(&mut server.client(&stage.clock), &mut rng, Some(&stage.log)).await)?;
    server.stop().await?;
    Ok(company)
}

/// Processes that are killed under load. The system keeps what they wrote, so the next one finds it, synced or not, and
/// shows it; from then on it must survive a cut as well.
pub(super) async fn killed_load(stage: &Stage<'_>, mut company: Company, mut rng: Rng) -> Result<Company, String> {
    for life in 0..4 {
        let server = stage.start().await?;
        let mut client = server.client(&stage.clock);
        if life == 0 {
            company.found(&mut client, Some(&stage.log)).await?;
        }
        stage.place.judge("killed load", company.check(&mut client, &mut rng, Some(&stage.log)).await)?;
        let shift = company.begin(&server, &stage.clock, Some(&stage.log));
        shift.last(LOAD_TIME.mul_f64(rng.f64() / 2.0)).await;
        stage.layer.kill(server).await?;
        company = shift.end().await;
    }
    let server = stage.start().await?;
    let mut client = server.client(&stage.clock);
    stage.place.judge("killed load", company.check(&mut client, &mut rng, Some(&stage.log)).await)?;
    server.stop().await?;
    Ok(company)
}

fn large_upsert(table: &str, number: usize, bytes: usize, rng: &mut Rng) -> Operation {
    let address = Address::new(table, "large", format!("r{number:03}"));
    let content = Content::unique(&format!("large{}", rng.u32(..)), bytes, rng);
    Operation { address, change: Change::Replace(content, Match::Upsert) }
}
