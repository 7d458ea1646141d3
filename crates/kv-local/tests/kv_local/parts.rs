//! Parts of a data directory that are missing, empty, or those of another store: a start fails and changes nothing.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::fs;
use std::path::{Path, PathBuf};

use tablerock_kv::{Bytes, Commit, ContentName, Engine, Error, ErrorKind};
use tablerock_kv_local::{Lack, LocalEngine, LocalOptions, LocationError};

const NAME: ContentName = ContentName { group: 1, number: 2 };

/// A directory with a record and a content, after a clean stop.
async fn filled() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let engine = LocalEngine::open(directory.path()).unwrap();
    assert!(engine.is_new());
    write_content(&engine, NAME).await.unwrap();
    let writes = vec![("k".into(), Some("v".into()))];
    engine.commit(Commit { partition: "p".into(), expected: vec![], writes }).await.unwrap();
    engine.close().await.unwrap();
    directory
}

async fn write_content(engine: &LocalEngine, name: ContentName) -> Result<(), Error> {
    let mut writer = engine.contents().unwrap().create(name);
    writer.write(Bytes::from_static(b"content")).await?;
    writer.finish().await
}

async fn read_content(engine: &LocalEngine, name: ContentName) -> Result<Bytes, Error> {
    engine.contents().unwrap().open(name).await?.expect("the content is there").read(0, 100).await
}

async fn check_whole(location: &Path) {
    let engine = LocalEngine::open(location).unwrap();
    assert!(!engine.is_new());
    assert_eq!(engine.get(b"p", b"k").await.unwrap().unwrap(), "v");
    assert_eq!(read_content(&engine, NAME).await.unwrap(), "content");
    engine.close().await.unwrap();
}

/// All names below a location but that of the lock.
fn names(location: &Path) -> Vec<PathBuf> {
    let mut names = Vec::new();
    let mut folders = vec![location.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry.clone());
            }
            if !entry.ends_with("tablerock-lock") {
                names.push(entry);
            }
        }
    }
    names.sort();
    names
}

fn refusal(location: &Path) -> Error {
    let before = names(location);
    let error = LocalEngine::open(location).expect_err("the directory is refused");
    assert_eq!(names(location), before, "{error}");
    error
}

fn check_lack(location: &Path, part: &str, lack: Lack) {
    let error = refusal(location);
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    let Some(LocationError::PartMissing { part: found, lack: why, .. }) = error.source_as() else {
        panic!("{error:?}");
    };
    assert_eq!((*found, *why), (part, lack));
}

#[tokio::test]
async fn a_part_that_is_missing_or_empty_is_not_a_new_beginning() {
    for part in ["store", "contents"] {
        let directory = filled().await;
        let (there, aside) = (directory.path().join(part), directory.path().join("aside"));
        fs::rename(&there, &aside).unwrap();
        check_lack(directory.path(), part, Lack::Missing);
        // A mount point whose mount did not come up, and a fresh volume in its place.
        fs::create_dir(&there).unwrap();
        check_lack(directory.path(), part, Lack::Empty);
        fs::create_dir(there.join("lost+found")).unwrap();
        check_lack(directory.path(), part, Lack::Empty);
        fs::write(there.join("something"), "").unwrap();
        check_lack(directory.path(), part, Lack::WithoutId);
        fs::remove_dir_all(&there).unwrap();
        fs::rename(&aside, &there).unwrap();
        check_whole(directory.path()).await;
    }
}

#[tokio::test]
async fn contents_or_a_note_alone_are_not_a_new_beginning() {
    for part in ["contents", "tablerock-format", "tablerock-clean-stop"] {
        let (directory, half) = (filled().await, tempfile::tempdir().unwrap());
        fs::rename(directory.path().join(part), half.path().join(part)).unwrap();
        check_lack(half.path(), "store", Lack::Missing);
    }
}

#[tokio::test]
async fn parts_of_two_stores_are_refused_with_both_ids() {
    for part in ["store", "contents"] {
        let (directory, other) = (filled().await, filled().await);
        fs::remove_dir_all(directory.path().join(part)).unwrap();
        fs::rename(other.path().join(part), directory.path().join(part)).unwrap();
        let error = refusal(directory.path());
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        let Some(LocationError::Mixed { part: found, id, expected, .. }) = error.source_as() else {
            panic!("{error:?}");
        };
        assert_eq!(*found, part);
        assert!(id != expected && error.message().contains(id) && error.message().contains(expected), "{error}");
    }
}

