//! Workers of all services, spread over the servers, and what is done to those meanwhile.

use std::time::{Duration, Instant};

use fastrand::Rng;

use super::fleet::{Fleet, SERVERS};
use crate::blobs::BlobHabits;
use crate::company::{Company, Staffing};
use crate::run::Run;
use crate::workload::Habits;

/// After so many rounds the queue is emptied, which shows all that is in it.
const ROUNDS_BETWEEN_DRAINS: usize = 4;
const LOAD_TIME_MAX: Duration = Duration::from_millis(900);
const AWAY_TIME_MAX: Duration = Duration::from_millis(500);

/// What a round does to servers and database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Violence {
    OneServer,
    TwoServers,
    Database,
    /// A server is killed, and the database right after it.
    Both,
}

impl Violence {
    /// Each in its turn, so that the shortest run has them all.
    fn of_round(round: usize) -> Self {
        [Violence::OneServer, Violence::Database, Violence::TwoServers, Violence::Both][round % 4]
    }

    fn takes_database(self) -> bool {
        matches!(self, Violence::Database | Violence::Both)
    }
}

fn staffing() -> Staffing {
    Staffing {
        tables: 9,
        messages: 6,
        blobs: 3,
        habits: Habits { has_many_servers: true, ..Habits::default() },
        blob_habits: BlobHabits::default(),
    }
}

/// Tells what was done.
pub(super) async fn run(run: &Run, rounds: usize) -> Result<String, String> {
    let mut rng = run.rng("many servers");
    let mut fleet = Fleet::start(run, "many-servers").await?;
    let mut company = Company::new(&staffing(), &mut rng);
    company.found(&mut fleet.any_client(&mut rng), None).await?;

    let (mut messages, mut restarts) = (0, 0);
    for round in 0..rounds {
        let violence = Violence::of_round(round);
        restarts += usize::from(violence.takes_database());
        let step = format!("round {round}, {violence:?}");
        company = live_once(&mut fleet, violence, company, &mut rng).await.map_err(|why| format!("{step}: {why}"))?;
        run.tell(&step);
        fleet.place.judge(&step, company.check(&mut fleet.any_client(&mut rng), &mut rng, None).await)?;
        if (round + 1) % ROUNDS_BETWEEN_DRAINS == 0 || round + 1 == rounds {
            messages += company.messages.put_count();
            fleet.place.judge(&step, company.messages.empty(&mut fleet.any_client(&mut rng)).await)?;
        }
    }
    // Each of them shows the same.
    for number in 0..SERVERS {
        let violations = company.check(&mut fleet.client(number), &mut rng, None).await;
        fleet.place.judge(&format!("the end, through server {number}"), violations)?;
    }
    let (entities, kib) = (company.tables.entity_count(), company.blobs.bytes() >> 10);
    fleet.stop().await?;
    Ok(format!(
        "{rounds} rounds with {restarts} restarts of the database, {messages} messages, at the end {entities} entities and \
         {kib} KiB of blobs"
    ))
}

/// One round of load, from healthy servers to healthy servers.
async fn live_once(fleet: &mut Fleet, violence: Violence, company: Company, rng: &mut Rng) -> Result<Company, String> {
    let began = Instant::now();
    let shift = company.begin_with(&|number| fleet.client(number));
    shift.last(LOAD_TIME_MAX.mul_f64(rng.f64())).await;
    let victim = rng.usize(0..SERVERS);
    let away = AWAY_TIME_MAX.mul_f64(rng.f64());
    match violence {
        Violence::OneServer => fleet.kill(victim),
        Violence::TwoServers => {
            fleet.kill(victim);
            shift.last(LOAD_TIME_MAX.mul_f64(rng.f64() / 3.0)).await;
            fleet.kill(victim + 1);
        }
        Violence::Database => fleet.restart_database(away).await,
        Violence::Both => {
            fleet.kill(victim);
            fleet.restart_database(away).await;
        }
    }
    // Whoever is left works on.
    shift.last(LOAD_TIME_MAX.mul_f64(rng.f64() / 2.0)).await;
    let mut company = shift.end().await;
    fleet.revive().await?;
    fleet.settle().await?;
    company.messages.lost_until_now(began);
    let complaints = fleet.take_complaints();
    fleet.place.judge("how servers failed", complaints)?;
    let failures = company.take_failures();
    if !violence.takes_database() {
        fleet.place.judge("servers whose database was there all the time", failures)?;
    }
    Ok(company)
}
