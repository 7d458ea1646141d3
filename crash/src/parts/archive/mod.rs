//! The archive worker of the service's guide: a message requests that an entity moves to another table, which no single
//! transaction can do. The worker inserts it there, deletes it here, and then deletes the message. If the worker dies,
//! another one gets the message again, so each step may run twice.
//!
//! The worker, the server or both are killed before, during and after each request in turn. At the end each entity must be
//! in exactly one table: requested entities in the archive, the others in their original table.

mod environment;
mod worker;

use std::time::Duration;

use fastrand::Rng;

use self::environment::{ArchiveEnvironment, IN_NO_TABLE};
use self::worker::{ArchiveWorker, Step, StepOrder, StepOutcome};
use crate::run::Run;

/// The process that is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Worker,
    Server,
    Both,
}

/// When it is killed, relative to a request of the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KillPoint {
    Before,
    During,
    After,
}

const VICTIMS: [Victim; 3] = [Victim::Worker, Victim::Server, Victim::Both];
const KILL_POINTS: [KillPoint; 3] = [KillPoint::Before, KillPoint::During, KillPoint::After];

/// A request takes about a millisecond; a kill during one falls into this time.
const REQUEST_TIME_MAX: Duration = Duration::from_millis(3);

/// Entities that no message requests.
const OTHERS: usize = 5;

/// How often each kill is repeated.
fn rounds(run: &Run) -> usize {
    if run.is_long { 40 } else { 1 }
}

pub async fn run(run: &Run) -> Result<String, String> {
    let mut kills = 0;
    for round in 0..rounds(run) {
        kills += every_kill(run, round, StepOrder::Safe).await.map_err(|why| format!("round {round}: {why}"))?;
    }
    Ok(format!("{kills} kills of a worker or its server, each entity in one table"))
}

/// Plants a loss: a worker that deletes before it inserts must lose an entity.
pub(crate) async fn prove(run: &Run) -> Result<(), String> {
    match every_kill(run, 0, StepOrder::DeletesFirst).await {
        Ok(_) => Err("a worker deleted entities before inserting them, and no loss was found".to_owned()),
        Err(why) if why.contains(IN_NO_TABLE) => {
            run.print_step(&format!("loss of a worker that deletes first found: {why}"));
            Ok(())
        }
        Err(why) => Err(format!("a worker that deletes first should lose entities, but failed with: {why}")),
    }
}

/// Kills at each step, in each way. Then a worker that is not killed finishes the rest.
async fn every_kill(run: &Run, round: usize, order: StepOrder) -> Result<usize, String> {
    let mut rng = run.rng(&format!("archive {round}"));
    let kills: Vec<(Step, KillPoint, Victim)> = Step::in_order(order)
        .into_iter()
        .flat_map(|step| KILL_POINTS.map(|point| (step, point)))
        .flat_map(|(step, point)| VICTIMS.map(|victim| (step, point, victim)))
        .collect();
    // A Get Messages without a response may have claimed a message, so there are more messages than kills.
    let mut environment = ArchiveEnvironment::create(run, 2 * kills.len(), OTHERS, &mut rng).await?;
    for &kill in &kills {
        run.print_step(&format!("archive: {kill:?}"));
        run_with_kill(&mut environment, kill, order, &mut rng).await.map_err(|why| format!("{kill:?}: {why}"))?;
    }
    environment.finish(order).await?;
    environment.check().await?;
    Ok(kills.len())
}

/// Runs a worker until the kill. If only the server is killed, the worker repeats its request and continues.
async fn run_with_kill(
    environment: &mut ArchiveEnvironment<'_>,
    kill: (Step, KillPoint, Victim),
    order: StepOrder,
    rng: &mut Rng,
) -> Result<(), String> {
    let (last, point, victim) = kill;
    let steps = Step::in_order(order);
    let index = steps.iter().position(|step| *step == last).unwrap_or_default();
    let mut worker = ArchiveWorker::new(environment.client());
    for &step in &steps[..index + usize::from(point == KillPoint::After)] {
        match worker.perform(step).await? {
            StepOutcome::Done => {}
            other => return Err(format!("{step:?}: {other:?}")),
        }
    }
    let survivor = match point {
        KillPoint::During => {
            let delay = REQUEST_TIME_MAX.mul_f64(rng.f64());
            kill_during(environment, worker, last, victim, delay).await?
        }
        KillPoint::Before | KillPoint::After => {
            if victim != Victim::Worker {
                environment.kill_server().await?;
            }
            (victim == Victim::Server).then_some(worker)
        }
    };
    let Some(mut worker) = survivor else { return Ok(()) };
    worker.reconnect(environment.client());
    for &step in &steps[index + usize::from(point == KillPoint::After)..] {
        match worker.perform(step).await? {
            StepOutcome::Done => {}
            StepOutcome::NothingToDo => break,
            StepOutcome::NoResponse => return Err(format!("{step:?} again: the server does not respond")),
        }
    }
    Ok(())
}

/// Sends a request and kills around the time of the response. Returns the worker if it survives.
async fn kill_during(
    environment: &mut ArchiveEnvironment<'_>,
    mut worker: ArchiveWorker,
    step: Step,
    victim: Victim,
    delay: Duration,
) -> Result<Option<ArchiveWorker>, String> {
    let task = tokio::spawn(async move {
        let outcome = worker.perform(step).await;
        (worker, outcome)
    });
    tokio::time::sleep(delay).await;
    if victim != Victim::Server {
        task.abort();
    }
    if victim != Victim::Worker {
        environment.kill_server().await?;
    }
    match task.await {
        Ok((worker, outcome)) if victim == Victim::Server => outcome.map(|_| Some(worker)),
        _ => Ok(None),
    }
}
