//! Proof that the harness can fail: losses that are planted on purpose must all be found.

use std::time::Duration;

use crate::client::ClockOffset;
use crate::crew::Crew;
use crate::power;
use crate::run::{Place, Run};
use crate::server::Server;
use crate::workload::Habits;

const WORKERS: usize = 4;
const LOAD_TIME: Duration = Duration::from_millis(200);

/// Plants each loss, and fails if one goes unnoticed.
pub async fn run(run: &Run) -> Result<String, String> {
    rolled_back(run).await?;
    let planted = 1 + power::prove(run).await?;
    Ok(format!("{planted} of {planted} planted losses found"))
}

/// A directory that is set back to an earlier state between two starts has lost what was acknowledged since.
async fn rolled_back(run: &Run) -> Result<(), String> {
    let mut rng = run.rng("rolled back");
    let clock = ClockOffset::default();
    let place = Place::make_in_memory(run, "rolled-back")?;
    let mut crew = Crew::new(WORKERS, &mut rng, &Habits::default());
    let server = Server::start(&run.program, &place.location, None).await?;
    crew.found(&mut server.client(&clock), None).await?;
    server.kill();
    let earlier = place.tree()?;

    let server = Server::start(&run.program, &place.location, None).await?;
    let shift = crew.begin(&server, &clock, None);
    shift.last(LOAD_TIME).await;
    let mut crew = shift.end().await;
    place.judge("before the data is set back", crew.check(&mut server.client(&clock), &mut rng, None).await)?;
    server.kill();

    let place = Place::restore(run, "rolled-back", &earlier)?;
    let server = Server::start(&run.program, &place.location, None).await?;
    let violations = crew.check(&mut server.client(&clock), &mut rng, None).await;
    server.kill();
    place.clean_up();
    match violations.first() {
        Some(first) => run.tell(&format!("data that was set back was found out: {first}")),
        None => return Err("the data was set back by a whole load, and nothing was missed".to_owned()),
    }
    Ok(())
}
