//! A disk that stalls: syncs block until they are released.
//!
//! The server must not acknowledge anything that is not durable, and must recover with the disk. While only journals stall,
//! reads continue, and after half a minute `/health` reports the stall. This is not required while tables stall: fjall
//! blocks reads while it makes a new set of tables durable.

use std::time::{Duration, Instant};

use crate::run::{DataDirectory, Run};
use crate::running_workers::WorkerGroup as _;
use crate::server::Server;
use crate::shim::Setting;
use crate::tables::{TableOptions, TableWorkers};

const WORKERS: usize = 8;
const LOAD_TIME: Duration = Duration::from_millis(300);
const STALL_SHORT: Duration = Duration::from_secs(1);
/// Longer than the server's request timeout and than the delay of `/health`.
const STALL_LONG: Duration = Duration::from_secs(45);
/// By then, writes whose clients have given up are done, so that an observation resolves them.
const RESOLVE_TIME: Duration = Duration::from_secs(2);
/// The limit for a read while writes are stalled.
const READ_TIME_MAX: Duration = Duration::from_secs(5);

/// The files whose syncs stall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stalled {
    Journals = 1,
    Everything = 2,
}

/// Stalls each once. Returns the number of stalls.
pub(super) async fn run(run: &Run) -> Result<usize, String> {
    for stalled in [Stalled::Journals, Stalled::Everything] {
        stall(run, stalled).await.map_err(|why| format!("{stalled:?}: {why}"))?;
    }
    Ok(2)
}

async fn stall(run: &Run, stalled: Stalled) -> Result<(), String> {
    let time = if run.is_long { STALL_LONG } else { STALL_SHORT };
    let mut directory = DataDirectory::create(run, "faults-stall")?;
    directory.prepare_small_buffers().await?;
    directory.inject_faults(run)?;
    let mut workers = TableWorkers::new(WORKERS, &mut run.rng("stall"), &TableOptions::default());
    let server = directory.start().await?;
    workers.set_up(&mut server.client()).await?;

    let running = workers.start(&server);
    running.run_for(LOAD_TIME).await;
    directory.shim().set(Setting::SyncsWait, stalled as i64)?;
    running.run_for(time).await;
    if stalled == Stalled::Journals {
        check_during_stall(run, &server).await?;
    }
    directory.shim().reset()?;
    running.run_for(RESOLVE_TIME).await;
    let mut workers = running.stop().await;
    let failures = workers.take_failures();
    if !run.is_long {
        directory.verify("after a stall of one second", failures)?;
    }
    directory.verify("after the stall", workers.check(&mut server.client()).await)?;
    let (status, text) = server.health().await?;
    if status != 200 {
        return Err(format!("the stall is over, and /health returns {status} {text}"));
    }
    server.stop().await?;
    let server = directory.start().await?;
    directory.verify("after the restart", workers.check(&mut server.client()).await)?;
    server.stop().await?;
    directory.clean_up();
    Ok(())
}

/// Reads get a response, and `/health` reports a long stall.
async fn check_during_stall(run: &Run, server: &Server) -> Result<(), String> {
    let started = Instant::now();
    server.client().get("/Tables", &[]).await;
    if started.elapsed() > READ_TIME_MAX {
        return Err(format!("a read took {} ms while writes were stalled", started.elapsed().as_millis()));
    }
    match server.health().await? {
        (503, text) if text.contains("no write has reached the disk") => Ok(()),
        (200, _) if !run.is_long => Ok(()),
        (status, text) => Err(format!("syncs are stalled, and /health returns {status} {text}")),
    }
}
