//! `kill -9` of the server under load, at its start, and right after it.

use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::client::ClockOffset;
use crate::crew::Crew;
use crate::run::{Place, Run};
use crate::server::Server;
use crate::small_buffers;
use crate::workload::Habits;

const WORKERS: usize = 12;
/// A load lasts up to this long before the kill.
const LOAD_TIME_MAX: Duration = Duration::from_millis(900);
/// A start takes some ten milliseconds; a kill during it falls into this time.
const START_TIME_MAX: Duration = Duration::from_millis(80);

/// When a process is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// Before it has come up.
    Start,
    /// As soon as it has come up, with requests just arriving.
    FirstRequests,
    /// In the middle of the load.
    Load,
}

/// Kills the server this many times, half of them on a directory whose buffers are so small that tables are written
/// and merged all the time.
pub async fn run(run: &Run, kills: usize) -> Result<String, String> {
    let small = kills / 2;
    let entities = [
        kill_repeatedly(run, "kill", kills - small, false).await?,
        kill_repeatedly(run, "kill-small", small, true).await?,
    ];
    Ok(format!("{kills} kills, {} entities at the end", entities.iter().sum::<usize>()))
}

async fn kill_repeatedly(run: &Run, name: &str, kills: usize, has_small_buffers: bool) -> Result<usize, String> {
    let place = Place::make(run, name)?;
    let mut rng = run.rng(name);
    if has_small_buffers {
        small_buffers::prepare(&place.location).await?;
    }
    let clock = ClockOffset::default();
    let mut crew = Crew::new(WORKERS, &mut rng, &Habits::default());

    let server = Server::start(&run.program, &place.location, None).await?;
    crew.found(&mut server.client(&clock), None).await?;
    server.kill();

    for kill in 1..=kills {
        crew = live_once(run, &place, kill, crew, &clock, &mut rng).await?;
    }
    // The last life ends in order, and one more shows that this loses nothing either.
    for _ in 0..2 {
        let server = Server::start(&run.program, &place.location, None).await?;
        place.judge("the end", crew.check(&mut server.client(&clock), &mut rng, None).await)?;
        server.stop().await?;
    }
    place.clean_up();
    Ok(crew.entity_count())
}

/// One life of the server, from its start to its violent end.
async fn live_once(
    run: &Run,
    place: &Place,
    kill: usize,
    mut crew: Crew,
    clock: &ClockOffset,
    rng: &mut Rng,
) -> Result<Crew, String> {
    let moment = match rng.u8(0..10) {
        0 | 1 => Moment::Start,
        2 | 3 => Moment::FirstRequests,
        _ => Moment::Load,
    };
    let server = Server::spawn(&run.program, &place.location, None)?;
    if moment == Moment::Start {
        tokio::time::sleep(START_TIME_MAX.mul_f64(rng.f64())).await;
        server.kill();
        return Ok(crew);
    }
    let server = server.ready().await.map_err(|refusal| format!("before kill {kill}: {refusal}"))?;
    place.judge(&format!("before kill {kill}"), crew.check(&mut server.client(clock), rng, None).await)?;

    let load_time = match moment {
        Moment::FirstRequests => Duration::from_millis(rng.u64(0..5)),
        _ => LOAD_TIME_MAX.mul_f64(rng.f64()),
    };
    let started = Instant::now();
    let shift = crew.begin(&server, clock, None);
    shift.last(load_time).await;
    server.kill();
    let mut crew = shift.end().await;
    run.tell(&format!("kill {kill}: {moment:?} after {} ms", started.elapsed().as_millis()));
    place.judge(&format!("kill {kill}"), crew.take_failures())?;
    Ok(crew)
}
