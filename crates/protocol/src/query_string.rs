//! The query string of a request, decoded once.

use std::borrow::Cow;

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
    /// Parses a query without its question mark.
    pub fn parse(raw: &'a str) -> Result<Self, ServiceError> {
        let mut pairs = Vec::with_capacity(if raw.is_empty() { 0 } else { PAIRS_EXPECTED });
        let mut rest = raw;
        while !rest.is_empty() {
            let end = memchr::memchr(b'&', rest.as_bytes()).unwrap_or(rest.len());
            let part = &rest[..end];
            rest = rest.get(end + 1..).unwrap_or_default();
            if !part.is_empty() {
                let equals = memchr::memchr(b'=', part.as_bytes()).unwrap_or(part.len());
                let (name, value) = (&part[..equals], part.get(equals + 1..).unwrap_or_default());
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

    /// Returns the names and values, decoded, in their order.
    pub fn pairs(&self) -> &[(Cow<'a, str>, Cow<'a, str>)] {
        &self.pairs
    }
}

fn decode(raw: &str) -> Result<Cow<'_, str>, ServiceError> {
    if memchr::memchr2(b'%', b'+', raw.as_bytes()).is_none() {
        return Ok(Cow::Borrowed(raw));
    }
    let mut decoded = Vec::with_capacity(raw.len());
    let mut rest = raw.as_bytes();
    while let Some(place) = memchr::memchr2(b'%', b'+', rest) {
        decoded.extend_from_slice(&rest[..place]);
        let (byte, length) = match &rest[place..] {
            [b'+', ..] => (b' ', 1),
            [_, high, low, ..] => escaped(*high, *low).map_or((b'%', 1), |byte| (byte, 3)),
            _ => (b'%', 1),
        };
        decoded.push(byte);
        rest = &rest[place + length..];
    }
    decoded.extend_from_slice(rest);
    let text = String::from_utf8(decoded).map_err(|_| ErrorCode::RequestUrlFailedToParse)?;
    Ok(Cow::Owned(text))
}

/// The byte that two hexadecimal digits stand for. A percent sign before anything else stands for itself.
fn escaped(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    Some((digit(high)? * 16 + digit(low)?) as u8)
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
    fn what_is_no_escape_stands_for_itself() {
        for (raw, expected) in [
            ("%", "%"),
            ("%4", "%4"),
            ("%zz+%", "%zz %"),
            ("100%+%%41", "100% %A"),
            ("%+1", "% 1"),
            ("%e6%97%a5%C3%A9x", "日éx"),
            ("a%2", "a%2"),
        ] {
            let query = format!("{raw}={raw}");
            assert_eq!(QueryString::parse(&query).unwrap().pairs()[0], (expected.into(), expected.into()), "{raw}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        assert_eq!(QueryString::parse("a=%ff").unwrap_err().code, ErrorCode::RequestUrlFailedToParse);
    }
}
