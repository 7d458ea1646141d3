//! The disk fails under load.

use std::time::Duration;

use fastrand::Rng;

use super::degraded;
use crate::client::ClockOffset;
use crate::crew::Crew;
use crate::layer::{Layer, Setting};
use crate::run::{Place, Run};
use crate::server::Server;
use crate::small_buffers;
use crate::workload::Habits;

const WORKERS: usize = 8;
const TIME_BEFORE: Duration = Duration::from_millis(300);
const TIME_AFTER: Duration = Duration::from_millis(200);
/// By then somebody must have been told, also on a machine that has a lot else to do.
const TIME_TO_FAIL: Duration = Duration::from_secs(20);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    DiskFull,
    SyncFails,
    ReadsFail,
    /// Only what fjall's own threads write fails, and journals do not: the committer may be waiting for them.
    TablesFail,
    /// Not a failure: the system may do less than it was asked to, and must be asked again.
    ShortWrites,
}

/// Each fault once. Tells how many there were.
pub(super) async fn run(run: &Run, round: usize) -> Result<usize, String> {
    let faults = [Fault::DiskFull, Fault::SyncFails, Fault::ReadsFail, Fault::TablesFail, Fault::ShortWrites];
    for fault in faults {
        let name = format!("faults-{fault:?}-{round}").to_lowercase();
        fail(run, &name, fault).await.map_err(|why| format!("{name}: {why}"))?;
    }
    Ok(faults.len())
}

async fn fail(run: &Run, name: &str, fault: Fault) -> Result<(), String> {
    let mut rng = run.rng(name);
    let place = Place::make(run, name)?;
    small_buffers::prepare(&place.location).await?;
    let layer = Layer::without_record(run.shim()?, &place.location)?;
    let clock = ClockOffset::default();
    let mut crew = Crew::new(WORKERS, &mut rng, &Habits::default());
    let server = Server::start(&run.program, &place.location, Some(&layer)).await?;
    crew.found(&mut server.client(&clock), None).await?;

    let shift = crew.begin(&server, &clock, None);
    shift.last(TIME_BEFORE).await;
    set(&layer, fault, &mut rng)?;
    match fault {
        Fault::ReadsFail | Fault::ShortWrites => shift.last(TIME_AFTER).await,
        // It shows as soon as the room is used up, or a buffer has become a table.
        Fault::DiskFull | Fault::SyncFails | Fault::TablesFail => shift.last_until_failure(TIME_TO_FAIL).await,
    }
    let mut crew = shift.end().await;
    let failures = crew.take_failures();
    match fault {
        Fault::ShortWrites => place.judge("short writes", failures.clone())?,
        Fault::ReadsFail => degraded::check_reads(&mut crew, &server, &place).await?,
        Fault::DiskFull | Fault::SyncFails | Fault::TablesFail => {
            degraded::check_refusals(&mut crew, &server, &place, &failures, expected_reason(fault)).await?;
        }
    }
    run.tell(&format!("{name}: {}", failures.first().map_or("nobody was told of a failure", String::as_str)));

    // The operator restarts it, one way or the other, and then sees to the disk, or the other way round.
    let repaired_first = rng.bool();
    if repaired_first {
        layer.reset()?;
    }
    if rng.bool() {
        server.kill()
    } else {
        server.stop_somehow().await?
    }
    layer.reset()?;
    goes_on(run, &place, &layer, crew, &mut rng).await?;
    layer.clean_up();
    place.clean_up();
    Ok(())
}

/// Everything is there, and the server works again.
async fn goes_on(run: &Run, place: &Place, layer: &Layer, mut crew: Crew, rng: &mut Rng) -> Result<(), String> {
    let clock = ClockOffset::default();
    for step in ["after the restart", "after some more work"] {
        let server = Server::start(&run.program, &place.location, Some(layer)).await?;
        place.judge(step, crew.check(&mut server.client(&clock), rng, None).await)?;
        let shift = crew.begin(&server, &clock, None);
        shift.last(TIME_AFTER).await;
        crew = shift.end().await;
        place.judge(step, crew.take_failures())?;
        place.judge(step, crew.check(&mut server.client(&clock), rng, None).await)?;
        server.stop().await?;
    }
    Ok(())
}

fn set(layer: &Layer, fault: Fault, rng: &mut Rng) -> Result<(), String> {
    match fault {
        Fault::DiskFull => layer.set(Setting::FreeBytes, rng.i64(0..100_000)),
        Fault::SyncFails => layer.set(Setting::SyncsFail, 1),
        Fault::ReadsFail => layer.set(Setting::ReadsFail, 1),
        Fault::TablesFail => {
            layer.set(Setting::SparesJournals, 1)?;
            layer.set(Setting::FailCount, i64::MAX)?;
            layer.set(Setting::FailFrom, 0)
        }
        Fault::ShortWrites => layer.set(Setting::WritesShort, 1),
    }
}

fn expected_reason(fault: Fault) -> &'static str {
    match fault {
        Fault::DiskFull => "No space left on device",
        _ => "Input/output error",
    }
}
