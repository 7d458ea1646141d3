//! Trying again what another writer was faster at.

use std::time::Duration;

use tablerock_client::{Error, ErrorCode, Result};

/// How often a change is tried before it gives up: more often than any honest contention needs.
const TRIES_MAX: u32 = 40;
const WAIT_FIRST: Duration = Duration::from_millis(2);
const WAIT_MAX: Duration = Duration::from_millis(100);

/// The tries of one read, decision and conditional write.
pub(crate) struct Tries {
    what: &'static str,
    lost: u32,
    wait: Duration,
}

impl Tries {
    pub(crate) fn to_change(what: &'static str) -> Self {
        Self { what, lost: 0, wait: WAIT_FIRST }
    }

    /// Another writer was faster: waits a little before the next try, or gives up.
    pub(crate) async fn lost(&mut self) -> Result<()> {
        self.lost += 1;
        if self.lost == TRIES_MAX {
            return Err(Error::Invalid(format!(
                "{} has changed {TRIES_MAX} times while it was being changed",
                self.what
            )));
        }
        tokio::time::sleep(self.wait).await;
        self.wait = (self.wait * 2).min(WAIT_MAX);
        Ok(())
    }
}

/// A write's result if its condition held, `None` if it lost: something was there, or not there, or another version.
pub(crate) fn unless_lost<T>(outcome: Result<T>) -> Result<Option<T>> {
    match outcome {
        Ok(done) => Ok(Some(done)),
        Err(error) if is_lost(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// That the table, the queue or the container is missing is nobody's being faster. That a receipt is not the message's any
/// more is, and is said by some servers in the place of 404.
pub(crate) fn is_lost(error: &Error) -> bool {
    let places = [ErrorCode::TableNotFound, ErrorCode::QueueNotFound, ErrorCode::ContainerNotFound];
    let is_place_missing = error.code().is_some_and(|code| places.contains(&code));
    let is_receipt_old = error.code() == Some(ErrorCode::PopReceiptMismatch);
    !is_place_missing && (error.is_conflict() || error.is_changed() || error.is_not_found() || is_receipt_old)
}
