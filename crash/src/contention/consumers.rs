//! Many consumers on one queue, with a kill in between.

use std::time::Duration;

use crate::client::ClockOffset;
use crate::messages::MessageCrew;
use crate::run::{Place, Run};
use crate::server::Server;
use crate::small_buffers;

pub(super) const CONSUMERS: usize = 16;
const LOAD_TIME: Duration = Duration::from_millis(700);

/// Tells how many messages there were.
pub(super) async fn one_queue(run: &Run, round: usize) -> Result<usize, String> {
    let place = Place::make(run, "consumers")?;
    let mut rng = run.rng(&format!("consumers {round}"));
    if round % 2 == 1 {
        small_buffers::prepare(&place.location).await?;
    }
    let clock = ClockOffset::default();
    let mut crew = MessageCrew::new(CONSUMERS, &mut rng);
    for life in 0..2 {
        let server = Server::start(&run.program, &place.location, None).await?;
        if life == 0 {
            crew.found(&mut server.client(&clock)).await?;
        }
        let shift = crew.begin(&server, &clock, None);
        tokio::time::sleep(LOAD_TIME.mul_f64(0.5 + rng.f64())).await;
        server.kill();
        crew = shift.end().await;
        place.judge(&format!("life {life}"), crew.take_failures())?;
    }
    let server = Server::start(&run.program, &place.location, None).await?;
    let mut client = server.client(&clock);
    place.judge("so far", crew.check(&mut client, None).await)?;
    let messages = crew.put_count();
    place.judge("in the end", crew.empty(&mut client).await)?;
    server.kill();
    place.clean_up();
    Ok(messages)
}
