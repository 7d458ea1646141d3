//! Why a copy has not come to its end, and whether it may if it is tried again.

use tablerock_client::Error as CallError;
use tablerock_kv::ErrorKind;

use super::account::describe;

#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub(super) why: String,
    /// It was a place that could not be reached, or was busy.
    pub(super) may_pass: bool,
}

impl Failure {
    /// A call to an endpoint.
    pub(super) fn of_call(doing: &str, error: &CallError) -> Self {
        let may_pass = match error.status() {
            Some(status) => matches!(status, 408 | 429 | 500..),
            None => matches!(error, CallError::Transport { .. } | CallError::Timeout { .. }),
        };
        Self { why: format!("{doing}: {}", describe(error)), may_pass }
    }

    /// A store that was read or written.
    pub(super) fn of_store(error: &tablerock_kv::Error) -> Self {
        let may_pass = matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Conflict);
        Self { why: error.to_string(), may_pass }
    }

    /// The same, with more around the words.
    pub(super) fn said(self, say: impl FnOnce(&str) -> String) -> Self {
        Self { why: say(&self.why), ..self }
    }
}

/// What is only known as words does not go away by itself.
impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self { why, may_pass: false }
    }
}
