//! Continuation tokens: where the next page starts, in a form that is safe in a header.
//!
//! The shape is the live service's: `1!{length}!{Base64 with '=' written '-'}`. A token names the first item not
//! yet returned, so it stays good across restarts of either side, and resuming includes the item it names.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{ErrorCode, ServiceError};

/// Ends the name inside a table token; 16 digits that clients do not look at follow it.
const TABLE_MARK: char = '\u{1}';
const TABLE_TAIL: &str = "\u{1}0000000000000000";

/// A token for a PartitionKey or RowKey.
pub fn encode_key(key: &str) -> String {
    let text = STANDARD.encode(key).replace('=', "-");
    format!("1!{}!{text}", text.len())
}

/// The key inside a token.
pub fn decode_key(token: &str) -> Result<String, ServiceError> {
    decode(token).ok_or_else(|| ErrorCode::InvalidInput.into())
}

/// A token for the listing of tables.
pub fn encode_table(folded_name: &str) -> String {
    encode_key(&format!("{folded_name}{TABLE_TAIL}"))
}

/// The folded table name inside a token.
pub fn decode_table(token: &str) -> Result<String, ServiceError> {
    let text = decode_key(token)?;
    Ok(text.split(TABLE_MARK).next().unwrap_or_default().to_owned())
}

fn decode(token: &str) -> Option<String> {
    let (length, text) = token.strip_prefix("1!")?.split_once('!')?;
    if length.parse() != Ok(text.len()) {
        return None;
    }
    // A client that forgot to encode a plus sign has it arrive as a space; the meaning is not in doubt.
    let bytes = STANDARD.decode(text.replace('-', "=").replace(' ', "+")).ok()?;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_the_live_services_shape() {
        assert_eq!(encode_key("pk121a1965"), "1!16!cGsxMjFhMTk2NQ--");
        for key in ["", "a", "o'b r+(é)%", "😀"] {
            assert_eq!(decode_key(&encode_key(key)).as_deref(), Ok(key));
        }
        assert_eq!(decode_table(&encode_table("people")).as_deref(), Ok("people"));
    }

    #[test]
    fn a_token_that_is_none_is_refused() {
        for token in ["", "x", "1!3!YQ--", "2!4!YQ--", "1!4!****", "1!4!/w--"] {
            assert_eq!(decode_key(token).unwrap_err().code, ErrorCode::InvalidInput, "{token}");
        }
    }
}
