//! The form of every error response, whichever component rejects the request.

use tablerock_protocol::{ErrorCode, ServiceError};

/// How often a message may repeat the input: an unreadable literal stands in it once by itself and once within the
/// whole filter, and an escaped form may be longer than the text.
const ECHOES_MAX: usize = 4;
const WORDS_BYTES_MAX: usize = 512;

/// An error blames the client, and its message is bounded by what the client sent.
pub(crate) fn check_refusal(error: &ServiceError, input_bytes: usize) {
    let blames_client = (400..500).contains(&error.status) || error.code == ErrorCode::NotImplemented;
    assert!(blames_client, "{error:?}");
    assert!(!error.message.is_empty(), "{error:?}");
    assert!(error.message.len() <= ECHOES_MAX * input_bytes + WORDS_BYTES_MAX, "a message of {}", error.message.len());
}
