//! Many clients on few entities. What each asked and was answered is recorded, with times, and an order is looked for
//! that explains all of it: linearizability of each partition, and so of each entity and each group.
//!
//! In the middle of it the server is killed and started again. What got no answer then may have happened or not. The same is
//! done to one queue, for which `messages` has rules of its own.

pub(crate) mod clients;
mod consumers;

use std::sync::Arc;
use std::time::Duration;

use crate::client::ClockOffset;
use crate::contention::clients::{Contender, Shared};
use crate::linear::{Call, Operation, PartitionState, check};
use crate::operation::Attempt;
use crate::run::{Place, Run};
use crate::server::Server;
use crate::small_buffers;

pub(crate) const TABLE: &str = "Contended";
pub(crate) const PARTITIONS: usize = 2;
pub(crate) const ROWS: usize = 3;
pub(crate) const CLIENTS: usize = 12;

/// How many histories are recorded, and how many operations each client does in one.
fn effort(run: &Run) -> (usize, usize) {
    if run.is_long { (200, 250) } else { (6, 150) }
}

pub async fn run(run: &Run) -> Result<String, String> {
    let (rounds, operations) = effort(run);
    let mut total = 0;
    for round in 0..rounds {
        total += one_history(run, round, operations).await.map_err(|why| format!("history {round}: {why}"))?;
    }
    let mut messages = 0;
    for round in 0..rounds / 3 {
        messages += consumers::one_queue(run, round).await.map_err(|why| format!("queue {round}: {why}"))?;
    }
    Ok(format!(
        "{rounds} histories, {total} operations; {messages} messages between {} consumers",
        consumers::CONSUMERS
    ))
}

async fn one_history(run: &Run, round: usize, operations: usize) -> Result<usize, String> {
    let place = Place::make(run, "contention")?;
    let mut rng = run.rng(&format!("contention {round}"));
    if round % 2 == 1 {
        small_buffers::prepare(&place.location).await?;
    }
    let clock = ClockOffset::default();
    let server = Server::start(&run.program, &place.location, None).await?;
    server.client(&clock).attempt(&Attempt::CreateTable(TABLE.to_owned())).await?;

    let shared = Arc::new(Shared::new(false));
    let mut tasks = Vec::new();
    for number in 0..CLIENTS {
        let contender = Contender::new(number, rng.u64(..), vec![server.client(&clock)], Arc::clone(&shared));
        tasks.push(tokio::spawn(contender.run(operations)));
    }
    tokio::time::sleep(Duration::from_millis(rng.u64(20..300))).await;
    server.kill();
    let server = Server::start(&run.program, &place.location, None).await?;
    let mut calls: Vec<Vec<Call<Operation>>> = vec![Vec::new(); PARTITIONS];
    for task in tasks {
        let recorded = task.await.map_err(|error| error.to_string())??;
        recorded.into_iter().for_each(|(partition, call)| calls[partition].push(call));
    }
    shared.read_all(&mut server.client(&clock), &mut calls).await?;
    server.kill();

    let total = calls.iter().map(Vec::len).sum();
    let violations: Vec<String> = shared.violations().into_iter().chain(judge(calls)).collect();
    place.judge(&format!("{total} operations"), violations)?;
    place.clean_up();
    Ok(total)
}

pub(crate) fn judge(calls: Vec<Vec<Call<Operation>>>) -> Vec<String> {
    let initial: PartitionState = vec![None; ROWS];
    let explained = calls.into_iter().map(|calls| check(&initial, calls));
    let stuck = explained.enumerate().filter_map(|(partition, outcome)| Some((partition, outcome.err()?)));
    stuck.map(|(partition, calls)| format!("no order explains partition {partition}; it ends at {calls:?}")).collect()
}
