//! Files that are not what was written: bits that flipped, ends that are missing, files that are gone.
//!
//! The server may refuse to start, or serve and answer some reads with an error. What it may not do is to show less, or
//! something else, as if all were well.
//!
//! The end of the newest journal is the exception. What is missing there looks like what a crash tore, which has to be
//! cut off: nothing else tells of it. So a flipped bit in the last batch may cost that batch, and a journal that was
//! made shorter costs what was behind. But what is left must be the whole state of an earlier moment.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fastrand::Rng;

use super::damage::{Damage, kinds, newest_journal};
use super::degraded::wrong_reads;
use super::start::check_refusal;
use crate::client::ClockOffset;
use crate::crew::{Crew, settle_all};
use crate::disk::Tree;
use crate::history::{History, LogLength};
use crate::ledger::Ledger;
use crate::observed::Observed;
use crate::run::{Place, Run};
use crate::server::Server;
use crate::small_buffers;
use crate::workload::Habits;

const WORKERS: usize = 8;
const LOAD_TIME: Duration = Duration::from_millis(400);

/// Data in good order, and what is known of it.
struct Whole {
    tree: Tree,
    kinds: Vec<Vec<PathBuf>>,
    newest_journal: PathBuf,
    ledgers: Vec<Ledger>,
    histories: Vec<History>,
}

/// Damages each kind of file in each way, one at a time. Tells how many times.
pub(super) async fn run(run: &Run) -> Result<usize, String> {
    let rounds = if run.is_long { 30 } else { 1 };
    let mut rng = run.rng("damage");
    let mut count = 0;
    for _ in 0..rounds {
        let whole = fill(run, &mut rng).await?;
        for kind in &whole.kinds {
            for damage in Damage::ALL {
                let file = &kind[rng.usize(0..kind.len())];
                let step = format!("{damage:?} of {}", file.display());
                let told = damage_one(run, &whole, file, damage, &mut rng).await;
                run.tell(&format!("{step}: {}", told.map_err(|why| format!("{step}: {why}"))?));
                count += 1;
            }
        }
    }
    Ok(count)
}

/// Makes data with tables and a journal, and leaves it as a kill does.
async fn fill(run: &Run, rng: &mut Rng) -> Result<Whole, String> {
    let place = Place::make_in_memory(run, "whole")?;
    small_buffers::prepare(&place.location).await?;
    let (clock, moments) = (ClockOffset::default(), moments());
    let habits = Habits { value_bytes: 1_000, large_value_bytes: 20_000, ..Habits::default() };
    let mut crew = Crew::new(WORKERS, rng, &habits);
    let server = Server::start(&run.program, &place.location, None).await?;
    crew.found(&mut server.client(&clock), Some(&moments)).await?;
    let shift = crew.begin(&server, &clock, Some(&moments));
    shift.last(LOAD_TIME).await;
    let mut crew = shift.end().await;
    place.judge("before the damage", crew.check(&mut server.client(&clock), rng, Some(&moments)).await)?;
    server.kill();
    let kinds = kinds(&place.location).map_err(|error| error.to_string())?;
    let newest_journal = newest_journal(&kinds).ok_or("there is no journal")?.clone();
    let ledgers = crew.ledgers().map(|ledger| ledger.clone()).collect();
    let whole = Whole { tree: place.tree()?, kinds, newest_journal, ledgers, histories: crew.into_histories() };
    place.clean_up();
    Ok(whole)
}

/// Moments without a record: each look at it is a later one.
fn moments() -> LogLength {
    let count = AtomicU64::new(0);
    Arc::new(move || count.fetch_add(1, Ordering::SeqCst) + 1)
}

async fn damage_one(run: &Run, whole: &Whole, file: &Path, damage: Damage, rng: &mut Rng) -> Result<String, String> {
    let place = Place::restore(run, "damaged", &whole.tree)?;
    let at = damage.inflict(&place.location.join(file), rng).map_err(|error| error.to_string())?;
    let told = match Server::spawn(&run.program, &place.location, None)?.ready().await {
        Err(refusal) => {
            check_refusal(&refusal).map_err(|why| format!("at {at}: {why}"))?;
            format!("at {at}: {}", refusal.text.lines().last().unwrap_or_default())
        }
        Ok(server) => {
            let wrong = wrong(&server, &whole.ledgers).await;
            let lost = match *file == whole.newest_journal && !wrong.is_empty() {
                true => lost_requests(&server, &whole.histories).await?,
                false => None,
            };
            server.kill();
            match lost {
                Some(lost) if damage != Damage::Flip || lost <= WORKERS => {
                    format!("at {at}: the last {lost} requests are lost")
                }
                _ => place.judge(&format!("at {at}"), wrong).map(|()| format!("at {at}: served"))?,
            }
        }
    };
    place.clean_up();
    Ok(told)
}

/// What a server shows that is neither right nor an error.
async fn wrong(server: &Server, ledgers: &[Ledger]) -> Vec<String> {
    let mut client = server.client(&ClockOffset::default());
    let mut violations = Vec::new();
    match Observed::read(&mut client).await {
        Ok(observed) => violations.extend(differences(ledgers.to_vec(), &observed)),
        Err(why) if why.contains("Failed(5") => {}
        Err(why) => violations.push(why),
    }
    for ledger in ledgers {
        violations.extend(wrong_reads(&mut client, ledger).await);
    }
    violations
}

fn differences(mut ledgers: Vec<Ledger>, observed: &Observed) -> Vec<String> {
    let mut all: Vec<&mut Ledger> = ledgers.iter_mut().collect();
    settle_all(&mut all, observed).1
}

/// How many answered requests are lost, if all that is shown is what was there at an earlier moment.
async fn lost_requests(server: &Server, histories: &[History]) -> Result<Option<usize>, String> {
    let observed = Observed::read(&mut server.client(&ClockOffset::default())).await?;
    let latest = observed.entities.values().map(|version| version.etag.timestamp()).max();
    // The moment is later than the request that made what is newest, and most likely not by much.
    let earliest = latest.and_then(|latest| histories.iter().find_map(|history| history.sent_at(&latest))).unwrap_or(0);
    let answers: Vec<u64> = histories.iter().flat_map(History::answers).collect();
    let last = answers.iter().copied().max().unwrap_or(0);
    for moment in earliest..=last {
        let ledgers = histories.iter().map(|history| history.book_at(moment)).collect::<Result<_, String>>()?;
        if differences(ledgers, &observed).is_empty() {
            return Ok(Some(answers.iter().filter(|&&answer| answer > moment).count()));
        }
    }
    Ok(None)
}
