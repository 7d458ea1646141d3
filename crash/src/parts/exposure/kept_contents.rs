//! A store that is older than its contents: it gives numbers of contents out again, whose files exist.

use std::fs;

use super::stored_blobs::{check_blob, copy, create_container, data, put, rename};
use crate::run::{DataDirectory, Run};

/// Puts back the store of before a blob was put, and puts another blob. The new store then shows whether the file of the
/// first blob was overwritten.
pub(super) async fn run(run: &Run) -> Result<(), String> {
    let directory = DataDirectory::create(run, "exposure-kept-contents")?;
    let path = |name: &str| data(&directory).join(name);
    let parts = ["store", "tablerock-clean-stop"];
    let server = directory.start().await?;
    create_container(&server).await?;
    server.stop().await?;
    for part in parts.iter().filter(|part| path(part).exists()) {
        copy(&path(part), &path(&format!("{part}.older")))?;
    }

    let server = directory.start().await?;
    put(&server, "old").await?;
    server.stop().await?;
    swap(&directory, &parts, "older", "newer")?;

    let server = directory.start().await?;
    let put_again = put(&server, "new").await;
    server.stop().await?;
    swap(&directory, &parts, "newer", "later")?;

    let server = directory.start().await?;
    check_blob(&server, "old").await.map_err(|why| format!("after another blob got its number: {why}"))?;
    server.stop().await?;
    if put_again.is_ok() {
        return Err("a blob was put whose file was in the way".to_owned());
    }
    directory.clean_up();
    Ok(())
}

/// Moves the parts in use aside under one suffix, and brings those of the other.
fn swap(directory: &DataDirectory, parts: &[&str], brought: &str, aside: &str) -> Result<(), String> {
    for part in parts {
        let path = data(directory).join(part);
        let with = |suffix: &str| data(directory).join(format!("{part}.{suffix}"));
        if path.exists() {
            rename(&path, &with(aside))?;
        }
        if with(brought).exists() {
            rename(&with(brought), &path)?;
        }
    }
    // The file that names the format is the same for both.
    fs::metadata(data(directory).join("tablerock-format")).map(drop).map_err(|error| error.to_string())
}
