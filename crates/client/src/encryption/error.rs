//! Errors of encryption and decryption.

use std::fmt;
use std::sync::Arc;

/// The error of encrypting or decrypting an entity.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum EncryptionError {
    /// Encrypted entities do not allow the operation.
    #[error("{0}")]
    NotAllowed(String),
    /// The client does not have the key that wraps the entity's content key.
    #[error("the key {0:?} is unknown: add it to the key resolver")]
    UnknownKey(String),
    /// A key could not wrap or unwrap a content key.
    #[error("the key {id:?} failed")]
    Key {
        /// The key's id.
        id: String,
        /// The error of the key.
        source: KeyError,
    },
    /// The entity is not encrypted, but the policy requires it.
    #[error("the entity is not encrypted")]
    NotEncrypted,
    /// The entity is encrypted with another protocol or algorithm.
    #[error("{0} is not supported")]
    Unsupported(String),
    /// The stored data is inconsistent: it is damaged, or was copied from an entity with other keys.
    #[error("the entity cannot be decrypted: {0}")]
    Damaged(String),
}

/// The error of a key that cannot wrap or unwrap.
#[derive(Debug, Clone)]
pub struct KeyError(Arc<dyn std::error::Error + Send + Sync>);

impl KeyError {
    /// Returns an error with a message or a source.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(source.into().into())
    }

    pub(super) fn unknown_algorithm(algorithm: &str) -> Self {
        Self::new(format!("it does not support the algorithm {algorithm:?}"))
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for KeyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

pub(super) fn damaged(why: impl Into<String>) -> EncryptionError {
    EncryptionError::Damaged(why.into())
}

pub(super) fn not_allowed(why: impl Into<String>) -> EncryptionError {
    EncryptionError::NotAllowed(why.into())
}
