//! Index tags of a blob.

use percent_encoding::percent_decode_str;

use crate::{ErrorCode, ServiceError};

const TAGS_MAX: usize = 10;
pub(super) const KEY_CHARS_MAX: usize = 128;
pub(super) const VALUE_CHARS_MAX: usize = 256;

/// Up to ten pairs, in the order in which they came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tags {
    pairs: Vec<(String, String)>,
}

impl Tags {
    /// Takes pairs if they are tags.
    pub fn new(pairs: Vec<(String, String)>) -> Result<Self, ServiceError> {
        if pairs.len() > TAGS_MAX {
            return Err(ErrorCode::TagsTooLarge.into());
        }
        for (place, (key, value)) in pairs.iter().enumerate() {
            if key.is_empty() {
                return Err(ErrorCode::EmptyTagName.into());
            }
            if pairs[..place].iter().any(|(earlier, _)| earlier == key) {
                return Err(ErrorCode::DuplicateTagNames.into());
            }
            if key.chars().count() > KEY_CHARS_MAX || value.chars().count() > VALUE_CHARS_MAX {
                return Err(ErrorCode::TagsTooLarge.into());
            }
            if !key.chars().chain(value.chars()).all(is_tag_char) {
                return Err(ErrorCode::InvalidTag.into());
            }
        }
        Ok(Self { pairs })
    }

    /// Reads `x-ms-tags`, which has the form of a query string.
    pub fn parse_header(header: &str) -> Result<Self, ServiceError> {
        let decode = |text: &str| {
            let spaced = text.replace('+', " ");
            percent_decode_str(&spaced).decode_utf8().map(|text| text.into_owned()).map_err(|_| ErrorCode::InvalidTag)
        };
        let mut pairs = Vec::new();
        for pair in header.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            pairs.push((decode(key)?, decode(value)?));
        }
        Self::new(pairs)
    }

    /// Returns the tags, in their order.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }

    /// Returns whether there are no tags.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Returns the value of a tag.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

pub(super) fn is_tag_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, ' ' | '+' | '-' | '.' | '/' | ':' | '=' | '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_like_a_query_string() {
        let tags = Tags::parse_header("a=1&b%20c=x%2By+z&d=").unwrap();
        assert_eq!(tags.value("b c"), Some("x+y z"));
        assert_eq!(tags.value("d"), Some(""));
        assert_eq!(Tags::parse_header("").unwrap(), Tags::default());
    }

    #[test]
    fn what_the_service_does_not_take_is_refused() {
        let code = |header: &str| Tags::parse_header(header).unwrap_err().code;
        assert_eq!(code("=1"), ErrorCode::EmptyTagName);
        assert_eq!(code("a=1&a=2"), ErrorCode::DuplicateTagNames);
        assert_eq!(code("a=%C3%A9"), ErrorCode::InvalidTag);
        assert_eq!(code(&(0..11).map(|n| format!("k{n}=v&")).collect::<String>()), ErrorCode::TagsTooLarge);
    }
}
