//! Each system call fails in turn: each write, sync, rename and removal of a start, of some requests and of a stop, once or
//! from then on.
//!
//! The server must respond in time. It may refuse to start, reject writes, or continue without the failed call. All
//! acknowledged writes must be there after a restart, with the files as they are or after a power cut. In a power cut, a
//! failed sync has lost what it covered, because the system does not retry it.

use std::time::{Duration, Instant};

use fastrand::Rng;

use super::at_start::check_start_error;
use super::degraded;
use crate::disk::{Disk, Loss, Record};
use crate::run::{DataDirectory, Run};
use crate::running_workers::WorkerGroup as _;
use crate::server::Server;
use crate::shim::Setting;
use crate::tables::{TableOptions, TableWorkers};

const WORKERS: usize = 4;
const REQUESTS: usize = 40;
/// The limit for any response. Far above the need of a busy machine.
const RESPONSE_TIME_MAX: Duration = Duration::from_secs(20);
/// The error of a failing call.
const REASON: &str = "Input/output error";
/// The number of calls that fail without `--long`.
const CALLS_SHORT: usize = 16;

/// The calls that fail.
#[derive(Debug, Clone, Copy)]
struct FailingCalls {
    first: i64,
    is_permanent: bool,
}

/// Fails each call in turn. Returns the number of failed calls.
pub(super) async fn run(run: &Run) -> Result<usize, String> {
    let mut rng = run.rng("turns");
    let count = one(run, None, false, &mut rng).await.map_err(|why| format!("without a fault: {why}"))?;
    let mut calls: Vec<i64> = (0..count).collect();
    if !run.is_long {
        calls = rng.choose_multiple(calls, CALLS_SHORT);
    }
    for &first in &calls {
        let failing = FailingCalls { first, is_permanent: rng.bool() };
        let is_cut = rng.bool();
        let then = if is_cut { "then a power cut" } else { "then a restart" };
        let step = format!("{failing:?} of {count} calls, {then}");
        one(run, Some(failing), is_cut, &mut rng).await.map_err(|why| format!("{step}: {why}"))?;
    }
    Ok(calls.len())
}

/// Runs a server on such a disk and checks the data afterwards. Returns the number of calls it made.
async fn one(run: &Run, failing: Option<FailingCalls>, is_cut: bool, rng: &mut Rng) -> Result<i64, String> {
    let mut directory = DataDirectory::create_in_memory(run, "turns")?;
    directory.prepare_small_buffers().await?;
    let base = directory.tree()?;
    directory.record(run)?;
    if let Some(FailingCalls { first, is_permanent }) = failing {
        directory.shim().set(Setting::FailCount, if is_permanent { i64::MAX } else { 1 })?;
        directory.shim().set(Setting::FailFrom, first)?;
    }
    // The same requests every time, so that the calls are about the same.
    let options = TableOptions { value_bytes: 4_000, large_value_bytes: 30_000, ..TableOptions::default() };
    let mut workers = TableWorkers::new(WORKERS, &mut Rng::with_seed(run.seed), &options);
    match directory.spawn()?.ready().await {
        Err(error) => check_start_error(&error)?,
        Ok(server) => {
            send_requests(&mut workers, &server, &directory).await?;
            server.stop_with_any_code().await?;
        }
    }
    let calls = directory.shim().read(Setting::Calls)?;
    if failing.is_none() {
        directory.verify("without a fault", workers.take_failures())?;
    }

    let directory = if is_cut {
        let mut disk = Disk::new(&base);
        Record::read(&directory.shim().record)?.lines.iter().try_for_each(|line| disk.apply(line))?;
        directory.detach_shim();
        DataDirectory::restore(run, "turns-cut", &disk.after(Loss::Everything, rng))?
    } else {
        directory.detach_shim();
        directory
    };
    let server = directory.start().await?;
    directory.verify("after the repair", workers.check(&mut server.client()).await)?;
    server.stop().await?;
    directory.clean_up();
    Ok(calls)
}

/// Sends requests until the server reports a failure, and then checks that it stays degraded.
async fn send_requests(workers: &mut TableWorkers, server: &Server, directory: &DataDirectory) -> Result<(), String> {
    let mut client = server.client();
    let started = Instant::now();
    let set_up = workers.set_up(&mut client).await;
    check_time(started)?;
    if set_up.is_err() {
        return degraded::check_health(server, REASON).await;
    }
    for number in 0..REQUESTS {
        let started = Instant::now();
        let has_response = workers.workers[number % WORKERS].write(&mut client).await;
        check_time(started)?;
        if !has_response {
            directory.verify("with a failing disk", workers.take_violations())?;
            let failures = workers.take_failures();
            return degraded::check_degraded(workers, server, directory, &failures, REASON).await;
        }
    }
    Ok(())
}

fn check_time(started: Instant) -> Result<(), String> {
    match started.elapsed() {
        time if time > RESPONSE_TIME_MAX => Err(format!("a response took {} s", time.as_secs())),
        _ => Ok(()),
    }
}
