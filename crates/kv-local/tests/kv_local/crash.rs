//! The state after a crash: everything acknowledged, nothing by halves, and the engine always starts.
//!
//! A copy of the directory of a running engine is what a killed process leaves. Damage to the journal of such a
//! copy stands for a power cut in the middle of a write, or for a disk that rots.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::fs;
use std::path::{Path, PathBuf};

use tablerock_kv::{Commit, Engine, ErrorKind};
use tablerock_kv_local::LocalEngine;

const COMMITS: usize = 30;

fn commit(number: usize) -> Commit {
    let records = |key: usize| (format!("{number:03}-{key}").into(), Some(vec![b'v'; 3_000].into()));
    Commit { partition: "p".into(), expected: vec![], writes: (0..3).map(records).collect() }
}

/// A copy of a directory as it was while its engine ran.
async fn copy_of_a_running_engine() -> tempfile::TempDir {
    let original = tempfile::tempdir().unwrap();
    let engine = LocalEngine::open(original.path()).unwrap();
    for number in 0..COMMITS {
        engine.commit(commit(number)).await.unwrap();
    }
    let copy = tempfile::tempdir().unwrap();
    copy_folder(original.path(), copy.path());
    copy
}

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

/// How many commits are there, each of them whole.
async fn whole_commits(location: &Path) -> usize {
    let engine = LocalEngine::open(location).unwrap();
    let mut whole = 0;
    for number in 0..COMMITS {
        let mut found = 0;
        for key in 0..3 {
            found += usize::from(engine.get(b"p", format!("{number:03}-{key}").as_bytes()).await.unwrap().is_some());
        }
        assert!(found == 0 || found == 3, "commit {number} is there by {found} thirds");
        whole += found / 3;
    }
    engine.commit(commit(COMMITS)).await.unwrap();
    whole
}

fn journal(location: &Path) -> PathBuf {
    location.join("store/0.jnl")
}

/// The journal's bytes without the zeros it is filled up with.
fn written(location: &Path) -> Vec<u8> {
    let mut bytes = fs::read(journal(location)).unwrap();
    bytes.truncate(bytes.iter().rposition(|&byte| byte != 0).unwrap() + 1);
    bytes
}

/// Writes the journal as a crash might leave it: these bytes, then nothing or zeros, and no note of a clean stop.
fn rewrite(location: &Path, bytes: &[u8], zeros: usize) {
    let _ = fs::remove_file(location.join("tablerock-clean-stop"));
    fs::write(journal(location), [bytes, &vec![0; zeros]].concat()).unwrap();
}

#[tokio::test]
async fn a_killed_process_loses_nothing_it_acknowledged() {
    let copy = copy_of_a_running_engine().await;
    assert_eq!(whole_commits(copy.path()).await, COMMITS);
    assert_eq!(whole_commits(copy.path()).await, COMMITS, "also the second time");
}

#[tokio::test]
async fn a_batch_cut_short_is_dropped_whole() {
    let copy = copy_of_a_running_engine().await;
    let bytes = written(copy.path());
    for lost in [1, 13, 14, 500, 3_000, 8_000] {
        for zeros in [0, 100_000] {
            rewrite(copy.path(), &bytes[..bytes.len() - lost], zeros);
            assert_eq!(whole_commits(copy.path()).await, COMMITS - 1, "{lost} bytes lost, then {zeros} zeros");
        }
    }
}

#[tokio::test]
async fn a_batch_with_a_hole_is_dropped_whole() {
    let copy = copy_of_a_running_engine().await;
    let bytes = written(copy.path());
    // In a value, where only the checksum shows it; and over the head of a record, where the structure does.
    for hole in [bytes.len() - 2_000..bytes.len() - 1_000, bytes.len() - 4_000..bytes.len() - 1_000] {
        let mut torn = bytes.clone();
        torn[hole.clone()].fill(0);
        rewrite(copy.path(), &torn, 50_000);
        assert_eq!(whole_commits(copy.path()).await, COMMITS - 1, "with a hole at {hole:?}");
    }
}

