//! Rust types as keys.

use tablerock_protocol::Uuid;

use super::EntityError;

/// A type that can be a PartitionKey or a RowKey. Keys are strings, and entities lie in the order of these strings, so
/// numbers are keys only when they are written with leading zeros: their plain form would sort `10` before `9`.
pub trait EntityKey: Sized {
    /// The key as a string.
    fn to_key(&self) -> String;

    /// The value of a key.
    fn from_key(key: String) -> Result<Self, EntityError>;
}

impl EntityKey for String {
    fn to_key(&self) -> String {
        self.clone()
    }

    fn from_key(key: String) -> Result<Self, EntityError> {
        Ok(key)
    }
}

/// In lower case with hyphens.
impl EntityKey for Uuid {
    fn to_key(&self) -> String {
        self.to_string()
    }

    fn from_key(key: String) -> Result<Self, EntityError> {
        Uuid::try_parse(&key).map_err(|_| EntityError::new(format!("{key:?} is no GUID")))
    }
}
