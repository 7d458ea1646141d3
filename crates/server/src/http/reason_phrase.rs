//! The reason phrase of an error's status line. Queues, blobs and the front end of tables put their message there, and the
//! legacy library for .NET shows it as the message of its exception.

use std::borrow::Cow;

use http::Extensions;
use hyper::ext::ReasonPhrase;
use tablerock_protocol::ServiceError;

/// Messages that are longer, because they quote the client, are left to the body.
const PHRASE_BYTES_MAX: usize = 256;

/// Returns the message as a phrase, if a status line can hold it.
pub(crate) fn of(error: &ServiceError) -> Option<Cow<'static, str>> {
    let is_phrase =
        error.message.len() <= PHRASE_BYTES_MAX && error.message.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    is_phrase.then(|| error.message.clone())
}

/// Makes hyper write the phrase. HTTP/2 has none.
pub(crate) fn set(extensions: &mut Extensions, phrase: Cow<'static, str>) {
    if let Ok(phrase) = ReasonPhrase::try_from(phrase.into_owned().into_bytes()) {
        extensions.insert(phrase);
    }
}

#[cfg(test)]
mod tests {
    use tablerock_protocol::ErrorCode;

    use super::*;

    #[test]
    fn a_message_is_a_phrase_unless_a_status_line_cannot_hold_it() {
        let with = |message: String| of(&ServiceError::with_message(ErrorCode::InvalidInput, message));
        assert_eq!(
            of(&ErrorCode::ContainerNotFound.into()).as_deref(),
            Some("The specified container does not exist.")
        );
        assert_eq!(with("a\r\nSet-Cookie: b".to_owned()), None);
        assert_eq!(with("é".to_owned()), None);
        assert_eq!(with("x".repeat(PHRASE_BYTES_MAX + 1)), None);
    }
}
