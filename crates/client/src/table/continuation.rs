//! Continuation tokens of queries and listings.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Error;

/// A continuation token: the position of the next page of a query or a listing. It is valid for the same query or
/// listing only.
///
/// A token does not refer to any state of client or server, so it can be stored as text and used after a restart.
///
/// ```
/// use tablerock_client::ContinuationToken;
///
/// # fn example(token: ContinuationToken) -> Result<(), tablerock_client::Error> {
/// let stored: String = token.to_string();
/// let token: ContinuationToken = stored.parse()?;
/// # Ok(()) }
/// ```
#[doc(alias = "TableContinuationToken")]
#[doc(alias = "cursor")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ContinuationToken {
    /// The text of the service: the next PartitionKey, the next table or the marker of a list.
    pub(crate) first: String,
    /// The next RowKey. The service omits it at the beginning of a partition.
    pub(super) second: Option<String>,
}

impl ContinuationToken {
    /// Returns the token of a list of queues, containers or blobs.
    pub(crate) fn from_marker(marker: String) -> Self {
        Self { first: marker, second: None }
    }
}

impl fmt::Display for ContinuationToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither part has a line break: both are header values, and a marker is one line.
        let joined = match &self.second {
            Some(second) => format!("{}\n{second}", self.first),
            None => self.first.clone(),
        };
        f.write_str(&URL_SAFE_NO_PAD.encode(joined))
    }
}

impl FromStr for ContinuationToken {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let bytes = URL_SAFE_NO_PAD.decode(text.trim()).ok();
        let joined = bytes.and_then(|bytes| String::from_utf8(bytes).ok()).filter(|joined| !joined.is_empty());
        let joined = joined.ok_or_else(|| Error::invalid(format!("{text:?} is not a continuation token")))?;
        Ok(match joined.split_once('\n') {
            Some((first, second)) => Self { first: first.to_owned(), second: Some(second.to_owned()) },
            None => Self { first: joined, second: None },
        })
    }
}

/// Serializes the token as its text.
impl Serialize for ContinuationToken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContinuationToken {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_survives_as_text_and_by_serde() {
        for second in [None, Some(String::new()), Some("1!4!YQ--".to_owned())] {
            let token = ContinuationToken { first: "1!8!YS/iK+c-".to_owned(), second };
            let text = token.to_string();
            assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{text}");
            assert_eq!(text.parse::<ContinuationToken>().unwrap(), token);
            let json = serde_json::to_string(&token).unwrap();
            assert_eq!(serde_json::from_str::<ContinuationToken>(&json).unwrap(), token);
        }
        for text in ["", "?", "_w"] {
            assert!(text.parse::<ContinuationToken>().is_err(), "{text}");
        }
    }
}
