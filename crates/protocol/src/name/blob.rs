//! Names of containers and of the blobs in them.

use std::fmt;

use super::lower_case;
use crate::{ErrorCode, ServiceError, limits};

/// A container's name: 3 to 63 lower-case letters, digits and single hyphens, or one of the service's own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContainerName(String);

impl ContainerName {
    /// The container of blobs that are addressed without one.
    pub const ROOT: &str = "$root";
    /// The container of a static website.
    pub const WEB: &str = "$web";
    /// The container in which Storage Analytics keeps its logs.
    pub const LOGS: &str = "$logs";
    /// The container of the change feed.
    pub const CHANGE_FEED: &str = "$blobchangefeed";

    /// Parses and checks a name.
    pub fn parse(name: &str) -> Result<Self, ServiceError> {
        if ![Self::ROOT, Self::WEB, Self::LOGS, Self::CHANGE_FEED].contains(&name) {
            lower_case::check(name)?;
        }
        Ok(Self(name.to_owned()))
    }

    /// The root container.
    pub fn root() -> Self {
        Self(Self::ROOT.to_owned())
    }

    /// Whether the name is one of the service's own, which begin with `$`.
    pub fn is_special(&self) -> bool {
        self.0.starts_with('$')
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContainerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A blob's name: any text of 1 to 1024 characters with at most 254 segments. Case counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobName(String);

impl BlobName {
    /// Parses and checks a name. A backslash is a slash, as for Windows.
    pub fn parse(name: &str) -> Result<Self, ServiceError> {
        let name = name.replace('\\', "/");
        let fits = limits::BLOB_NAME_CHARS.contains(&name.chars().count());
        if fits && name.split('/').count() <= limits::BLOB_NAME_SEGMENTS_MAX {
            Ok(Self(name))
        } else {
            Err(ErrorCode::OutOfRangeInput.into())
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BlobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_services_own_containers_have_names_that_others_cannot_have() {
        for name in ["$root", "$web", "$logs", "$blobchangefeed"] {
            assert!(ContainerName::parse(name).unwrap().is_special(), "{name}");
        }
        assert!(!ContainerName::parse("logs").unwrap().is_special());
        assert_eq!(ContainerName::parse("$other").unwrap_err().code, ErrorCode::InvalidResourceName);
    }

    #[test]
    fn a_blobs_name_is_bounded_in_characters_and_segments() {
        let parse = |name: &str| BlobName::parse(name).map(|name| name.to_string()).map_err(|error| error.code);
        assert_eq!(parse("é/../ ?%"), Ok("é/../ ?%".to_owned()));
        assert_eq!(parse("a\\b/c"), Ok("a/b/c".to_owned()));
        assert!(parse(&"é".repeat(1024)).is_ok());
        assert_eq!(parse(&"a".repeat(1025)), Err(ErrorCode::OutOfRangeInput));
        assert!(parse(&"/".repeat(253)).is_ok());
        assert_eq!(parse(&"/".repeat(254)), Err(ErrorCode::OutOfRangeInput));
        assert_eq!(parse(""), Err(ErrorCode::OutOfRangeInput));
    }
}
