//! Trying again what another writer was faster at.

use std::time::Duration;

use tablerock_client::{Error, Result};

/// How often a change is tried before it gives up: more often than any honest contention needs.
const TRIES_MAX: u32 = 40;
const WAIT_FIRST: Duration = Duration::from_millis(2);
const WAIT_MAX: Duration = Duration::from_millis(100);

/// Runs a read-decide-write until its condition holds. The closure returns `None` when it has lost to another writer.
pub(crate) async fn until_it_holds<T>(what: &str, mut change: impl AsyncFnMut() -> Result<Option<T>>) -> Result<T> {
    let mut wait = WAIT_FIRST;
    for _ in 0..TRIES_MAX {
        if let Some(done) = change().await? {
            return Ok(done);
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(WAIT_MAX);
    }
    Err(Error::Invalid(format!("{what} has changed {TRIES_MAX} times while it was being changed")))
}

/// A write's result if its condition held, `None` if it lost: something was there, or not there, or another version.
pub(crate) fn unless_lost<T>(outcome: Result<T>) -> Result<Option<T>> {
    match outcome {
        Ok(done) => Ok(Some(done)),
        Err(error) if error.is_conflict() || error.is_changed() || error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}
