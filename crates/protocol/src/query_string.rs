//! The query string of a request, decoded once.
//!
//! Names have no case. A name that is given more than once has one value: all its values, sorted and joined by commas.
//! Signatures are made from these values and operations read the same ones, so a request means what its signer saw.

use std::borrow::Cow;
use std::fmt;

use crate::{ErrorCode, ServiceError, masking};

/// A SAS has about eight parameters; more is fine.
const PAIRS_EXPECTED: usize = 10;

/// Up to this number, names are compared with each other without memory of their own.
const PAIRS_COMPARED_MAX: usize = 16;

/// Name and value pairs in the order sent, both decoded: `%xx` as UTF-8, and `+` as a space, since some clients
/// form-encode the whole query.
#[derive(Clone, Default)]
pub struct QueryString<'a> {
    pairs: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// The names that are given more than once, in lower case, with their joined values. Hardly any request has one.
    repeated: Vec<(String, String)>,
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
        let mut query = Self { pairs, repeated: Vec::new() };
        if query.may_repeat_names() {
            query.repeated = query.repeated_parameters();
        }
        Ok(query)
    }

    /// The value of a parameter. An empty one counts as absent: some clients send `$filter=`.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.raw_value(name).filter(|value| !value.is_empty())
    }

    /// The value of a parameter, empty ones included.
    pub fn raw_value(&self, name: &str) -> Option<&str> {
        if let Some((_, joined)) = self.repeated.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)) {
            return Some(joined);
        }
        self.pairs.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_ref())
    }

    /// The value of a parameter whose values are keywords without case, such as `comp`: in lower case.
    pub fn keyword(&self, name: &str) -> Option<Cow<'_, str>> {
        self.value(name).map(lower_case)
    }

    /// Returns the names and values, decoded, in their order.
    pub fn pairs(&self) -> &[(Cow<'a, str>, Cow<'a, str>)] {
        &self.pairs
    }

    /// Each parameter once, as it is signed: its name in lower case and its value, in the order of the names.
    pub fn parameters(&self) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
        let mut sorted: Vec<(Cow<'_, str>, Cow<'_, str>)> =
            self.pairs.iter().map(|(name, value)| (lower_case(name), Cow::Borrowed(value.as_ref()))).collect();
        sorted.sort();
        sorted.dedup_by(|(name, value), (kept_name, kept_value)| {
            let is_repeated = name == kept_name;
            if is_repeated {
                let joined = kept_value.to_mut();
                joined.push(',');
                joined.push_str(value);
            }
            is_repeated
        });
        sorted
    }

    /// Whether a name occurs twice, or whether there are too many names to compare each with each.
    fn may_repeat_names(&self) -> bool {
        let repeats = |(index, (name, _)): (usize, &(Cow<'_, str>, Cow<'_, str>))| {
            self.pairs[..index].iter().any(|(before, _)| before.eq_ignore_ascii_case(name))
        };
        self.pairs.len() > PAIRS_COMPARED_MAX || self.pairs.iter().enumerate().any(repeats)
    }

    fn repeated_parameters(&self) -> Vec<(String, String)> {
        // Of the parameters, only joined values are owned.
        let joined = self.parameters().into_iter().filter(|(_, value)| matches!(value, Cow::Owned(_)));
        joined.map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
    }
}

/// Shows everything but the signature of a SAS, which is a credential.
impl fmt::Debug for QueryString<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.pairs.iter().map(|(name, value)| (name, masking::mask_value(name, value)))).finish()
    }
}

/// Text with ASCII letters in lower case. Other letters stay: `\u{212a}`, the sign of Kelvin, is not a k.
fn lower_case(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

/// Decodes a name or a value.
pub(crate) fn decode(raw: &str) -> Result<Cow<'_, str>, ServiceError> {
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
    fn names_have_no_case_however_they_are_encoded() {
        let query = QueryString::parse("Snapshot=1&%50eekOnly=True&$Filter=x&COMP=List").unwrap();
        assert_eq!(query.value("snapshot"), Some("1"));
        assert_eq!(query.value("peekonly"), Some("True"));
        assert_eq!(query.value("$filter"), Some("x"));
        assert_eq!(query.keyword("comp").as_deref(), Some("list"));
        assert_eq!(QueryString::parse("bloc\u{212a}id=1").unwrap().value("blockid"), None);
    }

    #[test]
    fn a_repeated_name_is_read_as_it_is_signed() {
        let query = QueryString::parse("snapshot=b&a=1&SNAPSHOT=a&%73napshot=c").unwrap();
        assert_eq!(query.value("Snapshot"), Some("a,b,c"));
        assert_eq!(query.value("a"), Some("1"));
        assert_eq!(query.parameters(), [("a".into(), "1".into()), ("snapshot".into(), "a,b,c".into())]);
        let many: String = (0..40).map(|number| format!("p{}={number}&", number % 39)).collect();
        assert_eq!(QueryString::parse(&many).unwrap().value("P0"), Some("0,39"));
    }

    #[test]
    fn a_signature_is_not_shown_for_debugging() {
        let query = QueryString::parse("sp=r&%53ig=secret&x=1").unwrap();
        assert_eq!(format!("{query:?}"), r#"{"sp": "r", "Sig": "XXXXX", "x": "1"}"#);
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
