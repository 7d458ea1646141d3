//! The six headers that describe a blob's content, which are set and replaced together.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Md5;
use crate::{ErrorCode, ServiceError};

/// The default of blobs.
pub const CONTENT_TYPE_DEFAULT: &str = "application/octet-stream";

/// The content headers of a blob. An empty text is not set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentHeaders {
    /// `Content-Type`.
    pub content_type: ContentType,
    /// `Content-Encoding`.
    pub encoding: String,
    /// `Content-Language`.
    pub language: String,
    /// `Content-Disposition`.
    pub disposition: String,
    /// `Cache-Control`.
    pub cache_control: String,
    /// The MD5 that belongs to the content, as its writer gave it or as it was computed; never checked again.
    pub md5: Option<ContentMd5>,
}

/// The type of a blob's content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ContentType {
    /// The writer gave none, so it is [`CONTENT_TYPE_DEFAULT`].
    #[default]
    Default,
    /// Set Blob Properties took it away.
    Cleared,
    /// The type that the writer gave.
    Given(String),
}

/// How a record has a type that was taken away. No header has this text.
const CLEARED: &str = "\0";

impl ContentType {
    /// Returns the type of a new blob, for which none may be given.
    pub fn of_new(given: Option<&str>) -> Self {
        given.map_or(Self::Default, |given| Self::Given(given.to_owned()))
    }

    /// Returns the type that responses show, if there is one.
    pub fn shown(&self) -> Option<&str> {
        match self {
            Self::Default => Some(CONTENT_TYPE_DEFAULT),
            Self::Cleared => None,
            Self::Given(given) => Some(given),
        }
    }

    /// Returns the text of the record: empty for the default.
    pub fn stored(&self) -> &str {
        match self {
            Self::Default => "",
            Self::Cleared => CLEARED,
            Self::Given(given) => given,
        }
    }

    /// Reads the text of a record.
    pub fn from_stored(text: String) -> Self {
        match text.as_str() {
            "" => Self::Default,
            CLEARED => Self::Cleared,
            _ => Self::Given(text),
        }
    }
}

/// The MD5 of a blob's content as a writer may have stated it: any bytes, of which the service checks nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentMd5 {
    /// Sixteen bytes.
    Hash(Md5),
    /// Any other number of them.
    Other(Box<[u8]>),
}

impl ContentMd5 {
    /// Parses the header, which has Base64.
    pub fn parse(header: &str) -> Result<Self, ServiceError> {
        let bytes = STANDARD.decode(header.trim()).map_err(|_| ErrorCode::InvalidMd5)?;
        Ok(Self::from_bytes(&bytes))
    }

    /// Takes the bytes of a record.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        bytes.try_into().map_or_else(|_| Self::Other(bytes.into()), |hash| Self::Hash(Md5(hash)))
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Hash(md5) => &md5.0,
            Self::Other(bytes) => bytes,
        }
    }

    /// Returns the bytes as Base64.
    pub fn to_base64(&self) -> String {
        STANDARD.encode(self.as_bytes())
    }
}

impl From<Md5> for ContentMd5 {
    fn from(md5: Md5) -> Self {
        Self::Hash(md5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_come_back_from_their_records() {
        for content_type in [ContentType::Default, ContentType::Cleared, ContentType::Given("text/plain".to_owned())] {
            assert_eq!(ContentType::from_stored(content_type.stored().to_owned()), content_type);
        }
        assert_eq!(ContentType::of_new(None).shown(), Some(CONTENT_TYPE_DEFAULT));
        assert_eq!(ContentType::Cleared.shown(), None);
    }

    #[test]
    fn any_base64_may_be_stated_as_an_md5() {
        for text in ["XUFAKrxLKna5cZ2REBfFkg==", "MDAwMDAwMDA=", "AA=="] {
            assert_eq!(ContentMd5::parse(text).unwrap().to_base64(), text);
        }
        assert_eq!(ContentMd5::parse("!").unwrap_err().code, ErrorCode::InvalidMd5);
    }
}
