//! The resource that a path of the Blob service addresses.

use super::decode;
use crate::{BlobName, ContainerName, ErrorCode, ServiceError};

/// A resource of the Blob service. The query selects snapshots and versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlobResource {
    /// The service root: the list of containers, properties and stats.
    Service,
    /// `/c`.
    Container {
        /// The container.
        container: ContainerName,
    },
    /// `/c/b`, or `/b` for a blob of the root container.
    Blob {
        /// The container.
        container: ContainerName,
        /// The blob.
        blob: BlobName,
    },
}

impl BlobResource {
    /// Reads the path below the account's root, still percent-encoded. Everything behind the container's slash is
    /// the blob's name, more slashes included. A single segment is a container if the request has a `restype`, and
    /// a blob of the root container if not.
    pub fn parse(raw_path: &str, has_restype: bool) -> Result<Self, ServiceError> {
        let path = raw_path.trim_start_matches('/');
        if path.is_empty() {
            return Ok(Self::Service);
        }
        match path.split_once('/') {
            Some((container, blob)) if !blob.is_empty() => {
                let container = ContainerName::parse(&decode(container)?)?;
                let blob = BlobName::parse(&decode(blob)?)?;
                // A blob of the root container is addressed without it, so a slash in its name would name a container.
                if container.as_str() == ContainerName::ROOT && blob.as_str().contains('/') {
                    return Err(ErrorCode::InvalidResourceName.into());
                }
                Ok(Self::Blob { container, blob })
            }
            Some((container, _)) => Ok(Self::Container { container: ContainerName::parse(&decode(container)?)? }),
            None if has_restype => Ok(Self::Container { container: ContainerName::parse(&decode(path)?)? }),
            None => Ok(Self::Blob { container: ContainerName::root(), blob: BlobName::parse(&decode(path)?)? }),
        }
    }

    /// Returns the container, if one is addressed.
    pub fn container(&self) -> Option<&ContainerName> {
        match self {
            Self::Service => None,
            Self::Container { container } | Self::Blob { container, .. } => Some(container),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blob(path: &str) -> (String, String) {
        match BlobResource::parse(path, false) {
            Ok(BlobResource::Blob { container, blob }) => (container.to_string(), blob.to_string()),
            other => panic!("{path}: {other:?}"),
        }
    }

    #[test]
    fn a_blobs_name_is_all_that_follows_the_container() {
        for (path, container, name) in [
            ("/photos/a", "photos", "a"),
            ("/photos/a/b.txt", "photos", "a/b.txt"),
            ("/photos//a//b/", "photos", "/a//b/"),
            ("/photos/../x", "photos", "../x"),
            ("/photos/%C3%A9%20%2Fz+%3F", "photos", "é /z+?"),
            ("/$web/index.html", "$web", "index.html"),
            ("/%24logs/table/1.log", "$logs", "table/1.log"),
            ("/A.txt", "$root", "A.txt"),
        ] {
            assert_eq!(blob(path), (container.to_owned(), name.to_owned()), "{path}");
        }
    }

    #[test]
    fn a_restype_makes_a_container_of_one_segment() {
        let container = BlobResource::Container { container: ContainerName::parse("photos").unwrap() };
        assert_eq!(BlobResource::parse("/photos", true), Ok(container.clone()));
        assert_eq!(BlobResource::parse("//photos/", true), Ok(container.clone()));
        assert_eq!(BlobResource::parse("/photos/", false), Ok(container));
        assert_eq!(BlobResource::parse("/", true), Ok(BlobResource::Service));
    }

    #[test]
    fn names_that_are_none_are_refused() {
        for (path, has_restype, code) in [
            ("/Photos/a", false, ErrorCode::InvalidResourceName),
            ("/ab", true, ErrorCode::OutOfRangeInput),
            ("/$root/a/b", false, ErrorCode::InvalidResourceName),
            ("/photos/%ff", false, ErrorCode::RequestUrlFailedToParse),
        ] {
            assert_eq!(BlobResource::parse(path, has_restype).unwrap_err().code, code, "{path}");
        }
    }
}
