//! Damaged files: flipped bits, truncated files, removed files.
//!
//! The server may fail to start, or serve and return errors for some reads. It must not return less, or other data, without
//! an error.
//!
//! After a kill, the end of the newest journal is the exception. Missing data there looks like an incomplete write of a
//! crash, which has to be discarded. A flipped bit in the last batch may cost that batch, and a truncated journal costs
//! what followed. The rest must be the complete state of an earlier time.
//!
//! After a clean stop there is no exception: the server fails to start with any damage to any journal.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fastrand::Rng;

use super::at_start::check_start_error;
use super::damage::{Damage, kinds, newest_journal};
use super::degraded::wrong_reads;
use crate::disk::Tree;
use crate::expected_state::models_at;
use crate::history::{History, LogicalClock};
use crate::model::resolve_all;
use crate::run::{DataDirectory, Run};
use crate::running_workers::WorkerGroup as _;
use crate::server::Server;
use crate::tables::{ObservedTables, TableModel, TableOptions, TableWorkers};

const WORKERS: usize = 8;
const LOAD_TIME: Duration = Duration::from_millis(400);

/// How the server exited before the damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    Kill,
    CleanStop,
}

/// Undamaged data and its expected state.
struct Undamaged {
    exit: Exit,
    tree: Tree,
    kinds: Vec<Vec<PathBuf>>,
    newest_journal: PathBuf,
    models: Vec<TableModel>,
    histories: Vec<History<TableModel>>,
}

/// Damages each kind of file in each way, one at a time. Returns the number of damaged files.
pub(super) async fn run(run: &Run) -> Result<usize, String> {
    let rounds = if run.is_long { 30 } else { 1 };
    let mut rng = run.rng("damage");
    let mut count = 0;
    for exit in (0..rounds).flat_map(|_| [Exit::Kill, Exit::CleanStop]) {
        let undamaged = fill(run, exit, &mut rng).await?;
        for kind in &undamaged.kinds {
            for damage in Damage::ALL {
                let file = &kind[rng.usize(0..kind.len())];
                let step = format!("{damage:?} of {} after a {exit:?}", file.display());
                let result = damage_one(run, &undamaged, file, damage, &mut rng).await;
                run.print_step(&format!("{step}: {}", result.map_err(|why| format!("{step}: {why}"))?));
                count += 1;
            }
        }
    }
    Ok(count)
}

/// Creates data with tables and a journal, and ends the server.
async fn fill(run: &Run, exit: Exit, rng: &mut Rng) -> Result<Undamaged, String> {
    let directory = DataDirectory::create_in_memory(run, "whole")?;
    directory.prepare_small_buffers().await?;
    let options = TableOptions { value_bytes: 1_000, ..TableOptions::default() };
    let mut workers = TableWorkers::new(WORKERS, rng, &options);
    let server = directory.start().await?;
    let clock = counter();
    let client = || server.client().with_logical_clock(Some(clock.clone()));
    workers.set_up(&mut client()).await?;
    let running = workers.start_with(&|_| client());
    running.run_for(LOAD_TIME).await;
    let mut workers = running.stop().await;
    directory.verify("before the damage", workers.check(&mut client()).await)?;
    match exit {
        Exit::Kill => server.kill(),
        Exit::CleanStop => server.stop().await?,
    }
    let kinds = kinds(&directory.location).map_err(|error| error.to_string())?;
    let newest_journal = newest_journal(&kinds).ok_or("there is no journal")?.clone();
    let models = workers.models().map(|model| model.clone()).collect();
    let (tree, histories) = (directory.tree()?, workers.into_histories());
    directory.clean_up();
    Ok(Undamaged { exit, tree, kinds, newest_journal, models, histories })
}

/// A clock that advances at each look.
fn counter() -> LogicalClock {
    let count = AtomicU64::new(0);
    LogicalClock::new(move || count.fetch_add(1, Ordering::SeqCst) + 1)
}

async fn damage_one(
    run: &Run,
    undamaged: &Undamaged,
    file: &Path,
    damage: Damage,
    rng: &mut Rng,
) -> Result<String, String> {
    let directory = DataDirectory::restore(run, "damaged", &undamaged.tree)?;
    let at = damage.inflict(&directory.location.join(file), rng).map_err(|error| error.to_string())?;
    let result = match directory.spawn()?.ready().await {
        Err(error) => {
            check_start_error(&error).map_err(|why| format!("at {at}: {why}"))?;
            format!("at {at}: {}", error.text.lines().last().unwrap_or_default())
        }
        Ok(server) if undamaged.exit == Exit::CleanStop && file.extension().is_some_and(|name| name == "jnl") => {
            server.kill();
            return Err(format!("at {at}: the server starts with a journal that was damaged after a clean stop"));
        }
        Ok(server) => {
            let wrong = wrong(&server, &undamaged.models).await;
            let lost = match *file == undamaged.newest_journal && !wrong.is_empty() {
                true => lost_writes(&server, &undamaged.histories).await?,
                false => None,
            };
            server.kill();
            match lost {
                Some(lost) if damage != Damage::Flip || lost <= WORKERS => {
                    format!("at {at}: the last {lost} writes are lost")
                }
                _ => directory.verify(&format!("at {at}"), wrong).map(|()| format!("at {at}: served"))?,
            }
        }
    };
    directory.clean_up();
    Ok(result)
}

/// The responses of a server that are neither correct nor an error.
async fn wrong(server: &Server, models: &[TableModel]) -> Vec<String> {
    let mut client = server.client();
    let mut violations = Vec::new();
    match ObservedTables::read(&mut client).await {
        Ok(observed) => violations.extend(differences(models.to_vec(), &observed)),
        Err(why) if why.contains("ServerError(5") => {}
        Err(why) => violations.push(why),
    }
    for model in models {
        violations.extend(wrong_reads(&mut client, model).await);
    }
    violations
}

fn differences(mut models: Vec<TableModel>, observed: &ObservedTables) -> Vec<String> {
    resolve_all(&mut models.iter_mut().collect::<Vec<_>>(), observed).1
}

/// The number of lost acknowledged writes, if the observed state is the complete state of an earlier time.
async fn lost_writes(server: &Server, histories: &[History<TableModel>]) -> Result<Option<usize>, String> {
    let observed = ObservedTables::read(&mut server.client()).await?;
    let latest = observed.entities.values().map(|version| version.etag.timestamp()).max();
    // That time is later than the newest observed write, and most likely by little.
    let earliest = latest.and_then(|latest| histories.iter().find_map(|history| history.sent_at(&latest))).unwrap_or(0);
    let acks: Vec<u64> = histories.iter().flat_map(History::ack_times).collect();
    let last = acks.iter().copied().max().unwrap_or(0);
    for time in earliest..=last {
        if differences(models_at(histories, time)?, &observed).is_empty() {
            return Ok(Some(acks.iter().filter(|&&ack| ack > time).count()));
        }
    }
    Ok(None)
}
