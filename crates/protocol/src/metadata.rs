//! Metadata of queues, containers and blobs: the `x-ms-meta-` headers of a request or a response.

use crate::{ErrorCode, ServiceError, limits};

/// The prefix of metadata headers.
pub const METADATA_PREFIX: &str = "x-ms-meta-";

/// Pairs of name and value in the order in which they were sent. Names keep their case and are compared without it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metadata {
    pairs: Vec<(String, String)>,
}

impl Metadata {
    /// Takes pairs, their names without the prefix, if they are metadata.
    pub fn new(pairs: Vec<(String, String)>) -> Result<Self, ServiceError> {
        let bytes: usize = pairs.iter().map(|(name, value)| name.len() + value.len()).sum();
        if bytes > limits::METADATA_BYTES_MAX {
            return Err(ErrorCode::MetadataTooLarge.into());
        }
        for (place, (name, _)) in pairs.iter().enumerate() {
            check_name(name)?;
            if pairs[..place].iter().any(|(earlier, _)| earlier.eq_ignore_ascii_case(name)) {
                return Err(ErrorCode::InvalidMetadata.into());
            }
        }
        Ok(Self { pairs })
    }

    /// Returns the names and values, in their order.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }

    /// Returns whether there is no metadata.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The value of a name in any case.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Returns whether both are equal: the same names in any case and any order, each with the same value.
    pub fn says_the_same_as(&self, other: &Self) -> bool {
        self.pairs.len() == other.pairs.len()
            && self.pairs.iter().all(|(name, value)| other.value(name) == Some(value.as_str()))
    }
}

/// A name is an identifier of C#, of the characters that a header's name can have.
fn check_name(name: &str) -> Result<(), ServiceError> {
    let Some(first) = name.chars().next() else { return Err(ErrorCode::EmptyMetadataKey.into()) };
    let starts_well = first.is_ascii_alphabetic() || first == '_';
    if starts_well && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        Ok(())
    } else {
        Err(ErrorCode::InvalidMetadata.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(pairs: &[(&str, &str)]) -> Result<Metadata, ErrorCode> {
        let owned = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Metadata::new(owned.collect()).map_err(|error| error.code)
    }

    #[test]
    fn names_keep_their_case_and_are_compared_without_it() {
        let stored = metadata(&[("Color", "Red"), ("_size", "")]).unwrap();
        assert_eq!(stored.pairs()[0].0, "Color");
        assert_eq!(stored.value("COLOR"), Some("Red"));
        assert!(stored.says_the_same_as(&metadata(&[("_SIZE", ""), ("color", "Red")]).unwrap()));
        for other in [&[("Color", "red"), ("_size", "")][..], &[("Color", "Red")], &[("Color", "Red"), ("sized", "")]] {
            assert!(!stored.says_the_same_as(&metadata(other).unwrap()), "{other:?}");
        }
    }

    #[test]
    fn what_is_no_metadata_is_refused() {
        assert_eq!(metadata(&[("", "x")]), Err(ErrorCode::EmptyMetadataKey));
        for name in ["1a", "a-b", "a.b", "a b", "é"] {
            assert_eq!(metadata(&[(name, "x")]), Err(ErrorCode::InvalidMetadata), "{name}");
        }
        assert_eq!(metadata(&[("a", "x"), ("A", "y")]), Err(ErrorCode::InvalidMetadata));
        let long = "v".repeat(limits::METADATA_BYTES_MAX - 1);
        assert!(metadata(&[("a", &long)]).is_ok());
        assert_eq!(metadata(&[("ab", &long)]), Err(ErrorCode::MetadataTooLarge));
    }
}
