//! A disk that fails before the start: the server exits with an error, or serves correct data.

use std::time::Duration;

use super::degraded::wrong_reads;
use crate::run::{DataDirectory, Run};
use crate::running_workers::WorkerGroup as _;
use crate::server::StartError;
use crate::shim::Setting;
use crate::tables::{TableOptions, TableWorkers};

const WORKERS: usize = 8;
const LOAD_TIME: Duration = Duration::from_millis(300);

const FAULTS: [(&str, Setting, i64); 3] =
    [("full", Setting::FreeBytes, 0), ("sync", Setting::SyncsFail, 1), ("read", Setting::ReadsFail, 1)];

pub(super) async fn run(run: &Run, round: usize) -> Result<usize, String> {
    for is_new in [false, true] {
        for (kind, setting, value) in FAULTS {
            let name = format!("faults-start-{kind}-{}-{round}", if is_new { "new" } else { "old" });
            fail(run, &name, setting, value, is_new).await.map_err(|why| format!("{name}: {why}"))?;
        }
    }
    Ok(2 * FAULTS.len())
}

async fn fail(run: &Run, name: &str, setting: Setting, value: i64, is_new: bool) -> Result<(), String> {
    let mut directory = DataDirectory::create(run, name)?;
    let mut workers = TableWorkers::new(WORKERS, &mut run.rng(name), &TableOptions::default());
    if !is_new {
        workers = fill(&directory, workers).await?;
    }

    directory.inject_faults(run)?;
    directory.shim().set(setting, value)?;
    match directory.spawn()?.ready().await {
        Err(error) => {
            run.print_step(&format!("{name}: {error}"));
            check_start_error(&error)?;
        }
        Ok(server) => {
            run.print_step(&format!("{name}: serves"));
            let mut client = server.client();
            for model in workers.models() {
                directory.verify("with a failed disk", wrong_reads(&mut client, model).await)?;
            }
            server.kill();
        }
    }
    directory.shim().reset()?;
    let server = directory.start().await?;
    if is_new {
        workers.set_up(&mut server.client()).await?;
    }
    directory.verify("after the repair", workers.check(&mut server.client()).await)?;
    server.stop().await?;
    directory.clean_up();
    Ok(())
}

async fn fill(directory: &DataDirectory, mut workers: TableWorkers) -> Result<TableWorkers, String> {
    directory.prepare_small_buffers().await?;
    let server = directory.start().await?;
    workers.set_up(&mut server.client()).await?;
    let running = workers.start(&server);
    running.run_for(LOAD_TIME).await;
    server.kill();
    let mut workers = running.stop().await;
    let server = directory.start().await?;
    directory.verify("before the fault", workers.check(&mut server.client()).await)?;
    server.kill();
    Ok(workers)
}

/// A failed start prints one error for the operator and exits with code 1, without a panic or a signal.
pub(super) fn check_start_error(error: &StartError) -> Result<(), String> {
    let code = error.status.and_then(|status| status.code());
    let has_error = error.text.lines().any(|line| line.starts_with("tablerock: "));
    let panicked = error.text.contains("panicked");
    if code == Some(1) && has_error && !panicked { Ok(()) } else { Err(format!("not a clear error: {error}")) }
}
