//! Every byte on disk, journals included, after ranges were dropped. The test takes the sweeper's steps itself.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::{Bytes, Commit, Engine, Position, Range, ScanLimits};

use super::{Setup, setup_with};
use crate::garbage::Garbage;
use crate::sweep_queue::SweepQueue;
use crate::sweeper::Sweeper;
use crate::{LocalEngine, LocalOptions, journal_space};

const MIB: u64 = 1 << 20;
const NEVER: Duration = Duration::from_secs(24 * 3_600);

/// An engine whose own sweeper rests.
fn at_rest() -> Setup {
    setup_with(&LocalOptions { sweep_delay: NEVER, garbage_check_interval: NEVER, ..LocalOptions::default() })
}

/// A second sweeper on the same data, which the test drives.
fn sweeper(engine: &LocalEngine, location: &Path) -> Sweeper {
    Sweeper {
        handles: engine.open.lock().as_ref().unwrap().handles.clone(),
        shared: Arc::clone(&engine.shared),
        queue: Arc::new(SweepQueue::default()),
        data: location.join("store"),
        garbage_check_interval: NEVER,
        garbage: Garbage::default(),
        is_journal_garbage: false,
        swept: vec![],
    }
}

/// Sweeps the range as when its delay has passed, then looks for garbage twice, as the interval would.
async fn reclaim(setup: &Setup, range: Range) {
    let mut sweeper = sweeper(&setup.engine, setup.directory.path());
    let intent = sweeper.queue.create(range);
    let swept = tokio::task::spawn_blocking(move || {
        sweeper.sweep(&intent).unwrap();
        sweeper.check_garbage().unwrap();
        sweeper.check_garbage().unwrap();
    });
    swept.await.unwrap();
}

async fn fill(engine: &LocalEngine, partition: &'static str, mebibytes: u64) {
    let mut rng = fastrand::Rng::with_seed(mebibytes);
    for number in 0..mebibytes {
        let mut value = || Some(std::iter::repeat_with(|| rng.u8(..)).take(16 << 10).collect::<Bytes>());
        let writes = (0..64).map(|key| (format!("{number:06}-{key:02}").into(), value())).collect();
        engine.commit(Commit { partition: partition.into(), expected: vec![], writes }).await.unwrap();
    }
}

fn bytes_on_disk(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => bytes_on_disk(&entry.path()),
            Ok(metadata) => metadata.blocks() * 512,
            Err(_) => 0,
        })
        .sum()
}

async fn dropping_leaves_little(mebibytes: u64) {
    let setup = at_rest();
    fill(&setup.engine, "kept", 2).await;
    fill(&setup.engine, "large", mebibytes).await;
    let before = bytes_on_disk(setup.directory.path());
    assert!(before > mebibytes * MIB, "{} MiB", before / MIB);
    reclaim(&setup, Range::partition(b"large")).await;
    let after = bytes_on_disk(setup.directory.path());
    assert!(after < 20 * MIB, "{} MiB of {} MiB are left", after / MIB, before / MIB);
    assert!(setup.engine.get(b"kept", b"000001-07").await.unwrap().is_some());
    assert!(setup.engine.get(b"large", b"000001-07").await.unwrap().is_none());
}

#[tokio::test]
async fn a_dropped_range_whose_journal_is_not_full_leaves_little_on_disk() {
    dropping_leaves_little(30).await;
}

#[tokio::test]
async fn a_dropped_range_of_more_than_a_journal_leaves_little_on_disk() {
    dropping_leaves_little(90).await;
}

#[tokio::test]
async fn a_journal_that_was_being_filled_at_a_crash_shows_no_filler() {
    let setup = at_rest();
    fill(&setup.engine, "kept", 1).await;
    let sweeper = sweeper(&setup.engine, setup.directory.path());
    // Begins with few bytes missing, and is not released.
    tokio::task::spawn_blocking(move || sweeper.fill_journal(journal_space::FULL_BYTES).unwrap()).await.unwrap();
    let Setup { engine, directory, .. } = &setup;
    let copy = tempfile::tempdir().unwrap();
    copy_folder(directory.path(), copy.path());
    let everything = Range { start: Position::new("", ""), end: None };
    let reopened = LocalEngine::open(copy.path()).unwrap();
    for engine in [&**engine, &reopened] {
        let page = engine.scan(&everything, ScanLimits::PAGE).await.unwrap();
        assert_eq!((page.records.len(), page.next), (64, None));
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.metadata().unwrap().is_dir() {
            true => copy_folder(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}
