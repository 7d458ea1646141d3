//! The errors of a copy, and whether a retry can succeed.

use tablerock_client::Error as ClientError;
use tablerock_kv::ErrorKind;

use super::account::describe;
use crate::hint;

#[derive(Debug, Clone)]
pub(super) struct CopyError {
    pub(super) message: String,
    /// A store or an endpoint was unavailable or busy, so a retry can succeed.
    pub(super) is_transient: bool,
}

impl CopyError {
    /// An error of a request to an endpoint.
    pub(super) fn of_call(action: &str, error: &ClientError) -> Self {
        let is_transient = match error.status() {
            Some(status) => matches!(status, 408 | 429 | 500..),
            None => matches!(error, ClientError::Transport { .. } | ClientError::Timeout { .. }),
        };
        Self { message: format!("{action}: {}", describe(error)), is_transient }
    }

    /// An error of a store.
    pub(super) fn of_store(error: &tablerock_kv::Error) -> Self {
        let is_transient = matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Conflict);
        Self { message: hint::with_remedy(error), is_transient }
    }

    pub(super) fn map_message(self, map: impl FnOnce(&str) -> String) -> Self {
        Self { message: map(&self.message), ..self }
    }
}

/// Other errors are permanent.
impl From<String> for CopyError {
    fn from(message: String) -> Self {
        Self { message, is_transient: false }
    }
}
