//! Where the next page of a query or a listing begins, in a form that can be stored.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Error;

/// A continuation token. It holds no state of either side, so it stays good across restarts of both: as text in a URL,
/// in a database, in a message. The query that it continues has to be the same.
///
/// ```
/// use tablerock_client::Continuation;
///
/// # fn example(token: Continuation) -> Result<(), tablerock_client::Error> {
/// let stored: String = token.to_string();
/// let token: Continuation = stored.parse()?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Continuation {
    /// As the service wrote it: the next PartitionKey, the next table, or the marker of a list.
    pub(crate) first: String,
    /// The next RowKey. The service leaves it out where a partition begins.
    pub(super) second: Option<String>,
}

impl Continuation {
    /// The token of a list of queues, containers or blobs.
    pub(crate) fn from_marker(marker: String) -> Self {
        Self { first: marker, second: None }
    }
}

impl fmt::Display for Continuation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither part can hold a line break: both came in headers, and markers are one line.
        let joined = match &self.second {
            Some(second) => format!("{}\n{second}", self.first),
            None => self.first.clone(),
        };
        f.write_str(&URL_SAFE_NO_PAD.encode(joined))
    }
}

impl FromStr for Continuation {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let bytes = URL_SAFE_NO_PAD.decode(text.trim()).ok();
        let joined = bytes.and_then(|bytes| String::from_utf8(bytes).ok()).filter(|joined| !joined.is_empty());
        let joined = joined.ok_or_else(|| Error::invalid("the text is no continuation token"))?;
        Ok(match joined.split_once('\n') {
            Some((first, second)) => Self { first: first.to_owned(), second: Some(second.to_owned()) },
            None => Self { first: joined, second: None },
        })
    }
}

/// As its text.
impl Serialize for Continuation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Continuation {
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
            let token = Continuation { first: "1!8!YS/iK+c-".to_owned(), second };
            let text = token.to_string();
            assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{text}");
            assert_eq!(text.parse::<Continuation>().unwrap(), token);
            let json = serde_json::to_string(&token).unwrap();
            assert_eq!(serde_json::from_str::<Continuation>(&json).unwrap(), token);
        }
        for text in ["", "?", "_w"] {
            assert!(text.parse::<Continuation>().is_err(), "{text}");
        }
    }
}
