//! Proof that the harness can fail: losses that are planted on purpose must all be found.

use std::time::Duration;

use crate::blobs::BlobHabits;
use crate::client::ClockOffset;
use crate::company::{Company, Staffing};
use crate::run::{Place, Run};
use crate::server::Server;
use crate::workload::Habits;
use crate::{archive, power};

const LOAD_TIME: Duration = Duration::from_millis(300);

/// What must be missed, by whom, if data is set back past the deletion and the creation of some of it. There are few
/// blobs, so it is chance whether one of them was made or deleted since; that some have other content is not.
const MISSED: [(&str, &[&str]); 3] =
    [("tables", &["is gone", "expected"]), ("messages", &["is lost", "is back"]), ("blobs", &["different from byte"])];

/// Plants each loss, and fails if one goes unnoticed.
pub async fn run(run: &Run) -> Result<String, String> {
    let rolled_back = rolled_back(run).await?;
    archive::prove(run).await?;
    let planted = rolled_back + 1 + power::prove(run).await?;
    Ok(format!("{planted} of {planted} planted losses found"))
}

fn staffing() -> Staffing {
    let blob_habits = BlobHabits { large_every: 60, ..BlobHabits::default() };
    Staffing { tables: 4, messages: 4, blobs: 3, habits: Habits::default(), blob_habits }
}

/// A directory that is set back to an earlier state between two starts has lost what was acknowledged since, and has again
/// what was deleted since. Each service must tell.
async fn rolled_back(run: &Run) -> Result<usize, String> {
    let mut rng = run.rng("rolled back");
    let clock = ClockOffset::default();
    let place = Place::make_in_memory(run, "rolled-back")?;
    let mut company = Company::new(&staffing(), &mut rng);
    let mut earlier = None;
    for life in 0..2 {
        let server = Server::start(&run.program, &place.location, None).await?;
        if life == 0 {
            company.found(&mut server.client(&clock), None).await?;
        }
        let shift = company.begin(&server, &clock, None);
        shift.last(LOAD_TIME).await;
        company = shift.end().await;
        let violations = company.check(&mut server.client(&clock), &mut rng, None).await;
        place.judge("before the data is set back", violations)?;
        server.kill();
        earlier = earlier.or(Some(place.tree()?));
    }

    let earlier = earlier.ok_or("there was no earlier state")?;
    let place = Place::restore(run, "rolled-back", &earlier)?;
    let server = Server::start(&run.program, &place.location, None).await?;
    let mut client = server.client(&clock);
    let missed = [
        company.tables.check(&mut client, &mut rng, None).await,
        company.messages.empty(&mut client).await,
        company.blobs.check(&mut client, None).await,
    ];
    server.kill();
    place.clean_up();
    for ((service, signs), violations) in MISSED.iter().zip(&missed) {
        for sign in *signs {
            let Some(found) = violations.iter().find(|violation| violation.contains(sign)) else {
                return Err(format!(
                    "{service} were set back by a whole load, and \"{sign}\" was not among {violations:?}"
                ));
            };
            run.tell(&format!("{service} that were set back were found out: {found}"));
        }
    }
    Ok(missed.len())
}
