//! Many consumers on one queue, with a kill in between.

use std::time::Duration;

use crate::queues::QueueWorkers;
use crate::run::{DataDirectory, Run};
use crate::running_workers::WorkerGroup as _;

pub(super) const CONSUMERS: usize = 16;
const LOAD_TIME: Duration = Duration::from_millis(700);

/// Returns the number of messages.
pub(super) async fn one_queue(run: &Run, round: usize) -> Result<usize, String> {
    let directory = DataDirectory::create(run, "consumers")?;
    let mut rng = run.rng(&format!("consumers {round}"));
    if round % 2 == 1 {
        directory.prepare_small_buffers().await?;
    }
    let mut workers = QueueWorkers::new(CONSUMERS, &mut rng);
    for start in 0..2 {
        let server = directory.start().await?;
        if start == 0 {
            workers.set_up(&mut server.client()).await?;
        }
        let running = workers.start(&server);
        running.run_for(LOAD_TIME.mul_f64(0.5 + rng.f64())).await;
        server.kill();
        workers = running.stop().await;
        directory.verify(&format!("start {start}"), workers.take_failures())?;
    }
    let server = directory.start().await?;
    let mut client = server.client();
    directory.verify("before the drain", workers.check(&mut client).await)?;
    let messages = workers.put_count();
    directory.verify("after the drain", workers.drain_and_check(&mut client).await)?;
    server.kill();
    directory.clean_up();
    Ok(messages)
}
