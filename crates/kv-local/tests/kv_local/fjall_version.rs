//! The engine reads files that are private to fjall, so a new version of it is a decision and not an update.

/// The versions whose journal (`src/journal.rs`) and manifest (`src/manifest.rs`) the engine knows.
const KNOWN: [(&str, &str); 2] = [("fjall", "3.1.13"), ("lsm-tree", "3.1.10")];

#[test]
fn fjall_is_the_version_whose_files_the_engine_reads() {
    let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
    let lock = std::fs::read_to_string(lock).expect("the workspace has a lock file");
    for (name, version) in KNOWN {
        let entry = format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n");
        assert!(
            lock.contains(&entry),
            "{name} is no longer {version}: compare the formats that src/journal.rs and src/manifest.rs describe with the \
             new version, open a data directory that the old one wrote, then change this test and the root Cargo.toml"
        );
    }
}
