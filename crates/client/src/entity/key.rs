//! Rust types of keys.

use tablerock_protocol::Uuid;

use super::EntityError;

/// A Rust type that can be a PartitionKey or a RowKey. Keys sort as strings, so numbers do not implement it: without
/// leading zeros, `10` sorts before `9`.
pub trait EntityKey: Sized {
    /// Converts to a key.
    fn to_key(&self) -> String;

    /// Converts from a key.
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

/// Formats the GUID in lower case with hyphens.
impl EntityKey for Uuid {
    fn to_key(&self) -> String {
        self.to_string()
    }

    fn from_key(key: String) -> Result<Self, EntityError> {
        Uuid::try_parse(&key).map_err(|_| EntityError::new(format!("{key:?} is not a GUID")))
    }
}
