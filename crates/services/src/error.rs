//! The errors of services, and their conversion from errors of the store and to errors of the protocol.

use tablerock_kv as kv;
use tablerock_protocol::{ErrorCode, ServiceError};

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why an operation failed: a rule of the service, or the store.
#[derive(Debug)]
pub enum Error {
    Refused(ServiceError),
    Store(kv::Error),
}

impl Error {
    /// Adds the index of the failing operation of a group to a rule's error.
    #[must_use]
    pub fn at_index(self, index: usize) -> Self {
        match self {
            Self::Refused(error) => Self::Refused(error.at_index(index)),
            store => store,
        }
    }

    /// Returns the error for the client. A store that may recover makes the server busy; any other error of the store is
    /// internal, and its details are logged.
    pub fn into_service_error(self) -> ServiceError {
        match self {
            Self::Refused(error) => error,
            Self::Store(error) => {
                let code = match error.kind() {
                    kv::ErrorKind::Conflict | kv::ErrorKind::Unavailable => {
                        tracing::warn!(%error, "store unavailable");
                        ErrorCode::ServerBusy
                    }
                    // Not every engine takes all keys that the service allows. A retry does not help.
                    kv::ErrorKind::TooLong => ErrorCode::KeyValueTooLarge,
                    kv::ErrorKind::Invalid | kv::ErrorKind::Corrupt | kv::ErrorKind::Internal => {
                        tracing::error!(%error, "store failed");
                        ErrorCode::InternalError
                    }
                };
                ServiceError::new(code).because(error.to_string())
            }
        }
    }
}

impl From<Error> for ServiceError {
    fn from(error: Error) -> Self {
        error.into_service_error()
    }
}

impl From<ServiceError> for Error {
    fn from(error: ServiceError) -> Self {
        Self::Refused(error)
    }
}

impl From<ErrorCode> for Error {
    fn from(code: ErrorCode) -> Self {
        Self::Refused(code.into())
    }
}

impl From<kv::Error> for Error {
    fn from(error: kv::Error) -> Self {
        Self::Store(error)
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}
