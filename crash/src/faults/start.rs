//! The disk has failed already when the server starts: it says so and ends, or it serves what is right.

use std::time::Duration;

use fastrand::Rng;

use super::degraded::wrong_reads;
use crate::client::ClockOffset;
use crate::crew::Crew;
use crate::layer::{Layer, Setting};
use crate::run::{Place, Run};
use crate::server::{Refusal, Server};
use crate::small_buffers;
use crate::workload::Habits;

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
    let mut rng = run.rng(name);
    let place = Place::make(run, name)?;
    let layer = Layer::without_record(run.shim()?, &place.location)?;
    let clock = ClockOffset::default();
    let mut crew = Crew::new(WORKERS, &mut rng, &Habits::default());
    if !is_new {
        crew = fill(run, &place, crew, &mut rng).await?;
    }

    layer.set(setting, value)?;
    match Server::spawn(&run.program, &place.location, Some(&layer))?.ready().await {
        Err(refusal) => {
            run.tell(&format!("{name}: {refusal}"));
            check_refusal(&refusal)?;
        }
        Ok(server) => {
            run.tell(&format!("{name}: serves"));
            let mut client = server.client(&clock);
            for ledger in crew.ledgers() {
                place.judge("with a failed disk", wrong_reads(&mut client, ledger).await)?;
            }
            server.kill();
        }
    }
    layer.reset()?;
    let server = Server::start(&run.program, &place.location, Some(&layer)).await?;
    if is_new {
        crew.found(&mut server.client(&clock), None).await?;
    }
    place.judge("after the repair", crew.check(&mut server.client(&clock), &mut rng, None).await)?;
    server.stop().await?;
    layer.clean_up();
    place.clean_up();
    Ok(())
}

async fn fill(run: &Run, place: &Place, mut crew: Crew, rng: &mut Rng) -> Result<Crew, String> {
    small_buffers::prepare(&place.location).await?;
    let clock = ClockOffset::default();
    let server = Server::start(&run.program, &place.location, None).await?;
    crew.found(&mut server.client(&clock), None).await?;
    let shift = crew.begin(&server, &clock, None);
    shift.last(LOAD_TIME).await;
    server.kill();
    let mut crew = shift.end().await;
    let server = Server::start(&run.program, &place.location, None).await?;
    place.judge("before the failure", crew.check(&mut server.client(&clock), rng, None).await)?;
    server.kill();
    Ok(crew)
}

/// A refusal is one sentence for the operator and an exit code, not a panic and not a signal.
pub(super) fn check_refusal(refusal: &Refusal) -> Result<(), String> {
    let code = refusal.status.and_then(|status| status.code());
    let has_sentence = refusal.text.lines().any(|line| line.starts_with("tablerock: "));
    let panicked = refusal.text.contains("panicked");
    if code == Some(1) && has_sentence && !panicked { Ok(()) } else { Err(format!("no clear refusal: {refusal}")) }
}
