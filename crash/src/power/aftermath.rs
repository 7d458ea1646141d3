//! After the cut: the disk is made, a server is started on it, and what it shows is judged.

use std::fs;
use std::path::PathBuf;

use fastrand::Rng;

use super::cuts::Cut;
use super::scene::Scene;
use crate::blobs::{BlobHabits, BlobWorker};
use crate::books::Books;
use crate::client::{Client, ClockOffset};
use crate::disk::{Disk, Tree};
use crate::ledger::Ledger;
use crate::messages::Given;
use crate::run::{Place, Run};
use crate::server::Server;
use crate::shift::Work as _;
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
        let books = scene.books_at(position)?;
        let step =
            format!("{}, {:?} lost after line {} of {}", scene.name, cut.loss, cut.lines, scene.record.lines.len());
        let goes_on = number % LIFE_GOES_ON_EVERY == 0;
        judge(run, &tree, books, goes_on, &mut rng).await.map_err(|why| format!("{step}: {why}"))?;
    }
    run.tell(&format!("{}: {} cuts, {} lines", scene.name, cuts.len(), scene.record.lines.len()));
    Ok(cuts.len())
}

async fn judge(run: &Run, tree: &Tree, books: Books, goes_on: bool, rng: &mut Rng) -> Result<(), String> {
    let place = Place::restore(run, "after-cut", tree)?;
    let looked = look(run, &place, books, goes_on, rng).await;
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

async fn look(run: &Run, place: &Place, books: Books, goes_on: bool, rng: &mut Rng) -> Result<(), String> {
    let (mut books, given) = observe(run, place, books).await?;
    if !goes_on {
        return Ok(());
    }
    // Another start finds the same; then somebody writes, the server is killed, and it is all still there.
    let server = Server::start(&run.program, &place.location, None).await?;
    let mut client = server.client(&ClockOffset::default());
    let mut violations = write_entities(&mut client, &mut books.tables, rng).await;
    violations.extend(write_blobs(&mut client, &mut books, rng).await);
    violations.extend(delete_messages(&mut client, &mut books, given).await.err());
    server.kill();
    place.judge("life after the cut", violations)?;
    observe(run, place, books).await.map(drop)
}

async fn write_entities(client: &mut Client, ledgers: &mut Vec<Ledger>, rng: &mut Rng) -> Vec<String> {
    let is_there = |name: &&str| ledgers.iter().any(|ledger| ledger.owns_table(name));
    let known: Vec<String> = SHARED_TABLES.into_iter().filter(is_there).map(str::to_owned).collect();
    let mut worker = Worker::new("late", rng.u64(..), &Habits::default(), &known);
    for ledger in ledgers.iter() {
        worker.ledger.raise_latest(ledger.latest());
    }
    for _ in 0..ATTEMPTS_AFTERWARDS {
        worker.write(client, None).await;
    }
    ledgers.push(worker.ledger);
    worker.violations.into_iter().chain(worker.failure).collect()
}

/// Writes some blobs, if there is a container to write to.
async fn write_blobs(client: &mut Client, books: &mut Books, rng: &mut Rng) -> Vec<String> {
    if books.blobs.iter().all(|ledger| ledger.names().next().is_none()) {
        return vec![];
    }
    let mut worker = BlobWorker::new("late", rng.u64(..), &BlobHabits::default());
    for _ in 0..ATTEMPTS_AFTERWARDS {
        worker.step(client, None).await;
    }
    books.blobs.push(worker.ledger);
    worker.violations.into_iter().chain(worker.failure).collect()
}

/// Deletes all messages; the receipts are from the server before this one.
async fn delete_messages(client: &mut Client, books: &mut Books, given: Vec<Given>) -> Result<(), String> {
    if books.messages.events.is_empty() {
        return Ok(());
    }
    books.messages.delete_all(client, given).await?;
    books.messages.close();
    Ok(())
}

/// Starts a server, compares what it shows with what is known, and kills it. Gives the messages that are there.
async fn observe(run: &Run, place: &Place, mut books: Books) -> Result<(Books, Vec<Given>), String> {
    let server = Server::start(&run.program, &place.location, None).await?;
    let settled = books.settle(&mut server.client(&ClockOffset::default()), None).await;
    server.kill();
    let (given, violations) = settled?;
    place.judge("after the cut", violations)?;
    Ok((books, given))
}
