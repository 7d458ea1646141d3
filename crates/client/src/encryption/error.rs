//! Why something could not be encrypted or decrypted.

use std::fmt;
use std::sync::Arc;

/// Why an entity could not be encrypted or decrypted.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum EncryptionError {
    /// What was asked for cannot be done with encrypted entities.
    #[error("{0}")]
    Refused(String),
    /// Nobody has the key that the entity's content key is wrapped with.
    #[error("no key with the id {0:?} is known")]
    UnknownKey(String),
    /// A key would not wrap or unwrap.
    #[error("the key {id:?} failed")]
    Key {
        /// The key's id.
        id: String,
        /// What it said.
        source: KeyError,
    },
    /// The entity is not encrypted, and only encrypted ones are wanted.
    #[error("the entity is not encrypted")]
    NotEncrypted,
    /// The entity is encrypted in a way that is not ours.
    #[error("{0} is not supported")]
    Unsupported(String),
    /// What is stored does not fit together: another key, other entity keys, or damage.
    #[error("the entity cannot be decrypted: {0}")]
    Damaged(String),
}

/// What a key says when it cannot wrap or unwrap.
#[derive(Debug, Clone)]
pub struct KeyError(Arc<dyn std::error::Error + Send + Sync>);

impl KeyError {
    /// A reason: text, or another error.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(source.into().into())
    }

    pub(super) fn unknown_algorithm(algorithm: &str) -> Self {
        Self::new(format!("it knows no wrapping by {algorithm:?}"))
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

pub(super) fn refused(why: impl Into<String>) -> EncryptionError {
    EncryptionError::Refused(why.into())
}
