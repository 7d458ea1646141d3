//! Workers of all services, spread over the servers, with a nemesis that kills servers and the database.

use std::time::{Duration, Instant};

use fastrand::Rng;

use super::cluster::{Cluster, SERVERS};
use crate::blobs::BlobOptions;
use crate::run::Run;
use crate::tables::TableOptions;
use crate::workload::{Workload, WorkloadOptions};

/// The queue is drained after so many rounds.
const ROUNDS_BETWEEN_DRAINS: usize = 4;
const LOAD_TIME_MAX: Duration = Duration::from_millis(900);
const DOWN_TIME_MAX: Duration = Duration::from_millis(500);

/// The processes that are killed in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nemesis {
    OneServer,
    TwoServers,
    /// A server stands still, in the middle of its requests, and wakes.
    FrozenServer,
    Database,
    /// A server, and the database right after it.
    ServerAndDatabase,
}

impl Nemesis {
    /// Each in its turn, so that the shortest run has them all. A database that was there before the run is not killed.
    fn of_round(round: usize, owns_database: bool) -> Self {
        match owns_database {
            true => [
                Nemesis::OneServer,
                Nemesis::FrozenServer,
                Nemesis::Database,
                Nemesis::TwoServers,
                Nemesis::ServerAndDatabase,
            ][round % 5],
            false => [Nemesis::OneServer, Nemesis::FrozenServer, Nemesis::TwoServers][round % 3],
        }
    }

    fn kills_database(self) -> bool {
        matches!(self, Nemesis::Database | Nemesis::ServerAndDatabase)
    }
}

fn options() -> WorkloadOptions {
    let table_options = TableOptions { has_many_servers: true, ..TableOptions::default() };
    WorkloadOptions { tables: 9, queues: 6, blobs: 3, table_options, blob_options: BlobOptions::default() }
}

/// Returns a summary.
pub(super) async fn run(run: &Run, rounds: usize) -> Result<String, String> {
    let mut rng = run.rng("many servers");
    let mut cluster = Cluster::start(run, "many-servers").await?;
    let mut workload = Workload::new(&options(), &mut rng);
    workload.set_up(&mut cluster.any_client(&mut rng)).await?;

    let (mut messages, mut restarts) = (0, 0);
    for round in 0..rounds {
        let nemesis = Nemesis::of_round(round, cluster.owns_database());
        restarts += usize::from(nemesis.kills_database());
        let step = format!("round {round}, {nemesis:?}");
        workload =
            one_round(&mut cluster, nemesis, workload, &mut rng).await.map_err(|why| format!("{step}: {why}"))?;
        run.print_step(&step);
        cluster.directory.verify(&step, workload.check(&mut cluster.any_client(&mut rng)).await)?;
        if (round + 1) % ROUNDS_BETWEEN_DRAINS == 0 || round + 1 == rounds {
            messages += workload.queues.put_count();
            let violations = workload.queues.drain_and_check(&mut cluster.any_client(&mut rng)).await;
            cluster.directory.verify(&step, violations)?;
        }
    }
    // All servers show the same data.
    for number in 0..SERVERS {
        let violations = workload.check(&mut cluster.client(number)).await;
        cluster.directory.verify(&format!("at the end, through server {number}"), violations)?;
    }
    let (entities, kib) = (workload.tables.entity_count(), workload.blobs.bytes() >> 10);
    cluster.stop().await?;
    Ok(format!(
        "{rounds} rounds with {restarts} restarts of the database, {messages} messages, at the end {entities} entities and \
         {kib} KiB of blobs"
    ))
}

/// Runs one round of load, from healthy servers to healthy servers.
async fn one_round(
    cluster: &mut Cluster,
    nemesis: Nemesis,
    workload: Workload,
    rng: &mut Rng,
) -> Result<Workload, String> {
    let started = Instant::now();
    let running = workload.start_with(&|number| cluster.client(number));
    running.run_for(LOAD_TIME_MAX.mul_f64(rng.f64())).await;
    let victim = rng.usize(0..SERVERS);
    let down_time = DOWN_TIME_MAX.mul_f64(rng.f64());
    match nemesis {
        Nemesis::OneServer => cluster.kill(victim),
        Nemesis::TwoServers => {
            cluster.kill(victim);
            running.run_for(LOAD_TIME_MAX.mul_f64(rng.f64() / 3.0)).await;
            cluster.kill(victim + 1);
        }
        Nemesis::FrozenServer => {
            cluster.freeze(victim, true);
            running.run_for(down_time).await;
            cluster.freeze(victim, false);
        }
        Nemesis::Database => cluster.restart_database(down_time).await,
        Nemesis::ServerAndDatabase => {
            cluster.kill(victim);
            cluster.restart_database(down_time).await;
        }
    }
    // The workers of the other servers continue.
    running.run_for(LOAD_TIME_MAX.mul_f64(rng.f64() / 2.0)).await;
    let mut workload = running.stop().await;
    cluster.start_missing().await?;
    cluster.wait_until_idle().await?;
    workload.queues.extend_unknown(started);
    let violations = cluster.take_violations();
    cluster.directory.verify("error responses", violations)?;
    let failures = workload.take_failures();
    if !nemesis.kills_database() {
        cluster.directory.verify("errors although the database was up", failures)?;
    }
    Ok(workload)
}
