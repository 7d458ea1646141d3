//! After the cut: the disk is made, a server is started on it, and what it shows is judged.

use std::fs;
use std::path::{Path, PathBuf};

use fastrand::Rng;

use super::cuts::Cut;
use super::scene::Scene;
use crate::client::ClockOffset;
use crate::crew::settle_all;
use crate::disk::{Disk, Tree};
use crate::ledger::Ledger;
use crate::observed::Observed;
use crate::run::{Place, Run};
use crate::server::Server;
use crate::workload::{Habits, SHARED_TABLES, Worker};

/// After every so many cuts life goes on for a while, and is looked at again after a kill.
const LIFE_GOES_ON_EVERY: usize = 8;
const ATTEMPTS_AFTERWARDS: usize = 12;

/// Makes each of the cuts, in order, and judges what comes of it. Tells how many there were.
pub(super) async fn check(run: &Run, scene: &Scene, cuts: &[Cut]) -> Result<usize, String> {
    let mut rng = run.rng(&format!("{} losses", scene.name));
    let mut disk = Disk::new(&scene.base);
    let mut done = 0;
    for (number, cut) in cuts.iter().enumerate() {
        for line in &scene.record.lines[done..cut.lines] {
            disk.apply(line)?;
        }
        done = cut.lines;
        let tree = disk.after(cut.loss, &mut rng);
        let position = done.checked_sub(1).map_or(0, |last| scene.record.lines[last].end);
        let ledgers = scene.ledgers_at(position)?;
        let step =
            format!("{}, {:?} lost after line {} of {}", scene.name, cut.loss, cut.lines, scene.record.lines.len());
        let goes_on = number % LIFE_GOES_ON_EVERY == 0;
        judge(run, &tree, ledgers, goes_on, &mut rng).await.map_err(|why| format!("{step}: {why}"))?;
    }
    run.tell(&format!("{}: {} cuts, {} lines", scene.name, cuts.len(), scene.record.lines.len()));
    Ok(cuts.len())
}

async fn judge(run: &Run, tree: &Tree, ledgers: Vec<Ledger>, goes_on: bool, rng: &mut Rng) -> Result<(), String> {
    let place = Place::restore(run, "after-cut", tree)?;
    let looked = look(run, &place, ledgers, goes_on, rng).await;
    looked.map(|()| place.clean_up()).map_err(|why| {
        // The server has changed what it found; the disk is made once more, for a look.
        forget(run);
        let kept = kept_disk(run);
        let kept = tree.save(&kept).map_or_else(|error| error.to_string(), |()| kept.display().to_string());
        format!("{why}\n    the disk before the start is kept in {kept}")
    })
}

fn kept_disk(run: &Run) -> PathBuf {
    run.folder.join("after-cut.before")
}

/// Removes the disk that a failure left for a look.
pub(super) fn forget(run: &Run) {
    let _ = fs::remove_dir_all(kept_disk(run));
}

async fn look(run: &Run, place: &Place, ledgers: Vec<Ledger>, goes_on: bool, rng: &mut Rng) -> Result<(), String> {
    let ledgers = observe(run, place, &place.location, ledgers).await?;
    if !goes_on {
        return Ok(());
    }
    // Another start finds the same; then somebody writes, the server is killed, and it is all still there.
    let clock = ClockOffset::default();
    let server = Server::start(&run.program, &place.location, None).await?;
    let mut client = server.client(&clock);
    let tables: Vec<String> = SHARED_TABLES.iter().map(|&name| name.to_owned()).collect();
    let known: Vec<String> =
        tables.into_iter().filter(|name| ledgers.iter().any(|ledger| ledger.owns_table(name))).collect();
    let mut worker = Worker::new("late", rng.u64(..), &Habits::default(), &known);
    for ledger in &ledgers {
        worker.ledger.raise_latest(ledger.latest());
    }
    for _ in 0..ATTEMPTS_AFTERWARDS {
        worker.write(&mut client, None).await;
    }
    server.kill();
    place.judge("life after the cut", worker.violations.drain(..).chain(worker.failure.take()).collect())?;
    observe(run, place, &place.location, ledgers.into_iter().chain([worker.ledger]).collect()).await.map(drop)
}

/// Starts a server, compares what it shows with what is known, and kills it.
async fn observe(run: &Run, place: &Place, location: &Path, mut ledgers: Vec<Ledger>) -> Result<Vec<Ledger>, String> {
    let server = Server::start(&run.program, location, None).await?;
    let observed = Observed::read(&mut server.client(&ClockOffset::default())).await?;
    server.kill();
    let mut all: Vec<&mut Ledger> = ledgers.iter_mut().collect();
    let (_, violations) = settle_all(&mut all, &observed);
    place.judge("after the cut", violations)?;
    Ok(ledgers)
}
