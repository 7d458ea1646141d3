//! Every input that a fuzzer found worth keeping, and every one that once broke a check, through its check again.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use tablerock_fuzz::{TARGETS, Target};

/// Inputs of a folder in a fixed order; a folder that is not there has none.
fn inputs(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    paths
}

fn replay(name: &str) {
    let Target { check, .. } = *TARGETS.iter().find(|target| target.name == name).expect("a target of this name");
    let folder = |kind: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join(kind).join(name);
    let kept = inputs(&folder("corpus"));
    assert!(!kept.is_empty(), "{name} has no corpus");
    for path in kept.into_iter().chain(inputs(&folder("regressions"))) {
        let data = fs::read(&path).expect("a readable input");
        let checked = catch_unwind(AssertUnwindSafe(|| check(&data)));
        assert!(checked.is_ok(), "{} breaks its check; the reason stands above", path.display());
    }
}

#[test]
fn authorization_headers_replay() {
    replay("authorization");
}

#[test]
fn batches_replay() {
    replay("batch");
}

#[test]
fn bodies_replay() {
    replay("body");
}

#[test]
fn fields_replay() {
    replay("field");
}

#[test]
fn filters_replay() {
    replay("filter");
}

#[test]
fn json_bodies_replay() {
    replay("json");
}

#[test]
fn paths_replay() {
    replay("path");
}

#[test]
fn requests_replay() {
    replay("request");
}

#[test]
fn shared_access_signatures_replay() {
    replay("sas");
}

#[test]
fn shared_key_signatures_replay() {
    replay("shared-key");
}

#[test]
fn stored_values_replay() {
    replay("stored");
}

#[test]
fn every_folder_belongs_to_a_target() {
    for kind in ["corpus", "regressions", "dictionaries"] {
        for path in inputs(&Path::new(env!("CARGO_MANIFEST_DIR")).join(kind)) {
            let name = path.file_stem().expect("a name").to_string_lossy();
            assert!(TARGETS.iter().any(|target| target.name == name), "{} belongs to no target", path.display());
        }
    }
}
