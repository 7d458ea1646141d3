//! One call after the other fails: each write, sync, rename and removal of a start, of some requests and of a stop, in
//! turn, once or from then on.
//!
//! Whatever fails, the server answers in time. It refuses to start, refuses to write, or does without what failed; and
//! what it had acknowledged is there after a restart, with the files as they are or after a power cut. A sync that
//! failed has lost what it covered in that case: the system does not try it again.

use std::time::{Duration, Instant};

use fastrand::Rng;

use super::degraded;
use super::start::check_refusal;
use crate::client::ClockOffset;
use crate::crew::Crew;
use crate::disk::{Disk, Loss, Record};
use crate::layer::{Layer, Setting};
use crate::run::{Place, Run};
use crate::server::Server;
use crate::small_buffers;
use crate::workload::Habits;

const WORKERS: usize = 4;
const REQUESTS: usize = 40;
const HABITS: Habits = Habits { value_bytes: 4_000, large_value_bytes: 30_000, has_many_servers: false };
/// Nobody waits longer than this for an answer, whatever the disk does. Far above what a busy machine needs.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(20);
/// What a call says that fails.
const REASON: &str = "Input/output error";
/// Without `--long` so many of the calls are chosen.
const TURNS_SHORT: usize = 16;

/// Which calls fail.
#[derive(Debug, Clone, Copy)]
struct Failing {
    first: i64,
    is_for_good: bool,
}

/// Lets each call fail in turn. Tells how many there were.
pub(super) async fn run(run: &Run) -> Result<usize, String> {
    let mut rng = run.rng("turns");
    let calls = one(run, None, false, &mut rng).await.map_err(|why| format!("with a good disk: {why}"))?;
    let mut turns: Vec<i64> = (0..calls).collect();
    if !run.is_long {
        turns = rng.choose_multiple(turns, TURNS_SHORT);
    }
    for &first in &turns {
        let failing = Failing { first, is_for_good: rng.bool() };
        let is_cut = rng.bool();
        let step =
            format!("{failing:?} of {calls} calls, {}", if is_cut { "then a power cut" } else { "then a restart" });
        one(run, Some(failing), is_cut, &mut rng).await.map_err(|why| format!("{step}: {why}"))?;
    }
    Ok(turns.len())
}

/// One life of a server on such a disk, and what comes after. Tells how many calls it made.
async fn one(run: &Run, failing: Option<Failing>, is_cut: bool, rng: &mut Rng) -> Result<i64, String> {
    let place = Place::make_in_memory(run, "turns")?;
    small_buffers::prepare(&place.location).await?;
    let base = place.tree()?;
    let layer = Layer::new(run.shim()?, &place.location)?;
    if let Some(Failing { first, is_for_good }) = failing {
        layer.set(Setting::FailCount, if is_for_good { i64::MAX } else { 1 })?;
        layer.set(Setting::FailFrom, first)?;
    }
    // The same requests every time, so that the calls are about the same.
    let mut crew = Crew::new(WORKERS, &mut Rng::with_seed(run.seed), &HABITS);
    match Server::spawn(&run.program, &place.location, Some(&layer))?.ready().await {
        Err(refusal) => check_refusal(&refusal)?,
        Ok(server) => {
            live(&mut crew, &server, &place).await?;
            server.stop_somehow().await?;
        }
    }
    let calls = layer.read(Setting::Calls)?;
    if failing.is_none() {
        place.judge("with a good disk", crew.take_failures())?;
    }

    let place = if is_cut {
        let mut disk = Disk::new(&base);
        Record::read(&layer.record)?.lines.iter().try_for_each(|line| disk.apply(line))?;
        Place::restore(run, "turns-cut", &disk.after(Loss::Everything, rng))?
    } else {
        place
    };
    let server = Server::start(&run.program, &place.location, None).await?;
    let mut client = server.client(&ClockOffset::default());
    place.judge("after the repair", crew.check(&mut client, rng, None).await)?;
    server.stop().await?;
    layer.clean_up();
    place.clean_up();
    Ok(calls)
}

/// Asks for one thing after the other until the server says that it failed, and then looks whether it stands by that.
async fn live(crew: &mut Crew, server: &Server, place: &Place) -> Result<(), String> {
    let mut client = server.client(&ClockOffset::default());
    let asked = Instant::now();
    let founded = crew.found(&mut client, None).await;
    check_time(asked)?;
    if founded.is_err() {
        return degraded::check_health(server, REASON).await;
    }
    for number in 0..REQUESTS {
        let asked = Instant::now();
        let is_answered = crew.workers[number % WORKERS].write(&mut client, None).await;
        check_time(asked)?;
        if !is_answered {
            place.judge("with a failing disk", crew.take_violations())?;
            let failures = crew.take_failures();
            return degraded::check_refusals(crew, server, place, &failures, REASON).await;
        }
    }
    Ok(())
}

fn check_time(asked: Instant) -> Result<(), String> {
    match asked.elapsed() {
        time if time > ANSWER_TIME_MAX => Err(format!("an answer took {} s", time.as_secs())),
        _ => Ok(()),
    }
}
