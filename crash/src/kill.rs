//! `kill -9` of the server under load, at its start, and right after it.

use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::blobs::BlobHabits;
use crate::client::ClockOffset;
use crate::company::{Company, Staffing};
use crate::run::{Place, Run};
use crate::server::Server;
use crate::workload::Habits;
use crate::{small_buffers, space};

/// After so many kills the queue is emptied, which shows all that is in it.
const KILLS_BETWEEN_DRAINS: usize = 8;
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
    let reached = [
        kill_repeatedly(run, "kill", kills - small, false).await?,
        kill_repeatedly(run, "kill-small", small, true).await?,
    ];
    let [entities, messages, kib] =
        [0, 1, 2].map(|number| reached.iter().map(|reached| reached[number]).sum::<usize>());
    Ok(format!("{kills} kills, {messages} messages, at the end {entities} entities and {kib} KiB of blobs"))
}

fn staffing() -> Staffing {
    Staffing { tables: 8, messages: 6, blobs: 3, habits: Habits::default(), blob_habits: BlobHabits::default() }
}

/// Tells how many entities there are at the end, how many messages there were, and how many KiB of blobs were deleted.
async fn kill_repeatedly(run: &Run, name: &str, kills: usize, has_small_buffers: bool) -> Result<[usize; 3], String> {
    let place = Place::make(run, name)?;
    let mut rng = run.rng(name);
    if has_small_buffers {
        small_buffers::prepare(&place.location).await?;
    }
    let clock = ClockOffset::default();
    let mut company = Company::new(&staffing(), &mut rng);

    let server = Server::start(&run.program, &place.location, None).await?;
    company.found(&mut server.client(&clock), None).await?;
    server.kill();

    let mut messages = 0;
    for kill in 1..=kills {
        company = live_once(run, &place, kill, company, &clock, &mut rng).await?;
        if kill % KILLS_BETWEEN_DRAINS == 0 || kill == kills {
            messages += company.messages.put_count();
            let server = Server::start(&run.program, &place.location, None).await?;
            place.judge(&format!("kill {kill}"), company.messages.empty(&mut server.client(&clock)).await)?;
            server.kill();
        }
    }
    // The last life ends in order, and one more shows that this loses nothing either.
    for _ in 0..2 {
        let server = Server::start(&run.program, &place.location, None).await?;
        place.judge("the end", company.check(&mut server.client(&clock), &mut rng, None).await)?;
        server.stop().await?;
    }
    let blob_bytes = company.blobs.bytes();
    space::check_returned(run, &place, &mut company.blobs).await?;
    place.clean_up();
    Ok([company.tables.entity_count(), messages, blob_bytes >> 10])
}

/// One life of the server, from its start to its violent end.
async fn live_once(
    run: &Run,
    place: &Place,
    kill: usize,
    mut company: Company,
    clock: &ClockOffset,
    rng: &mut Rng,
) -> Result<Company, String> {
    let moment = match rng.u8(0..10) {
        0 | 1 => Moment::Start,
        2 | 3 => Moment::FirstRequests,
        _ => Moment::Load,
    };
    let server = Server::spawn(&run.program, &place.location, None)?;
    if moment == Moment::Start {
        tokio::time::sleep(START_TIME_MAX.mul_f64(rng.f64())).await;
        server.kill();
        return Ok(company);
    }
    let server = server.ready().await.map_err(|refusal| format!("before kill {kill}: {refusal}"))?;
    place.judge(&format!("before kill {kill}"), company.check(&mut server.client(clock), rng, None).await)?;

    let load_time = match moment {
        Moment::FirstRequests => Duration::from_millis(rng.u64(0..5)),
        _ => LOAD_TIME_MAX.mul_f64(rng.f64()),
    };
    let started = Instant::now();
    let shift = company.begin(&server, clock, None);
    shift.last(load_time).await;
    server.kill();
    let mut company = shift.end().await;
    run.tell(&format!("kill {kill}: {moment:?} after {} ms", started.elapsed().as_millis()));
    place.judge(&format!("kill {kill}"), company.take_failures())?;
    Ok(company)
}
