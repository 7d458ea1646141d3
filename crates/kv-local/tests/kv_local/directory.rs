//! The data directory: one owner, a known format, and messages that say what helps.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::fs;
use std::path::Path;

use tablerock_kv::{Commit, Engine, Error, ErrorKind};
use tablerock_kv_local::{LocalEngine, LocationError};

fn refusal(location: &Path) -> Error {
    LocalEngine::open(location).expect_err("the directory is refused")
}

#[test]
fn a_second_owner_hears_who_the_first_is() {
    let directory = tempfile::tempdir().unwrap();
    let engine = LocalEngine::open(directory.path()).unwrap();
    let error = refusal(directory.path());
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let (location, pid) = (directory.path().display(), std::process::id());
    assert_eq!(error.message(), format!("{location} is in use by another Tablerock (pid {pid})"));
    assert!(
        matches!(error.source_as(), Some(LocationError::InUse { pid: Some(held), .. }) if *held == pid),
        "{error:?}"
    );

    drop(engine);
    LocalEngine::open(directory.path()).unwrap();
}

#[tokio::test]
async fn a_closed_engine_frees_its_directory_even_if_it_is_still_held() {
    let directory = tempfile::tempdir().unwrap();
    let engine = LocalEngine::open(directory.path()).unwrap();
    engine.close().await.unwrap();
    LocalEngine::open(directory.path()).unwrap();
    drop(engine);
}

#[test]
fn a_newer_format_is_refused_with_a_remedy_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    drop(LocalEngine::open(directory.path()).unwrap());
    let path = directory.path().join("tablerock-format");
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().take(2).collect::<Vec<_>>(), ["Tablerock data directory", "format: 2"]);

    let newer = text.replace("format: 2", "format: 7").replace("0.1.0 (with format 2) or later", "3.2.0 or later");
    fs::write(&path, &newer).unwrap();
    let error = refusal(directory.path());
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().contains("format 7"), "{error}");
    let Some(LocationError::NewerFormat { reader, format: 7, .. }) = error.source_as() else { panic!("{error:?}") };
    assert_eq!(reader, "3.2.0 or later");
    assert_eq!(fs::read_to_string(&path).unwrap(), newer);
}

#[test]
fn a_format_nobody_wrote_is_corrupt() {
    let directory = tempfile::tempdir().unwrap();
    drop(LocalEngine::open(directory.path()).unwrap());
    let heading = "Tablerock data directory";
    for text in [
        "",
        "format: 1\n",
        &format!("{heading}\nformat: 0\n"),
        &format!("{heading}\nformat: x\n"),
        &format!("{heading}\nformat: 2\n"),
        &format!("{heading}\nformat: 2\nid: 7\nolder contents: no\n"),
    ] {
        fs::write(directory.path().join("tablerock-format"), text).unwrap();
        assert_eq!(refusal(directory.path()).kind(), ErrorKind::Corrupt, "{text:?}");
    }
}

#[test]
fn data_without_a_format_is_not_taken_for_ours() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("store")).unwrap();
    let error = refusal(directory.path());
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().contains("no file tablerock-format"), "{error}");
}

#[test]
fn a_place_that_is_no_directory_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let error = refusal(&file);
    assert!(error.message().starts_with(&format!("cannot write to {}", file.display())), "{error}");
    assert!(matches!(error.source_as(), Some(LocationError::NotWritable { .. })), "{error:?}");
}

#[test]
fn directories_above_are_made_as_well() {
    let directory = tempfile::tempdir().unwrap();
    let location = directory.path().join("a/b/c");
    drop(LocalEngine::open(&location).unwrap());
    assert!(location.join("store").is_dir());
}

#[tokio::test]
async fn files_of_others_are_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("notes.txt"), "mine").unwrap();
    let engine = LocalEngine::open(directory.path()).unwrap();
    let writes = vec![("k".into(), Some("v".into()))];
    engine.commit(Commit { partition: "p".into(), expected: vec![], writes }).await.unwrap();
    assert_eq!(fs::read_to_string(directory.path().join("notes.txt")).unwrap(), "mine");
}

#[test]
fn a_creation_that_was_cut_short_is_done_again() {
    let directory = tempfile::tempdir().unwrap();
    drop(LocalEngine::open(directory.path()).unwrap());
    let unfinished = directory.path().join("store.unfinished");
    assert!(!unfinished.exists());

    fs::write(&unfinished, "").unwrap();
    fs::remove_file(directory.path().join("store/version")).unwrap();
    let engine = LocalEngine::open(directory.path()).unwrap();
    assert!(!directory.path().join("tablerock-clean-stop").exists(), "the note of other data is gone");
    drop(engine);
    assert!(!unfinished.exists());

    fs::remove_dir_all(directory.path().join("store")).unwrap();
    fs::write(&unfinished, "").unwrap();
    drop(LocalEngine::open(directory.path()).unwrap());
    assert!(!unfinished.exists());
}
