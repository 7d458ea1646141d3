//! The query string of a request, decoded once.

use std::borrow::Cow;

use percent_encoding::percent_decode;

use crate::{ErrorCode, ServiceError};

/// A SAS has about eight parameters; more is fine.
const PAIRS_EXPECTED: usize = 10;

/// Name and value pairs in the order sent, both decoded: `%xx` as UTF-8, and `+` as a space, since some clients
/// form-encode the whole query.
#[derive(Debug, Clone, Default)]
pub struct QueryString<'a> {
    pairs: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> QueryString<'a> {
    pub fn parse(raw: &'a str) -> Result<Self, ServiceError> {
        let mut pairs = Vec::with_capacity(if raw.is_empty() { 0 } else { PAIRS_EXPECTED });
        let mut rest = raw;
        while !rest.is_empty() {
            let end = memchr::memchr(b'&', rest.as_bytes()).unwrap_or(rest.len());
            let part = &rest[..end];
            rest = rest.get(end + 1..).unwrap_or_default();
            if !part.is_empty() {
                let (name, value) = part.split_once('=').unwrap_or((part, ""));
                pairs.push((decode(name)?, decode(value)?));
            }
        }
        Ok(Self { pairs })
    }

    /// The first value of a parameter. An empty one counts as absent: some clients send `$filter=`.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.raw_value(name).filter(|value| !value.is_empty())
    }

    /// The first value of a parameter, empty ones included.
    pub fn raw_value(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_ref())
    }

    pub fn pairs(&self) -> &[(Cow<'a, str>, Cow<'a, str>)] {
        &self.pairs
    }
}

fn decode(raw: &str) -> Result<Cow<'_, str>, ServiceError> {
    if memchr::memchr2(b'%', b'+', raw.as_bytes()).is_none() {
        return Ok(Cow::Borrowed(raw));
    }
    let spaced = raw.replace('+', " ");
    let text = percent_decode(spaced.as_bytes()).decode_utf8();
    Ok(Cow::Owned(text.map_err(|_| ErrorCode::RequestUrlFailedToParse)?.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_decoded() {
        let query = QueryString::parse("%24filter=PartitionKey+eq+%27a%2Bb%27&$top=5&$select=&comp").unwrap();
        assert_eq!(query.value("$filter"), Some("PartitionKey eq 'a+b'"));
        assert_eq!(query.value("$top"), Some("5"));
        assert_eq!(query.value("$select"), None);
        assert_eq!(query.raw_value("comp"), Some(""));
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        assert_eq!(QueryString::parse("a=%ff").unwrap_err().code, ErrorCode::RequestUrlFailedToParse);
    }
}
