//! `x-ms-meta-*`: names and values that a user keeps with a container or blob.

use crate::{ErrorCode, ServiceError};

/// All names and values together.
pub const METADATA_BYTES_MAX: usize = 8 * 1024;

/// Pairs in the order in which they came. Names are C# identifiers, unique without regard to case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    pairs: Vec<(String, String)>,
}

impl Metadata {
    /// Takes pairs if they are metadata.
    pub fn new(pairs: Vec<(String, String)>) -> Result<Self, ServiceError> {
        let bytes: usize = pairs.iter().map(|(name, value)| name.len() + value.len()).sum();
        if bytes > METADATA_BYTES_MAX {
            return Err(ErrorCode::MetadataTooLarge.into());
        }
        for (place, (name, _)) in pairs.iter().enumerate() {
            let is_repeated = pairs[..place].iter().any(|(earlier, _)| earlier.eq_ignore_ascii_case(name));
            if name.is_empty() {
                return Err(ErrorCode::EmptyMetadataKey.into());
            }
            if is_repeated || !is_identifier(name) {
                return Err(ErrorCode::InvalidMetadata.into());
            }
        }
        Ok(Self { pairs })
    }

    pub fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(pairs: &[(&str, &str)]) -> Option<ErrorCode> {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Metadata::new(pairs).err().map(|error| error.code)
    }

    #[test]
    fn names_are_identifiers_and_unique_in_any_case() {
        assert_eq!(code(&[("hello", "world"), ("_1", "")]), None);
        assert_eq!(code(&[("", "x")]), Some(ErrorCode::EmptyMetadataKey));
        for wrong in ["1a", "a-b", "a b", "é"] {
            assert_eq!(code(&[(wrong, "x")]), Some(ErrorCode::InvalidMetadata), "{wrong}");
        }
        assert_eq!(code(&[("a", "x"), ("A", "y")]), Some(ErrorCode::InvalidMetadata));
        assert_eq!(code(&[("a", &"x".repeat(METADATA_BYTES_MAX))]), Some(ErrorCode::MetadataTooLarge));
    }
}
