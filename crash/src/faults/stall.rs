//! A disk that takes its time: syncs do not come back until they are let go.
//!
//! Nobody is told anything that is not so, and when the disk comes back, so does the server. While only journals
//! stand still, reads go on, and after half a minute `/health` says what is the matter. That is not asked for while tables
//! stand still: fjall lets no one read while it makes a new set of tables durable.

use std::time::{Duration, Instant};

use crate::client::ClockOffset;
use crate::crew::Crew;
use crate::layer::{Layer, Setting};
use crate::run::{Place, Run};
use crate::server::Server;
use crate::small_buffers;
use crate::workload::Habits;

const WORKERS: usize = 8;
const LOAD_TIME: Duration = Duration::from_millis(300);
const STALL_SHORT: Duration = Duration::from_secs(1);
/// Longer than a request is given by the server, and than `/health` keeps quiet.
const STALL_LONG: Duration = Duration::from_secs(45);
/// Writes that nobody waits for any more are done by then, so that a look settles what became of them.
const SETTLE_TIME: Duration = Duration::from_secs(2);
/// A server that cannot write answers a read in this time.
const READ_TIME_MAX: Duration = Duration::from_secs(5);

/// What stands still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stalled {
    Journals = 1,
    Everything = 2,
}

/// Each once. Tells how many there were.
pub(super) async fn run(run: &Run) -> Result<usize, String> {
    for stalled in [Stalled::Journals, Stalled::Everything] {
        stall(run, stalled).await.map_err(|why| format!("{stalled:?}: {why}"))?;
    }
    Ok(2)
}

async fn stall(run: &Run, stalled: Stalled) -> Result<(), String> {
    let time = if run.is_long { STALL_LONG } else { STALL_SHORT };
    let mut rng = run.rng("stall");
    let clock = ClockOffset::default();
    let place = Place::make(run, "faults-stall")?;
    small_buffers::prepare(&place.location).await?;
    let layer = Layer::without_record(run.shim()?, &place.location)?;
    let mut crew = Crew::new(WORKERS, &mut rng, &Habits::default());
    let server = Server::start(&run.program, &place.location, Some(&layer)).await?;
    crew.found(&mut server.client(&clock), None).await?;

    let shift = crew.begin(&server, &clock, None);
    shift.last(LOAD_TIME).await;
    layer.set(Setting::SyncsWait, stalled as i64)?;
    shift.last(time).await;
    if stalled == Stalled::Journals {
        check_meanwhile(run, &server).await?;
    }
    layer.reset()?;
    shift.last(SETTLE_TIME).await;
    let mut crew = shift.end().await;
    let failures = crew.take_failures();
    if !run.is_long {
        place.judge("a disk that stood still for a second", failures)?;
    }
    place.judge("after the stall", crew.check(&mut server.client(&clock), &mut rng, None).await)?;
    let (status, text) = server.health().await?;
    if status != 200 {
        return Err(format!("the disk is back, and /health says {status} {text}"));
    }
    server.stop().await?;
    let server = Server::start(&run.program, &place.location, Some(&layer)).await?;
    place.judge("after the restart", crew.check(&mut server.client(&clock), &mut rng, None).await)?;
    server.stop().await?;
    layer.clean_up();
    place.clean_up();
    Ok(())
}

/// Reads are answered, and if it takes long, `/health` tells.
async fn check_meanwhile(run: &Run, server: &Server) -> Result<(), String> {
    let asked = Instant::now();
    server.client(&ClockOffset::default()).get("/Tables", &[]).await;
    if asked.elapsed() > READ_TIME_MAX {
        return Err(format!("a read took {} ms while writes waited", asked.elapsed().as_millis()));
    }
    match server.health().await? {
        (503, text) if text.contains("no write has reached the disk") => Ok(()),
        (200, _) if !run.is_long => Ok(()),
        (status, text) => Err(format!("no sync came back for a while, and /health says {status} {text}")),
    }
}
