//! Remedies that name a flag, for errors of engines, which know nothing of flags.

use tablerock_kv::Error;

/// Returns the text of an error, followed by the flag that helps, if there is one.
pub(crate) fn with_remedy(error: &Error) -> String {
    error.to_string()
}
