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
    /// Returns the token of a query of entities from the two keys that other SDKs have in theirs. They are the values of
    /// the headers `x-ms-continuation-NextPartitionKey` and `x-ms-continuation-NextRowKey`, not keys of an entity.
    /// Fails if a value is empty or is not the value of a header.
    ///
    /// ```
    /// use tablerock_client::ContinuationToken;
    ///
    /// let token = ContinuationToken::from_next_keys("1!8!U2FsZXM-", Some("1!8!MDAwMDE-"))?;
    /// assert_eq!(token.next_keys(), ("1!8!U2FsZXM-", Some("1!8!MDAwMDE-")));
    /// # Ok::<(), tablerock_client::Error>(())
    /// ```
    #[doc(alias = "NextPartitionKey")]
    #[doc(alias = "NextRowKey")]
    pub fn from_next_keys(next_partition_key: &str, next_row_key: Option<&str>) -> Result<Self, Error> {
        for key in [Some(next_partition_key), next_row_key].into_iter().flatten() {
            if key.is_empty() || key.chars().any(char::is_control) {
                return Err(Error::invalid(format!("{key:?} is not a key of a continuation token")));
            }
        }
        Ok(Self { first: next_partition_key.to_owned(), second: next_row_key.map(str::to_owned) })
    }

    /// Returns the two keys in the token of a query of entities, for another SDK; see
    /// [`from_next_keys`](Self::from_next_keys).
    pub fn next_keys(&self) -> (&str, Option<&str>) {
        (&self.first, self.second.as_deref())
    }

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
    fn keys_that_no_header_has_are_no_token() {
        for (partition, row) in [("", None), ("a\nb", None), ("a", Some("")), ("a", Some("b\r"))] {
            assert!(ContinuationToken::from_next_keys(partition, row).is_err(), "{partition:?} {row:?}");
        }
        let token = ContinuationToken::from_next_keys("a", None).unwrap();
        assert_eq!(token.to_string().parse::<ContinuationToken>().unwrap().next_keys(), ("a", None));
    }

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
