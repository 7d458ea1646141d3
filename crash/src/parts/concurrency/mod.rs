//! Many clients on few entities. Each records its requests and responses with their times, and each partition must be
//! linearizable, and so each entity and each group transaction.
//!
//! The server is killed and started again in between. Requests without a response have an unknown outcome. The same runs
//! against one queue, with the rules of `queues`.

pub(crate) mod clients;
mod consumers;

use std::time::Duration;

use self::clients::Contention;
use crate::run::{DataDirectory, Run};

/// The number of histories, and of operations of each client in one.
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
    let consumers = consumers::CONSUMERS;
    Ok(format!("{rounds} histories, {total} operations; {messages} messages between {consumers} consumers"))
}

async fn one_history(run: &Run, round: usize, operations: usize) -> Result<usize, String> {
    let directory = DataDirectory::create(run, "contention")?;
    let mut rng = run.rng(&format!("contention {round}"));
    if round % 2 == 1 {
        directory.prepare_small_buffers().await?;
    }
    let server = directory.start().await?;
    let clients = || vec![server.client()];
    let contention = Contention::start(&clients, operations, false, &mut rng).await?;
    tokio::time::sleep(Duration::from_millis(rng.u64(20..300))).await;
    server.kill();
    let server = directory.start().await?;
    let history = contention.finish().await?;
    let (total, violations) = history.check(&mut server.client()).await?;
    server.kill();
    directory.verify(&format!("{total} operations"), violations)?;
    directory.clean_up();
    Ok(total)
}
