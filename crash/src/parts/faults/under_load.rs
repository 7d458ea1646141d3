//! A disk that fails under load.

use std::time::Duration;

use fastrand::Rng;

use super::degraded;
use crate::run::{DataDirectory, Run};
use crate::running_workers::WorkerGroup as _;
use crate::shim::{Setting, Shim};
use crate::tables::{TableOptions, TableWorkers};

const WORKERS: usize = 8;
const TIME_BEFORE: Duration = Duration::from_millis(300);
const TIME_AFTER: Duration = Duration::from_millis(200);
/// The limit for the first error response, also on a busy machine.
const TIME_TO_FAIL: Duration = Duration::from_secs(20);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    DiskFull,
    SyncFails,
    ReadsFail,
    /// Only writes of fjall's own threads fail. Journals do not fail, because the committer may wait for those threads.
    TablesFail,
    /// Not a failure: the system may write less than requested, and the rest must be written again.
    ShortWrites,
}

/// Injects each fault once. Returns the number of faults.
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
    let mut directory = DataDirectory::create(run, name)?;
    directory.prepare_small_buffers().await?;
    directory.inject_faults(run)?;
    let mut workers = TableWorkers::new(WORKERS, &mut rng, &TableOptions::default());
    let server = directory.start().await?;
    workers.set_up(&mut server.client()).await?;

    let running = workers.start(&server);
    running.run_for(TIME_BEFORE).await;
    set(directory.shim(), fault, &mut rng)?;
    match fault {
        Fault::ReadsFail | Fault::ShortWrites => running.run_for(TIME_AFTER).await,
        // The failure shows when the free space is used up, or when a buffer is flushed.
        Fault::DiskFull | Fault::SyncFails | Fault::TablesFail => running.run_until_failure(TIME_TO_FAIL).await,
    }
    let mut workers = running.stop().await;
    let failures = workers.take_failures();
    match fault {
        Fault::ShortWrites => directory.verify("short writes", failures.clone())?,
        Fault::ReadsFail => degraded::check_reads(&mut workers, &server, &directory).await?,
        Fault::DiskFull | Fault::SyncFails | Fault::TablesFail => {
            degraded::check_degraded(&mut workers, &server, &directory, &failures, expected_reason(fault)).await?;
        }
    }
    run.print_step(&format!("{name}: {}", failures.first().map_or("no error response", String::as_str)));

    // The operator repairs the disk before or after the server stops.
    let is_repaired_first = rng.bool();
    if is_repaired_first {
        directory.shim().reset()?;
    }
    if rng.bool() {
        server.kill();
    } else {
        server.stop_with_any_code().await?;
    }
    directory.shim().reset()?;
    check_recovery(&directory, workers).await?;
    directory.clean_up();
    Ok(())
}

/// Checks that all data is there and that the server accepts writes again.
async fn check_recovery(directory: &DataDirectory, mut workers: TableWorkers) -> Result<(), String> {
    for step in ["after the restart", "after more load"] {
        let server = directory.start().await?;
        directory.verify(step, workers.check(&mut server.client()).await)?;
        let running = workers.start(&server);
        running.run_for(TIME_AFTER).await;
        workers = running.stop().await;
        directory.verify(step, workers.take_failures())?;
        directory.verify(step, workers.check(&mut server.client()).await)?;
        server.stop().await?;
    }
    Ok(())
}

fn set(shim: &Shim, fault: Fault, rng: &mut Rng) -> Result<(), String> {
    match fault {
        Fault::DiskFull => shim.set(Setting::FreeBytes, rng.i64(0..100_000)),
        Fault::SyncFails => shim.set(Setting::SyncsFail, 1),
        Fault::ReadsFail => shim.set(Setting::ReadsFail, 1),
        Fault::TablesFail => {
            shim.set(Setting::SparesJournals, 1)?;
            shim.set(Setting::FailCount, i64::MAX)?;
            shim.set(Setting::FailFrom, 0)
        }
        Fault::ShortWrites => shim.set(Setting::WritesShort, 1),
    }
}

fn expected_reason(fault: Fault) -> &'static str {
    match fault {
        Fault::DiskFull => "No space left on device",
        _ => "Input/output error",
    }
}
