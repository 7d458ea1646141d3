//! A journal that is damaged after a clean stop.

use std::fs;
use std::path::PathBuf;

use super::stored_blobs::StoredBlobs;
use crate::run::Run;

/// Cuts the newest journal in half.
pub(super) async fn cut_journal(run: &Run) -> Result<(), String> {
    damaged(run, "exposure-cut-journal", "the journal is cut", |whole| whole / 2).await
}

/// Empties the newest journal.
pub(super) async fn emptied_journal(run: &Run) -> Result<(), String> {
    damaged(run, "exposure-emptied-journal", "the journal is empty", |_| 0).await
}

async fn damaged(run: &Run, name: &str, what: &str, length: fn(usize) -> usize) -> Result<(), String> {
    let blobs = StoredBlobs::create(run, name).await?;
    let journal = newest_journal(&blobs)?;
    let whole = fs::read(&journal).map_err(|error| error.to_string())?;
    let written = whole.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    fs::write(&journal, &whole[..length(written)]).map_err(|error| error.to_string())?;
    blobs.check_refused(what, "has changed since its clean stop").await?;
    fs::write(&journal, &whole).map_err(|error| error.to_string())?;
    blobs.check_whole().await
}

fn newest_journal(blobs: &StoredBlobs) -> Result<PathBuf, String> {
    let entries = fs::read_dir(blobs.path("store")).map_err(|error| error.to_string())?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let number = |path: &PathBuf| path.file_name()?.to_str()?.strip_suffix(".jnl")?.parse::<u64>().ok();
    paths.filter(|path| number(path).is_some()).max_by_key(number).ok_or_else(|| "there is no journal".to_owned())
}
