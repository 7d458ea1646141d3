//! Dropping a table leaves no trace in the journal, so after a crash the journal may bring its records back. The note
//! of the swept range is still there then, and they go again.

use std::fs;
use std::path::Path;
use std::time::Duration;

use fjall::AbstractTree;
use tablerock_kv::key::physical;
use tablerock_kv::{Commit, Engine, Range, ScanLimits};

use super::setup;
use crate::LocalEngine;
use crate::commit_queue::Writes;
use crate::database::Handles;
use crate::sweep_queue::SweepIntent;

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Drops the tables of a range and notes it as swept, and nothing more: as if the process died right after.
async fn sweep_and_die(engine: &LocalEngine, handles: &Handles, range: Range) {
    handles.records.rotate_memtable_and_wait().unwrap();
    let (start, end) = physical::encode_range(&range);
    handles.records.tree.drop_range(start..end.unwrap()).unwrap();
    assert_eq!(handles.records.tree.table_count(), 0);

    let note = SweepIntent { id: 1, range, swept_at_journal: Some(0) }.record();
    let permit = engine.shared.queue.reserve(1).await.unwrap();
    let queued = engine.shared.queue.push(Writes::Background { records: vec![], own: vec![note] }, permit).unwrap();
    engine.shared.queue.wake();
    queued.result.await.unwrap().unwrap();
}

#[tokio::test]
async fn records_that_the_journal_brings_back_are_swept_again() {
    let setup = setup();
    let writes = (0..100).map(|key| (format!("{key}").into(), Some("value".into()))).collect();
    setup.engine.commit(Commit { partition: "dropped".into(), expected: vec![], writes }).await.unwrap();
    let range = Range::partition(b"dropped");
    let handles = setup.engine.open.lock().as_ref().unwrap().handles.clone();
    sweep_and_die(&setup.engine, &handles, range.clone()).await;

    let copies = tempfile::tempdir().unwrap();
    for copy in ["plain", "swept"] {
        copy_folder(setup.directory.path(), &copies.path().join(copy));
    }
    let database = fjall::Database::builder(copies.path().join("plain/store")).open().unwrap();
    let records = database.keyspace("records", Default::default).unwrap();
    assert_eq!(records.len().unwrap(), 100, "the journal brings the records back");

    let engine = LocalEngine::open(&copies.path().join("swept")).unwrap();
    while engine.statistics().ranges_to_sweep > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let limits = ScanLimits { records_max: 1, bytes_max: 1, deadline: None };
    assert!(engine.scan(&range, limits).await.unwrap().records.is_empty());
}
