//! Many clients on few entities, each request through any of the servers, checked for linearizability as in
//! `concurrency`.

use std::time::Duration;

use super::cluster::{Cluster, SERVERS};
use crate::parts::concurrency::clients::Contention;
use crate::run::Run;

const OPERATIONS_PER_CLIENT: usize = 150;
const DATABASE_DOWN_TIME: Duration = Duration::from_millis(200);

/// Returns a summary.
pub(super) async fn run(run: &Run, histories: usize) -> Result<String, String> {
    let mut total = 0;
    for number in 0..histories {
        total += one_history(run, number).await.map_err(|why| format!("history {number}: {why}"))?;
    }
    Ok(format!("{histories} histories, {total} operations"))
}

async fn one_history(run: &Run, number: usize) -> Result<usize, String> {
    let mut rng = run.rng(&format!("many servers, history {number}"));
    let mut cluster = Cluster::start(run, "many-servers-history").await?;
    let clients = || (0..SERVERS).map(|server| cluster.client(server)).collect();
    let contention = Contention::start(&clients, OPERATIONS_PER_CLIENT, true, &mut rng).await?;
    let mut pause = || Duration::from_millis(rng.u64(50..500));
    tokio::time::sleep(pause()).await;
    cluster.kill(number);
    tokio::time::sleep(pause()).await;
    cluster.restart_database(DATABASE_DOWN_TIME).await;
    cluster.start_missing().await?;
    let history = contention.finish().await?;
    let violations = cluster.take_violations();
    cluster.directory.verify("error responses", violations)?;
    cluster.wait_until_idle().await?;

    let unknown = history.unknown_count();
    let (total, violations) = history.check(&mut cluster.any_client(&mut rng)).await?;
    run.print_step(&format!("history {number}: {total} operations, {unknown} of them without a response"));
    cluster.directory.verify(&format!("{total} operations"), violations)?;
    cluster.stop().await?;
    Ok(total)
}
