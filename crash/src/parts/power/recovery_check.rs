//! The check after a power cut: a server is started on the simulated disk and compared with the expected state.

use std::fs;
use std::path::PathBuf;

use fastrand::Rng;

use super::power_cuts::PowerCut;
use super::recording::Recording;
use crate::blobs::{BlobOptions, BlobWorker};
use crate::client::Client;
use crate::disk::{Disk, Tree};
use crate::expected_state::ExpectedState;
use crate::queues::MessageHandle;
use crate::run::{DataDirectory, Run};
use crate::tables::{SHARED_TABLES, TableOptions, TableWorker};
use crate::workers::{Generator, Worker};

/// After one in so many cuts, clients write again, and the data is checked once more after a kill.
const WRITES_AFTER_ONE_IN: usize = 8;
const WRITES_AFTER: usize = 12;

/// Makes each of the cuts in order and checks the recovery. Returns the number of cuts.
pub(super) async fn check(run: &Run, recording: &Recording, cuts: &[PowerCut]) -> Result<usize, String> {
    let Recording { name, record, .. } = recording;
    let mut rng = run.rng(&format!("{name} losses"));
    let mut disk = Disk::new(&recording.base);
    let mut done = 0;
    for (number, cut) in cuts.iter().enumerate() {
        record.lines[done..cut.lines].iter().try_for_each(|line| disk.apply(line))?;
        done = cut.lines;
        let tree = disk.after(cut.loss, &mut rng);
        let time = done.checked_sub(1).map_or(0, |last| record.lines[last].end);
        let expected = recording.state_at(time)?;
        let step = format!("{name}, {:?} lost after line {done} of {}", cut.loss, record.lines.len());
        let writes_after = number % WRITES_AFTER_ONE_IN == 0;
        check_one(run, &tree, expected, writes_after, &mut rng).await.map_err(|why| format!("{step}: {why}"))?;
    }
    run.print_step(&format!("{name}: {} cuts, {} lines", cuts.len(), record.lines.len()));
    Ok(cuts.len())
}

async fn check_one(
    run: &Run,
    tree: &Tree,
    expected: ExpectedState,
    writes_after: bool,
    rng: &mut Rng,
) -> Result<(), String> {
    let directory = DataDirectory::restore(run, "after-cut", tree)?;
    let checked = recover(&directory, expected, writes_after, rng).await;
    checked.map(|()| directory.clean_up()).map_err(|why| {
        // The server has changed the disk, so its state before the start is saved for inspection.
        remove_kept_disk(run);
        let kept = kept_disk(run);
        let kept = tree.save(&kept).map_or_else(|error| error.to_string(), |()| kept.display().to_string());
        format!("{why}\n    the disk before the start is kept in {kept}")
    })
}

fn kept_disk(run: &Run) -> PathBuf {
    run.folder.join("after-cut.before")
}

/// Removes the disk that a failed check has kept.
pub(super) fn remove_kept_disk(run: &Run) {
    let _ = fs::remove_dir_all(kept_disk(run));
}

async fn recover(
    directory: &DataDirectory,
    expected: ExpectedState,
    writes_after: bool,
    rng: &mut Rng,
) -> Result<(), String> {
    let (mut expected, received) = observe(directory, expected).await?;
    if !writes_after {
        return Ok(());
    }
    // Another start shows the same data. Clients write, the server is killed, and all of it must still be there.
    let server = directory.start().await?;
    let mut client = server.client();
    let mut violations = write_entities(&mut client, &mut expected, rng).await;
    violations.extend(write_blobs(&mut client, &mut expected, rng).await);
    violations.extend(delete_messages(&mut client, &mut expected, received).await.err());
    server.kill();
    directory.verify("writes after the cut", violations)?;
    observe(directory, expected).await.map(drop)
}

async fn write_entities(client: &mut Client, expected: &mut ExpectedState, rng: &mut Rng) -> Vec<String> {
    let models = &mut expected.tables;
    let exists = |name: &&str| models.iter().any(|model| model.owns_table(name));
    let shared_tables = SHARED_TABLES.into_iter().filter(exists).map(str::to_owned).collect();
    let options = TableOptions { shared_tables, ..TableOptions::default() };
    let mut worker = TableWorker::new("late", rng.u64(..), &options);
    models.iter().for_each(|model| worker.model.raise_latest(model.latest()));
    write(client, worker, models).await
}

/// Writes some blobs, if there is a container.
async fn write_blobs(client: &mut Client, expected: &mut ExpectedState, rng: &mut Rng) -> Vec<String> {
    if expected.blobs.iter().all(|model| model.names().next().is_none()) {
        return vec![];
    }
    write(client, BlobWorker::new("late", rng.u64(..), &BlobOptions::default()), &mut expected.blobs).await
}

async fn write<G: Generator>(client: &mut Client, mut worker: Worker<G>, models: &mut Vec<G::Model>) -> Vec<String> {
    for _ in 0..WRITES_AFTER {
        worker.write(client).await;
    }
    models.push(worker.model);
    worker.findings.violations.into_iter().chain(worker.findings.failure).collect()
}

/// Deletes all messages, with receipts from the previous server.
async fn delete_messages(
    client: &mut Client,
    expected: &mut ExpectedState,
    received: Vec<MessageHandle>,
) -> Result<(), String> {
    if expected.queues.events.is_empty() {
        return Ok(());
    }
    expected.queues.delete_all(client, received).await?;
    expected.queues.restart_empty();
    Ok(())
}

/// Starts a server, compares its data with the expected state, and kills it. Returns the messages in the queue.
async fn observe(
    directory: &DataDirectory,
    mut expected: ExpectedState,
) -> Result<(ExpectedState, Vec<MessageHandle>), String> {
    let server = directory.start().await?;
    let resolved = expected.resolve(&mut server.client()).await;
    server.kill();
    let (received, violations) = resolved?;
    directory.verify("after the cut", violations)?;
    Ok((expected, received))
}
