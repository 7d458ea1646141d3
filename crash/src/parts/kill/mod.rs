//! `kill -9` of the server under load, during a start, and right after one.

mod disk_space;

use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::blobs::BlobOptions;
use crate::run::{DataDirectory, Run};
use crate::tables::TableOptions;
use crate::workload::{Workload, WorkloadOptions};

/// The queue is drained after so many kills.
const KILLS_BETWEEN_DRAINS: usize = 8;
/// The longest load before a kill.
const LOAD_TIME_MAX: Duration = Duration::from_millis(900);
/// A start takes some ten milliseconds; a kill during a start falls into this time.
const START_TIME_MAX: Duration = Duration::from_millis(80);

/// When a process is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KillPoint {
    /// Before the server is ready.
    Start,
    /// Right after it is ready, with the first requests.
    FirstRequests,
    Load,
}

/// The totals of a run.
#[derive(Default)]
struct Totals {
    entities: usize,
    messages: usize,
    blob_bytes: usize,
}

/// Kills the server this many times. Half of the kills use a directory with small buffers, where the engine flushes and
/// compacts all the time.
pub async fn run(run: &Run, kills: usize) -> Result<String, String> {
    let mut totals = Totals::default();
    kill_repeatedly(run, "kill", kills - kills / 2, false, &mut totals).await?;
    kill_repeatedly(run, "kill-small", kills / 2, true, &mut totals).await?;
    let Totals { entities, messages, blob_bytes } = totals;
    let kib = blob_bytes >> 10;
    Ok(format!("{kills} kills, {messages} messages, at the end {entities} entities and {kib} KiB of blobs"))
}

fn options() -> WorkloadOptions {
    let (table_options, blob_options) = (TableOptions::default(), BlobOptions::default());
    WorkloadOptions { tables: 8, queues: 6, blobs: 3, table_options, blob_options }
}

async fn kill_repeatedly(
    run: &Run,
    name: &str,
    kills: usize,
    has_small_buffers: bool,
    totals: &mut Totals,
) -> Result<(), String> {
    let directory = DataDirectory::create(run, name)?;
    let mut rng = run.rng(name);
    if has_small_buffers {
        directory.prepare_small_buffers().await?;
    }
    let mut workload = Workload::new(&options(), &mut rng);
    let server = directory.start().await?;
    workload.set_up(&mut server.client()).await?;
    server.kill();

    for kill in 1..=kills {
        workload = run_until_kill(run, &directory, kill, workload, &mut rng).await?;
        if kill % KILLS_BETWEEN_DRAINS == 0 || kill == kills {
            totals.messages += workload.queues.put_count();
            let server = directory.start().await?;
            let violations = workload.queues.drain_and_check(&mut server.client()).await;
            directory.verify(&format!("kill {kill}"), violations)?;
            server.kill();
        }
    }
    // The last two starts end with a regular stop, which must not lose anything either.
    for _ in 0..2 {
        let server = directory.start().await?;
        directory.verify("after the last kill", workload.check(&mut server.client()).await)?;
        server.stop().await?;
    }
    totals.entities += workload.tables.entity_count();
    totals.blob_bytes += workload.blobs.bytes();
    if has_small_buffers {
        disk_space::check_reclaimed(run, &directory, &mut workload.blobs).await?;
    }
    directory.clean_up();
    Ok(())
}

/// Starts the server, checks its data, and kills it.
async fn run_until_kill(
    run: &Run,
    directory: &DataDirectory,
    kill: usize,
    mut workload: Workload,
    rng: &mut Rng,
) -> Result<Workload, String> {
    let point = match rng.u8(0..10) {
        0 | 1 => KillPoint::Start,
        2 | 3 => KillPoint::FirstRequests,
        _ => KillPoint::Load,
    };
    let server = directory.spawn()?;
    if point == KillPoint::Start {
        tokio::time::sleep(START_TIME_MAX.mul_f64(rng.f64())).await;
        server.kill();
        return Ok(workload);
    }
    let server = server.ready().await.map_err(|error| format!("before kill {kill}: {error}"))?;
    directory.verify(&format!("before kill {kill}"), workload.check(&mut server.client()).await)?;

    let load_time = match point {
        KillPoint::FirstRequests => Duration::from_millis(rng.u64(0..5)),
        _ => LOAD_TIME_MAX.mul_f64(rng.f64()),
    };
    let started = Instant::now();
    let running = workload.start(&server);
    running.run_for(load_time).await;
    server.kill();
    let mut workload = running.stop().await;
    run.print_step(&format!("kill {kill}: {point:?} after {} ms", started.elapsed().as_millis()));
    directory.verify(&format!("kill {kill}"), workload.take_failures())?;
    Ok(workload)
}
