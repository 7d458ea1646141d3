//! A data directory of which a part is missing, was emptied, or belongs to another store.

use std::fs;

use super::stored_blobs::{StoredBlobs, rename};
use crate::run::Run;

pub(super) async fn store(run: &Run) -> Result<(), String> {
    missing(run, "store", "exposure-no-store").await
}

pub(super) async fn contents(run: &Run) -> Result<(), String> {
    missing(run, "contents", "exposure-no-contents").await
}

/// Takes a part away, then leaves an empty folder in its place: a mount that did not come up.
async fn missing(run: &Run, part: &str, name: &str) -> Result<(), String> {
    let blobs = StoredBlobs::create(run, name).await?;
    let (there, aside) = (blobs.path(part), blobs.path("aside"));
    rename(&there, &aside)?;
    blobs.check_refused(&format!("{part} is missing"), &format!("{part} is missing")).await?;
    if there.exists() {
        return Err(format!("a refused start created {}", there.display()));
    }
    fs::create_dir(&there).map_err(|error| error.to_string())?;
    blobs.check_refused(&format!("{part} is an empty folder"), &format!("{part} is empty")).await?;
    fs::remove_dir(&there).map_err(|error| error.to_string())?;
    rename(&aside, &there)?;
    blobs.check_whole().await
}

/// Replaces the contents by those of another store.
pub(super) async fn swapped_contents(run: &Run) -> Result<(), String> {
    let blobs = StoredBlobs::create(run, "exposure-swapped").await?;
    let other = StoredBlobs::create(run, "exposure-swapped-other").await?;
    rename(&blobs.path("contents"), &blobs.path("aside"))?;
    rename(&other.path("contents"), &blobs.path("contents"))?;
    blobs.check_refused("contents of another store", "parts of two stores").await?;
    fs::remove_dir_all(blobs.path("contents")).map_err(|error| error.to_string())?;
    rename(&blobs.path("aside"), &blobs.path("contents"))?;
    other.directory.clean_up();
    blobs.check_whole().await
}
