//! ETags: the Timestamp in other clothes.

use percent_encoding::percent_decode_str;

use crate::{DateTime, ErrorCode, ServiceError};

/// The ETag of a version written at `timestamp`: `W/"datetime'2020-09-15T23%3A02%3A09.1767714Z'"`.
pub fn etag(timestamp: DateTime) -> String {
    let mut text = Vec::with_capacity(48);
    append_etag(&mut text, timestamp, b"\"");
    String::from_utf8(text).expect("an ETag is ASCII")
}

/// Appends the ETag with the given spelling of its quotes, which JSON has to escape.
pub fn append_etag(out: &mut Vec<u8>, timestamp: DateTime, quote: &[u8]) {
    out.extend_from_slice(b"W/");
    out.extend_from_slice(quote);
    out.extend_from_slice(b"datetime'");
    timestamp.append_trimmed(out, b"%3A");
    out.push(b'\'');
    out.extend_from_slice(quote);
}

/// The condition of an `If-Match` header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EtagCondition {
    /// `*`: any version will do.
    Any,
    /// Exactly the version of this Timestamp.
    Version(DateTime),
    /// A well-formed tag that none of our versions ever had.
    Foreign,
}

impl EtagCondition {
    /// Reads a header value. A weak tag of any content is a condition; anything else is an error.
    pub fn parse(header: &str) -> Result<Self, ServiceError> {
        let header = header.trim();
        if header == "*" {
            return Ok(Self::Any);
        }
        let inner = header.strip_prefix("W/\"").and_then(|rest| rest.strip_suffix('"'));
        match inner {
            Some(inner) if !inner.contains('"') => Ok(Self::from_opaque(inner)),
            _ => Err(ServiceError::with_message(
                ErrorCode::InvalidInput,
                format!(
                    "The etag value '{header}' specified in one of the request headers is not valid. Please make \
                     sure only one etag value is specified and is valid."
                ),
            )),
        }
    }

    /// Clients rebuild tags from Timestamps, with or without `%3A` for the colons.
    fn from_opaque(inner: &str) -> Self {
        let decoded = percent_decode_str(inner).decode_utf8_lossy();
        let date = decoded.strip_prefix("datetime'").and_then(|rest| rest.strip_suffix('\''));
        match date.map(DateTime::parse) {
            Some(Ok(timestamp)) => Self::Version(timestamp),
            _ => Self::Foreign,
        }
    }

    /// Returns whether an entity with this timestamp satisfies the condition.
    pub fn admits(self, current: DateTime) -> bool {
        match self {
            Self::Any => true,
            Self::Version(wanted) => wanted == current,
            Self::Foreign => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_matches_the_version_it_was_made_from() {
        let timestamp = DateTime::parse("2020-09-15T23:02:09.1767714Z").unwrap();
        let tag = etag(timestamp);
        assert_eq!(tag, "W/\"datetime'2020-09-15T23%3A02%3A09.1767714Z'\"");
        assert_eq!(EtagCondition::parse(&tag), Ok(EtagCondition::Version(timestamp)));
        let unencoded = "W/\"datetime'2020-09-15T23:02:09.1767714Z'\"";
        assert!(EtagCondition::parse(unencoded).unwrap().admits(timestamp));
        assert!(!EtagCondition::parse("W/\"wrong\"").unwrap().admits(timestamp));
    }

    #[test]
    fn what_is_no_single_weak_tag_is_an_error() {
        for header in ["", "wrong", "\"strong\"", "W/\"a\", W/\"b\"", "W/unquoted"] {
            assert_eq!(EtagCondition::parse(header).unwrap_err().code, ErrorCode::InvalidInput, "{header}");
        }
    }
}
