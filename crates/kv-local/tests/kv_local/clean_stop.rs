//! The note of a clean stop: the next start accepts the journals that the stop left, and no others.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::fs;
use std::path::Path;

use tablerock_kv::{Commit, Engine, ErrorKind};
use tablerock_kv_local::{LocalEngine, LocationError};

const NOTE: &str = "tablerock-clean-stop";
const JOURNAL: &str = "store/0.jnl";

async fn put(engine: &LocalEngine, key: &'static str) {
    let writes = vec![(key.into(), Some("value".into()))];
    engine.commit(Commit { partition: "p".into(), expected: vec![], writes }).await.unwrap();
}

async fn has(location: &Path, key: &str) -> bool {
    let engine = LocalEngine::open(location).unwrap();
    engine.get(b"p", key.as_bytes()).await.unwrap().is_some()
}

/// A directory with two records after a clean stop.
async fn stopped() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let engine = LocalEngine::open(directory.path()).unwrap();
    put(&engine, "first").await;
    put(&engine, "second").await;
    engine.close().await.unwrap();
    directory
}

/// Fails unless the start is refused, changes nothing, and names this difference.
fn check_refused(location: &Path, expected: &str) {
    let note = fs::read(location.join(NOTE)).unwrap();
    let error = LocalEngine::open(location).expect_err(expected);
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    let Some(LocationError::Changed { difference, .. }) = error.source_as() else { panic!("{error:?}") };
    assert!(difference.contains(expected), "{difference}");
    assert_eq!(fs::read(location.join(NOTE)).unwrap(), note);
}

#[tokio::test]
async fn a_note_is_there_from_a_clean_stop_to_the_next_start() {
    let directory = stopped().await;
    assert!(directory.path().join(NOTE).exists());
    let engine = LocalEngine::open(directory.path()).unwrap();
    assert!(!directory.path().join(NOTE).exists());
    drop(engine);
    assert!(directory.path().join(NOTE).exists(), "dropping an engine closes it");
    assert!(has(directory.path(), "second").await);
}

#[tokio::test]
async fn a_changed_journal_is_refused_and_removing_the_note_accepts_it() {
    let directory = stopped().await;
    let journal = directory.path().join(JOURNAL);
    let whole = fs::read(&journal).unwrap();
    let written = whole.iter().rposition(|&byte| byte != 0).unwrap() + 1;

    for cut in [0, 1, written / 2, written - 1] {
        fs::write(&journal, &whole[..cut]).unwrap();
        check_refused(directory.path(), "store/0.jnl has");
    }
    for place in [0, written / 2, written - 1] {
        let mut flipped = whole.clone();
        flipped[place] ^= 1;
        fs::write(&journal, flipped).unwrap();
        check_refused(directory.path(), "store/0.jnl has other content");
    }
    fs::write(&journal, &whole).unwrap();
    fs::write(directory.path().join("store/1.jnl"), []).unwrap();
    check_refused(directory.path(), "store/1.jnl was added");
    fs::remove_file(directory.path().join("store/1.jnl")).unwrap();

    fs::write(&journal, &whole[..written - 1]).unwrap();
    fs::remove_file(directory.path().join(NOTE)).unwrap();
    assert!(has(directory.path(), "first").await);
    assert!(!has(directory.path(), "second").await, "the override accepts the loss");
}

#[tokio::test]
async fn a_damaged_note_is_refused() {
    let directory = stopped().await;
    let path = directory.path().join(NOTE);
    let note = fs::read(&path).unwrap();
    for place in 0..note.len() {
        let mut flipped = note.clone();
        flipped[place] ^= 1;
        fs::write(&path, flipped).unwrap();
        let error = LocalEngine::open(directory.path()).expect_err("a bit of the note has flipped");
        assert!(matches!(error.source_as(), Some(LocationError::Changed { .. })), "byte {place}: {error}");
    }
    fs::write(&path, &note).unwrap();
    assert!(has(directory.path(), "second").await);
}