#[tokio::test]
async fn damage_before_the_last_batch_is_reported_and_nothing_is_cut() {
    let copy = copy_of_a_running_engine().await;
    let bytes = written(copy.path());
    let middle = bytes.len() / 2;
    for hole in [middle..middle + 100, middle..middle + 4_000] {
        let mut damaged = bytes.clone();
        damaged[hole.clone()].fill(0);
        rewrite(copy.path(), &damaged, 50_000);
        let before = fs::read(journal(copy.path())).unwrap();
        let error = LocalEngine::open(copy.path()).expect_err("acknowledged data is damaged");
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert_eq!(fs::read(journal(copy.path())).unwrap(), before, "with a hole at {hole:?}");
    }
}

/// The next journal comes to be when the one before is synced, so a torn end there is no crash's doing.
#[tokio::test]
async fn a_torn_end_of_an_older_journal_is_reported() {
    let copy = copy_of_a_running_engine().await;
    let bytes = written(copy.path());
    fs::write(copy.path().join("store/1.jnl"), []).unwrap();
    rewrite(copy.path(), &bytes[..bytes.len() - 100], 50_000);
    let error = LocalEngine::open(copy.path()).expect_err("an acknowledged commit is damaged");
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    rewrite(copy.path(), &bytes, 50_000);
    assert_eq!(whole_commits(copy.path()).await, COMMITS);
}

/// fjall takes a keyspace without this file, or a directory without journals, for one that was never made to the end.
#[tokio::test]
async fn a_missing_file_is_not_taken_for_a_new_beginning() {
    for missing in
        ["store/0.jnl", "store/keyspaces/0/current", "store/keyspaces/1/current", "store/keyspaces/2/current"]
    {
        let copy = copy_of_a_running_engine().await;
        let (there, aside) = (copy.path().join(missing), copy.path().join("aside"));
        fs::rename(&there, &aside).unwrap();
        let error = LocalEngine::open(copy.path()).expect_err("a file is missing");
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        fs::rename(&aside, &there).unwrap();
        assert_eq!(whole_commits(copy.path()).await, COMMITS, "nothing was touched without {missing}");
    }
}

/// fjall panics over some of these bytes, and while it cleans up after that once more, which ends the process.
#[tokio::test]
async fn a_flipped_bit_in_what_names_the_tables_is_corrupt_wherever_it_is() {
    let copy = copy_of_a_running_engine().await;
    for keyspace in 0..3 {
        let folder = copy.path().join(format!("store/keyspaces/{keyspace}"));
        let number = u64::from_le_bytes(fs::read(folder.join("current")).unwrap()[..8].try_into().unwrap());
        for path in [folder.join("current"), folder.join(format!("v{number}"))] {
            let bytes = fs::read(&path).unwrap();
            for place in 0..bytes.len() {
                let mut damaged = bytes.clone();
                damaged[place] ^= 1 << (place % 8);
                fs::write(&path, damaged).unwrap();
                let error = LocalEngine::open(copy.path()).expect_err("a bit has flipped");
                assert_eq!(error.kind(), ErrorKind::Corrupt, "byte {place} of {}: {error}", path.display());
            }
            fs::write(&path, bytes).unwrap();
        }
    }
    assert_eq!(whole_commits(copy.path()).await, COMMITS);
}

#[tokio::test]
async fn a_damaged_table_is_corrupt() {
    let directory = tempfile::tempdir().unwrap();
    let engine = LocalEngine::open(directory.path()).unwrap();
    let value = vec![b'v'; 1 << 20];
    // Enough that the write buffer becomes tables.
    for number in 0..40 {
        let writes = vec![(format!("{number:03}").into(), Some(value.clone().into()))];
        engine.commit(Commit { partition: "p".into(), expected: vec![], writes }).await.unwrap();
    }
    while engine.statistics().disk_bytes == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    engine.close().await.unwrap();

    for table in fs::read_dir(directory.path().join("store/keyspaces/1/tables")).unwrap() {
        let path = table.unwrap().path();
        let mut bytes = fs::read(&path).unwrap();
        bytes[1_000..2_000].fill(b'x');
        fs::write(&path, bytes).unwrap();
    }
    let error = match LocalEngine::open(directory.path()) {
        Ok(engine) => engine.get(b"p", b"000").await.expect_err("the block is damaged"),
        Err(error) => error,
    };
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
}
