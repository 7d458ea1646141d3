//! `journal` and `manifest` parse private files of fjall and lsm-tree, whose formats may change in any release.

use crate::journal::PARSED_VERSIONS;

#[test]
fn the_parsers_match_the_locked_versions() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
    // A registry package is built without the workspace, and so without its lock file.
    let Ok(lock) = std::fs::read_to_string(path) else { return };
    for (package, version) in PARSED_VERSIONS {
        let entry = format!("name = \"{package}\"\nversion = \"{version}\"\n");
        assert!(
            lock.contains(&entry),
            "{package} is not {version} any more: compare the file formats of the new version with journal.rs and \
             manifest.rs, run the crash suite, then change PARSED_VERSIONS"
        );
    }
}
