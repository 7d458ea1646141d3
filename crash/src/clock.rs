//! The machine's clock, set forward and back by hours, under load, at a stop and across a kill.
//!
//! What must hold is in the ledgers: each Timestamp is later than all that its writer knew before, whoever wrote them and
//! whatever the clock said, and no version of an entity has the ETag of another.

use std::time::Duration;

use crate::client::ClockOffset;
use crate::crew::Crew;
use crate::layer::{Layer, Setting};
use crate::run::{Place, Run};
use crate::server::Server;
use crate::workload::Habits;

const WORKERS: usize = 8;
const HOURS_MAX: i64 = 12;
/// Between two steps under load.
const STEP_TIME: Duration = Duration::from_millis(120);
const STEPS_PER_LIFE: usize = 4;
const SECOND_NS: i64 = 1_000_000_000;

pub async fn run(run: &Run) -> Result<String, String> {
    let lives = if run.is_long { 200 } else { 8 };
    let place = Place::make(run, "clock")?;
    let layer = Layer::without_record(run.shim()?, &place.location)?;
    let mut rng = run.rng("clock");
    let clock = ClockOffset::default();
    let step = |seconds: i64| {
        clock.set_seconds(seconds);
        layer.set(Setting::ClockOffsetNs, seconds * SECOND_NS)
    };
    let mut crew = Crew::new(WORKERS, &mut rng, &Habits::default());
    for life in 0..lives {
        // While nobody is looking.
        step(rng.i64(-HOURS_MAX * 3600..HOURS_MAX * 3600))?;
        let server = Server::start(&run.program, &place.location, Some(&layer)).await?;
        if life == 0 {
            crew.found(&mut server.client(&clock), None).await?;
        }
        place.judge(&format!("life {life}"), crew.check(&mut server.client(&clock), &mut rng, None).await)?;
        let shift = crew.begin(&server, &clock, None);
        for _ in 0..STEPS_PER_LIFE {
            shift.last(STEP_TIME).await;
            step(rng.i64(-HOURS_MAX * 3600..HOURS_MAX * 3600))?;
        }
        shift.last(STEP_TIME).await;
        crew = if rng.bool() {
            server.kill();
            shift.end().await
        } else {
            let crew = shift.end().await;
            server.stop().await?;
            crew
        };
        place.judge(&format!("life {life}"), crew.take_failures())?;
    }
    let server = Server::start(&run.program, &place.location, Some(&layer)).await?;
    place.judge("the end", crew.check(&mut server.client(&clock), &mut rng, None).await)?;
    server.stop().await?;
    layer.clean_up();
    place.clean_up();
    Ok(format!("{lives} lives with {} steps of up to {HOURS_MAX} hours", lives * (STEPS_PER_LIFE + 1)))
}
