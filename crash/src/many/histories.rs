//! Many clients on few entities, each request through any of the servers; the order that explains what they saw is looked
//! for as in `contention`.

use std::sync::Arc;
use std::time::Duration;

use super::fleet::{Fleet, SERVERS};
use crate::contention::clients::{Contender, Shared};
use crate::contention::{CLIENTS, PARTITIONS, TABLE, judge};
use crate::linear::{Call, Operation};
use crate::operation::Attempt;
use crate::run::Run;

const OPERATIONS_OF_EACH: usize = 150;
const AWAY: Duration = Duration::from_millis(200);

/// Tells how much was recorded.
pub(super) async fn run(run: &Run, histories: usize) -> Result<String, String> {
    let mut total = 0;
    for number in 0..histories {
        total += one_history(run, number).await.map_err(|why| format!("history {number}: {why}"))?;
    }
    Ok(format!("{histories} histories, {total} operations"))
}

async fn one_history(run: &Run, number: usize) -> Result<usize, String> {
    let mut rng = run.rng(&format!("many servers, history {number}"));
    let mut fleet = Fleet::start(run, "many-servers-history").await?;
    fleet.any_client(&mut rng).attempt(&Attempt::CreateTable(TABLE.to_owned())).await?;

    let shared = Arc::new(Shared::new(true));
    let mut tasks = Vec::new();
    for contender in 0..CLIENTS {
        let clients = (0..SERVERS).map(|server| fleet.client(server)).collect();
        let contender = Contender::new(contender, rng.u64(..), clients, Arc::clone(&shared));
        tasks.push(tokio::spawn(contender.run(OPERATIONS_OF_EACH)));
    }
    let mut pause = || Duration::from_millis(rng.u64(50..500));
    tokio::time::sleep(pause()).await;
    fleet.kill(number);
    tokio::time::sleep(pause()).await;
    fleet.restart_database(AWAY).await;
    fleet.revive().await?;
    let mut calls: Vec<Vec<Call<Operation>>> = vec![Vec::new(); PARTITIONS];
    for task in tasks {
        let recorded = task.await.map_err(|error| error.to_string())??;
        recorded.into_iter().for_each(|(partition, call)| calls[partition].push(call));
    }
    let complaints = fleet.take_complaints();
    fleet.place.judge("how servers failed", complaints)?;
    fleet.settle().await?;
    shared.read_all(&mut fleet.any_client(&mut rng), &mut calls).await?;

    let total = calls.iter().map(Vec::len).sum();
    let open = calls.iter().flatten().filter(|call| call.returned.is_none()).count();
    run.tell(&format!("history {number}: {total} operations, {open} of them without an answer"));
    let violations: Vec<String> = shared.violations().into_iter().chain(judge(calls)).collect();
    fleet.place.judge(&format!("{total} operations"), violations)?;
    fleet.stop().await?;
    Ok(total)
}
