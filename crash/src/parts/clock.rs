//! Steps of the machine's clock by hours, forward and back, under load, across a stop and across a kill.
//!
//! The models check the results: each Timestamp is later than all that its writer knew before, and no two versions of an
//! entity have the same ETag.

use std::time::Duration;

use crate::run::{DataDirectory, Run};
use crate::running_workers::WorkerGroup as _;
use crate::tables::{TableOptions, TableWorkers};

const WORKERS: usize = 8;
const HOURS_MAX: i64 = 12;
/// The time between two steps under load.
const STEP_TIME: Duration = Duration::from_millis(120);
const STEPS_PER_START: usize = 4;

pub async fn run(run: &Run) -> Result<String, String> {
    let starts = if run.is_long { 200 } else { 8 };
    let mut directory = DataDirectory::create(run, "clock")?;
    directory.inject_faults(run)?;
    let mut rng = run.rng("clock");
    let mut workers = TableWorkers::new(WORKERS, &mut rng, &TableOptions::default());
    let mut step = || directory.shim().step_clock(rng.i64(-HOURS_MAX * 3600..HOURS_MAX * 3600));
    for start in 0..starts {
        // A step while no server runs.
        step()?;
        let server = directory.start().await?;
        if start == 0 {
            workers.set_up(&mut server.client()).await?;
        }
        directory.verify(&format!("start {start}"), workers.check(&mut server.client()).await)?;
        let running = workers.start(&server);
        for _ in 0..STEPS_PER_START {
            running.run_for(STEP_TIME).await;
            step()?;
        }
        running.run_for(STEP_TIME).await;
        workers = if start % 2 == 0 {
            server.kill();
            running.stop().await
        } else {
            let workers = running.stop().await;
            server.stop().await?;
            workers
        };
        directory.verify(&format!("start {start}"), workers.take_failures())?;
    }
    let server = directory.start().await?;
    directory.verify("last start", workers.check(&mut server.client()).await)?;
    server.stop().await?;
    directory.clean_up();
    Ok(format!("{starts} starts with {} steps of up to {HOURS_MAX} hours", starts * (STEPS_PER_START + 1)))
}
