//! Optimistic concurrency: retries of conditional writes that lost to another writer.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use tablerock_client::{Error, ErrorCode, Result};

/// More attempts than any real contention needs.
const ATTEMPTS_MAX: u32 = 40;
const INITIAL_DELAY: Duration = Duration::from_millis(2);
const DELAY_MAX: Duration = Duration::from_millis(100);

/// The attempts of one change, each of which reads, decides and writes conditionally.
pub(crate) struct Attempts {
    target: &'static str,
    failed: u32,
    delay: Duration,
}

impl Attempts {
    pub(crate) fn new(target: &'static str) -> Self {
        Self { target, failed: 0, delay: INITIAL_DELAY }
    }

    /// Waits before the next attempt, after another writer was faster. Fails after the last attempt.
    pub(crate) async fn retry(&mut self) -> Result<()> {
        self.failed += 1;
        if self.failed == ATTEMPTS_MAX {
            return Err(Error::Invalid(format!(
                "{} changed during each of {ATTEMPTS_MAX} attempts to change it: too many writers",
                self.target
            )));
        }
        tokio::time::sleep(self.delay).await;
        self.delay = (self.delay * 2).min(DELAY_MAX);
        Ok(())
    }
}

/// Returns the result of a conditional write, or `None` if its condition failed: another writer was faster.
pub(crate) fn unless_conflict<T>(outcome: Result<T>) -> Result<Option<T>> {
    match outcome {
        Ok(done) => Ok(Some(done)),
        Err(error) if is_conflict(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether another writer was faster. A missing table, queue or container is not a conflict. An old pop receipt is one,
/// which some servers report instead of 404.
pub(crate) fn is_conflict(error: &Error) -> bool {
    let is_receipt_old = error.code() == Some(ErrorCode::PopReceiptMismatch);
    let is_race = error.is_conflict() || error.is_precondition_failed() || error.is_not_found() || is_receipt_old;
    is_race && !is_missing_resource(error)
}

/// Whether a table, queue or container does not exist.
pub(crate) fn is_missing_resource(error: &Error) -> bool {
    let missing = [ErrorCode::TableNotFound, ErrorCode::QueueNotFound, ErrorCode::ContainerNotFound];
    error.code().is_some_and(|code| missing.contains(&code))
}

/// Returns a random number: the standard library's hash keys come from the operating system.
pub(crate) fn random() -> u64 {
    RandomState::new().hash_one(())
}
