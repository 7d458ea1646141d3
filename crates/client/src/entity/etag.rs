//! ETags: which version of an entity.

use std::fmt;

/// Names one version of an entity. Every write gives the entity another one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Etag(String);

impl Etag {
    /// The tag as the service writes it: `W/"datetime'…'"`.
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
