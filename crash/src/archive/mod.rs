//! The archive worker of the service's guide: a message asks for an entity to be moved to another table, which no single
//! transaction can do. The worker inserts it there, deletes it here, and then deletes the message; who dies on the way
//! leaves a message that somebody else gets again, and each step may be done twice.
//!
//! The worker, the server or both are killed before, during and after each request in turn. In the end each entity must be
//! in exactly one table: those that a message asked for in the archive, the others where they were.

mod stage;
mod worker;

use std::time::Duration;

use fastrand::Rng;

use self::stage::Stage;
use self::worker::{Archivist, Ending, Order, Step};
use crate::run::Run;

/// Who is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Worker,
    Server,
    Both,
}

/// When, in relation to a request of the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    Before,
    During,
    After,
}

const VICTIMS: [Victim; 3] = [Victim::Worker, Victim::Server, Victim::Both];
const MOMENTS: [Moment; 3] = [Moment::Before, Moment::During, Moment::After];

/// A request takes about a millisecond; a kill during one falls into this time.
const REQUEST_TIME_MAX: Duration = Duration::from_millis(3);

/// Entities that no message asks for.
const BYSTANDERS: usize = 5;

/// How often each death is died.
fn rounds(run: &Run) -> usize {
    if run.is_long { 40 } else { 1 }
}

pub async fn run(run: &Run) -> Result<String, String> {
    let mut deaths = 0;
    for round in 0..rounds(run) {
        deaths += every_death(run, round, Order::Safe).await.map_err(|why| format!("round {round}: {why}"))?;
    }
    Ok(format!("{deaths} deaths of a worker or its server, each entity in one table"))
}

/// Proof that it would show: a worker that deletes before it inserts must lose an entity.
pub(crate) async fn prove(run: &Run) -> Result<(), String> {
    match every_death(run, 0, Order::DeletesFirst).await {
        Ok(_) => Err("a worker deleted entities before it had inserted them, and nothing was missed".to_owned()),
        Err(why) => {
            run.tell(&format!("a worker that deletes first was found out: {why}"));
            Ok(())
        }
    }
}

/// Dies at each step, in each way; then a worker that is left alone finishes what the dead left behind.
async fn every_death(run: &Run, round: usize, order: Order) -> Result<usize, String> {
    let mut rng = run.rng(&format!("archive {round}"));
    let deaths: Vec<(Step, Moment, Victim)> = Step::in_order(order)
        .into_iter()
        .flat_map(|step| MOMENTS.map(|moment| (step, moment)))
        .flat_map(|(step, moment)| VICTIMS.map(|victim| (step, moment, victim)))
        .collect();
    // A request for a message that gets no answer may have taken one, so there are more than deaths.
    let mut stage = Stage::set(run, 2 * deaths.len(), BYSTANDERS, &mut rng).await?;
    for &death in &deaths {
        run.tell(&format!("archive: {death:?}"));
        die(&mut stage, death, order, &mut rng).await.map_err(|why| format!("{death:?}: {why}"))?;
    }
    stage.finish(order).await?;
    stage.judge().await?;
    Ok(deaths.len())
}

/// A worker takes a message and gets as far as it gets. If only its server dies, it asks the next one again and goes on.
async fn die(stage: &mut Stage<'_>, death: (Step, Moment, Victim), order: Order, rng: &mut Rng) -> Result<(), String> {
    let (last, moment, victim) = death;
    let steps = Step::in_order(order);
    let place = steps.iter().position(|step| *step == last).unwrap_or_default();
    let mut archivist = Archivist::new(stage.client());
    for &step in &steps[..place + usize::from(moment == Moment::After)] {
        match archivist.perform(step).await? {
            Ending::Done => {}
            other => return Err(format!("{step:?}: {other:?}")),
        }
    }
    let survivor = match moment {
        Moment::During => {
            let delay = REQUEST_TIME_MAX.mul_f64(rng.f64());
            die_during(stage, archivist, last, victim, delay).await?
        }
        Moment::Before | Moment::After => {
            if victim != Victim::Worker {
                stage.kill_server().await?;
            }
            // Its connections end with it.
            (victim == Victim::Server).then_some(archivist)
        }
    };
    let Some(mut archivist) = survivor else { return Ok(()) };
    archivist.reconnect(stage.client());
    for &step in &steps[place + usize::from(moment == Moment::After)..] {
        match archivist.perform(step).await? {
            Ending::Done => {}
            Ending::NothingToDo => break,
            Ending::NoAnswer => return Err(format!("{step:?} again: the server does not answer")),
        }
    }
    Ok(())
}

/// Sends a request, and somebody is killed before the answer is there, or hardly later. Gives the worker back if it lives.
async fn die_during(
    stage: &mut Stage<'_>,
    mut archivist: Archivist,
    step: Step,
    victim: Victim,
    delay: Duration,
) -> Result<Option<Archivist>, String> {
    let task = tokio::spawn(async move {
        let ending = archivist.perform(step).await;
        (archivist, ending)
    });
    tokio::time::sleep(delay).await;
    if victim != Victim::Server {
        task.abort();
    }
    if victim != Victim::Worker {
        stage.kill_server().await?;
    }
    match task.await {
        Ok((archivist, ending)) if victim == Victim::Server => ending.map(|_| Some(archivist)),
        _ => Ok(None),
    }
}
