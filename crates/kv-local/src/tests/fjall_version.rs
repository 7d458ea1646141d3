//! This crate parses and lists private files of fjall and lsm-tree, whose formats may change in any release. So another
//! version fails here until its files have been looked at, and the files of a small store are compared with what is known.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tablerock_kv::Engine as _;

use crate::journal::PARSED_VERSIONS;
use crate::tests::put;
use crate::{LocalEngine, database};

/// The facts to compare with the source of another version.
const CHECKLIST: &str = "compare these with its source:
  - the bytes of a journal (journal.rs), its name N.jnl, and that the highest N is the one in use
  - that a journal is synced before the next is created, and is removed only when its records are in tables
  - that nothing writes a journal after the last handle is dropped (clean_stop.rs, database::is_closed and its file lock)
  - `current` and `vN` of a keyspace, and their checksum (manifest.rs)
  - the folders keyspaces/0 to 2, and which files it takes as missing for a new database (database.rs)
  - that it ignores our file tablerock-id in its folder
then run `cargo xtask crash --long --only power --only faults`, open the fixtures, and change PARSED_VERSIONS";

#[test]
fn the_parsers_match_the_locked_versions() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
    // A registry package is built without the workspace, and so without its lock file.
    let Ok(lock) = fs::read_to_string(path) else { return };
    for (package, version) in PARSED_VERSIONS {
        let entry = format!("name = \"{package}\"\nversion = \"{version}\"\n");
        assert!(lock.contains(&entry), "{package} is not {version} any more: {CHECKLIST}");
    }
}

/// The kinds of files below a folder: their paths with `N` for numbers. How many of a kind there are is a matter of time.
fn kinds(folder: &Path) -> BTreeSet<String> {
    let mut kinds = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(path) = folders.pop() {
        for entry in fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
                continue;
            }
            let path = entry.strip_prefix(folder).unwrap().display().to_string();
            let digits = path.replace(|c: char| c.is_ascii_digit(), "N");
            kinds.insert(digits.replace("NN", "N"));
        }
    }
    kinds
}

#[tokio::test]
async fn the_files_of_a_small_store_are_those_that_are_known() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("store");
    let engine = LocalEngine::open(directory.path()).unwrap();
    engine.commit(put("key", "value")).await.unwrap();
    assert!(!database::is_closed(&data), "the file lock shows that the database is open; {CHECKLIST}");
    engine.close().await.unwrap();
    assert!(database::is_closed(&data));

    let known =
        ["N.jnl", "keyspaces/N/current", "keyspaces/N/tables/N", "keyspaces/N/vN", "lock", "tablerock-id", "version"];
    assert_eq!(kinds(&data), known.map(str::to_owned).into(), "{CHECKLIST}");
    for id in 0..3 {
        assert!(data.join(format!("keyspaces/{id}/current")).exists(), "{CHECKLIST}");
    }
    assert!(!data.join("keyspaces/3").exists(), "{CHECKLIST}");
    assert_eq!(fs::read(data.join("version")).unwrap(), b"FJL\x03", "{CHECKLIST}");

    // One batch with one item. The sequence number and the checksum are fjall's.
    let journal = fs::read(data.join("0.jnl")).unwrap();
    let end = journal.iter().rposition(|&byte| byte != 0).unwrap() + 1;
    let lengths = [&6u16.to_le_bytes()[..], &5u32.to_le_bytes(), &5u32.to_le_bytes()].concat();
    let item = [&[2, 0, 0][..], &1u64.to_le_bytes(), &lengths, b"p\x00\x01key", b"value"].concat();
    let (head, sequence) = ([&[1][..], &1u32.to_le_bytes()].concat(), &journal[5..13]);
    let checksum = &journal[end - 12..end - 4];
    let expected = [&head[..], sequence, &item, &[3], checksum, b"FJL\x03"].concat();
    assert_eq!(&journal[..end], expected, "{CHECKLIST}");
}
