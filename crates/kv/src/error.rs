//! Errors of engines. Each kind asks for one reaction; detail goes in the message and the source.

use std::sync::Arc;

/// The result of an engine's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reaction a failure asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Another commit came first: read again and retry.
    Conflict,
    /// Temporary: retry later, or after the remedy in the message.
    Unavailable,
    /// The call is wrong and must be fixed.
    Invalid,
    /// A partition and key are longer than this engine can store: report it to the client.
    TooLong,
    /// Stored data is not what was written: stop.
    Corrupt,
    /// A bug of ours.
    Internal,
}

/// An error, with the reaction it asks for. Cheap to clone, because one failed sync fails many commits.
///
/// ```
/// use tablerock_kv::{Error, ErrorKind};
///
/// let error = Error::unavailable("the disk is full").with_source(std::io::Error::other("no space left"));
/// assert_eq!(error.kind(), ErrorKind::Unavailable);
/// assert_eq!(error.to_string(), "the disk is full");
/// ```
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: Arc<str>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Returns an error of some kind.
    pub fn new(kind: ErrorKind, message: impl Into<Arc<str>>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// Returns an error of kind [`Conflict`](ErrorKind::Conflict).
    pub fn conflict(message: impl Into<Arc<str>>) -> Self {
        Self::new(ErrorKind::Conflict, message)
    }

    /// Returns an error of kind [`Unavailable`](ErrorKind::Unavailable).
    pub fn unavailable(message: impl Into<Arc<str>>) -> Self {
        Self::new(ErrorKind::Unavailable, message)
    }

    /// Returns an error of kind [`Invalid`](ErrorKind::Invalid).
    pub fn invalid(message: impl Into<Arc<str>>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// Returns an error of kind [`Corrupt`](ErrorKind::Corrupt).
    pub fn corrupt(message: impl Into<Arc<str>>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// Returns an error of kind [`Internal`](ErrorKind::Internal).
    pub fn internal(message: impl Into<Arc<str>>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// Adds the cause of the error.
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// Returns the source if it is an `E`, for engines whose sources are types of their own.
    pub fn source_as<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.source.as_deref()?.downcast_ref()
    }

    /// Returns the kind.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the message.
    pub fn message(&self) -> &str {
        &self.message
    }
}