#[tokio::test]
async fn a_content_of_another_store_is_never_read() {
    let (directory, other) = (filled().await, filled().await);
    let file = "contents/0000000000000001/0000000000000002";
    fs::copy(other.path().join(file), directory.path().join(file)).unwrap();
    let engine = LocalEngine::open(directory.path()).unwrap();
    assert_eq!(read_content(&engine, NAME).await.unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn an_empty_directory_is_a_first_start() {
    for name in ["nothing", "lost+found"] {
        let directory = tempfile::tempdir().unwrap();
        if name == "lost+found" {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        let must_exist = LocalOptions { create_if_missing: false, ..LocalOptions::default() };
        let before = names(directory.path());
        let error = LocalEngine::open_with(directory.path(), &must_exist).expect_err("there is no data");
        assert!(matches!(error.source_as(), Some(LocationError::Absent { .. })), "{error:?}");
        assert_eq!(names(directory.path()), before);
        assert!(!directory.path().join("tablerock-lock").exists(), "not even a lock is left");

        assert!(LocalEngine::open(directory.path()).unwrap().is_new());
        assert!(!LocalEngine::open_with(directory.path(), &must_exist).unwrap().is_new());
    }
}

#[tokio::test]
async fn an_unfinished_creation_next_to_contents_is_refused() {
    let directory = filled().await;
    fs::write(directory.path().join("store.unfinished"), "").unwrap();
    check_lack(directory.path(), "store", Lack::Unfinished);
}

/// Format 1: no ids, and `contents` only if there are any.
fn make_format_1(location: &Path) {
    fs::write(location.join("tablerock-format"), "Tablerock data directory\nformat: 1\nreadable by: 0.1.0 or later\n")
        .unwrap();
    for id in ["store/tablerock-id", "contents/tablerock-id"] {
        fs::remove_file(location.join(id)).unwrap();
    }
}

#[tokio::test]
async fn data_of_format_1_gets_an_id_also_after_an_interrupted_upgrade() {
    let directory = filled().await;
    let path = |name| directory.path().join(name);
    let id = fs::read_to_string(path("store/tablerock-id")).unwrap();
    make_format_1(directory.path());
    // The upgrade had marked the store and was interrupted before the rest.
    fs::write(path("store/tablerock-id"), &id).unwrap();
    check_whole(directory.path()).await;
    let format = fs::read_to_string(path("tablerock-format")).unwrap();
    assert!(format.contains(&format!("id: {id}older contents: yes")), "{format}");
    assert_eq!(fs::read_to_string(path("contents/tablerock-id")).unwrap(), id);

    make_format_1(directory.path());
    LocalEngine::open(directory.path()).unwrap();
    let other = fs::read_to_string(path("contents/tablerock-id")).unwrap();
    assert_ne!(other, id);
    assert_eq!(fs::read_to_string(path("store/tablerock-id")).unwrap(), other);
}

#[tokio::test]
async fn data_of_format_1_is_refused_without_its_store_or_with_marked_contents() {
    let directory = filled().await;
    let id = fs::read_to_string(directory.path().join("contents/tablerock-id")).unwrap();
    make_format_1(directory.path());
    fs::write(directory.path().join("contents/tablerock-id"), id).unwrap();
    let error = refusal(directory.path());
    assert!(matches!(error.source_as(), Some(LocationError::Mixed { .. })), "{error:?}");
    fs::remove_dir_all(directory.path().join("store")).unwrap();
    check_lack(directory.path(), "store", Lack::Missing);
}

#[cfg(unix)]
#[test]
fn a_new_directory_is_for_its_owner_alone_and_an_old_one_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let directory = tempfile::tempdir().unwrap();
    let location = directory.path().join("a/b");
    drop(LocalEngine::open(&location).unwrap());
    assert_eq!(mode(&location), 0o700);
    fs::set_permissions(&location, fs::Permissions::from_mode(0o755)).unwrap();
    drop(LocalEngine::open(&location).unwrap());
    assert_eq!(mode(&location), 0o755);
}
