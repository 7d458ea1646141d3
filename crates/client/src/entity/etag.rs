//! ETags of entities and blobs.

use std::fmt;

/// An ETag, which identifies a version of an entity or a blob. Every write changes it.
#[doc(alias = "ETag")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Etag(String);

impl Etag {
    /// Returns the text of the service, such as `W/"datetime'…'"`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for Etag {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Etag {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Display for Etag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
