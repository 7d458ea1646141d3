//! The error type of all calls.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tablerock_protocol::signing::SasTermsError;
use tablerock_protocol::{ErrorCode, ServiceError};

use crate::entity::EntityError;
use crate::pipeline::transient;
use crate::transport::TransportError;

/// The result of a call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a call. It is cheap to clone, so that all entities of a failed group can share it.
///
/// ```
/// use tablerock_client::{Error, ErrorCode};
///
/// fn describe(error: &Error) -> &'static str {
///     match error.code() {
///         Some(ErrorCode::EntityAlreadyExists) => "the entity already exists",
///         Some(ErrorCode::UpdateConditionNotSatisfied) => "the entity has changed since it was read",
///         _ if error.is_not_found() => "the entity or its table does not exist",
///         _ => "something else",
///     }
/// }
/// ```
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The service returned an error.
    #[error(transparent)]
    Service(Arc<ServiceFailure>),
    /// One operation of a group transaction failed, so the service applied none of the group.
    #[error("operation {} of the transaction failed: {}", .0.index, .0.cause)]
    Transaction(Arc<TransactionFailure>),
    /// The client rejected an operation of a group transaction, and sent none of the group.
    #[error("operation {index} of the transaction was not sent: {source}")]
    InvalidOperation {
        /// The index of the operation in the transaction, from zero.
        index: usize,
        /// The reason: an invalid request, a conversion or an encryption that failed.
        source: Arc<Error>,
    },
    /// No response arrived: the connection failed in every attempt.
    #[error("no response from the service after {attempts} attempts")]
    Transport {
        /// The number of attempts.
        attempts: u32,
        /// The error of the last attempt.
        source: TransportError,
        /// The service may have applied an earlier attempt. See [`Error::is_ambiguous`].
        after_lost_response: bool,
    },
    /// The call timed out.
    #[error("{}", limit.describe(*timeout, *attempts))]
    #[non_exhaustive]
    Timeout {
        /// The limit that was reached.
        limit: TimeoutLimit,
        /// The value of the limit.
        timeout: Duration,
        /// The number of attempts.
        attempts: u32,
        /// The service may have applied an earlier attempt. See [`Error::is_ambiguous`].
        after_lost_response: bool,
    },
    /// The token credential returned no access token.
    #[error("the token credential returned no access token")]
    Token {
        /// The error of the token credential.
        source: Arc<dyn std::error::Error + Send + Sync>,
        /// The service may have applied an earlier attempt. See [`Error::is_ambiguous`].
        after_lost_response: bool,
    },
    /// The response does not conform to the protocol.
    #[error("the response is invalid: {0}")]
    InvalidResponse(String),
    /// The service accepted a write, but its response is invalid. A read shows whether the write was applied.
    #[error("the write may have been applied, but its response is invalid")]
    Unconfirmed(#[source] Arc<Error>),
    /// An entity could not be converted from or to its Rust type.
    #[error(transparent)]
    Entity(#[from] EntityError),
    /// An entity could not be encrypted or decrypted.
    #[cfg(feature = "encryption")]
    #[error(transparent)]
    Encryption(#[from] crate::encryption::EncryptionError),
    /// The request is invalid and was not sent.
    #[error("{0}")]
    Invalid(String),
}

/// The limit that a call with [`Error::Timeout`] reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeoutLimit {
    /// The timeout of the call with all its attempts: that of the call, or [`ClientOptions::timeout`].
    ///
    /// [`ClientOptions::timeout`]: crate::ClientOptions::timeout
    Call,
    /// The timeout of each attempt, [`ClientOptions::attempt_timeout`], in the last of all attempts.
    ///
    /// [`ClientOptions::attempt_timeout`]: crate::ClientOptions::attempt_timeout
    Attempt,
    /// All [`ClientOptions::connections_max`] connections were in use until the timeout.
    ///
    /// [`ClientOptions::connections_max`]: crate::ClientOptions::connections_max
    Connections,
}

impl TimeoutLimit {
    fn describe(self, timeout: Duration, attempts: u32) -> String {
        match self {
            Self::Call => format!("no response within {timeout:?}, the timeout of the call, in {attempts} attempts"),
            Self::Attempt => {
                format!("no response within {timeout:?}, the timeout of an attempt, in the last of {attempts} attempts")
            }
            Self::Connections => {
                format!("no connection was free within {timeout:?}: make fewer calls at once, or raise connections_max")
            }
        }
    }
}

/// An error response of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServiceFailure {
    /// The HTTP status.
    pub status: u16,
    /// The error code as text; empty if the response has none. See also [`Error::code`].
    pub code: String,
    /// The service's message.
    pub message: String,
    /// The id of the request in the service's logs.
    pub request_id: Option<String>,
    /// The client's id of the request, for both logs.
    pub client_request_id: String,
    /// The number of attempts.
    pub attempts: u32,
    /// The service may have applied an earlier attempt whose response was lost. See [`Error::is_ambiguous`].
    pub after_lost_response: bool,
}

/// The operation that failed a group transaction.
#[doc(alias = "TableTransactionFailedException")]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransactionFailure {
    /// The index of the operation in the transaction, from zero.
    pub index: usize,
    /// The error of the operation.
    pub cause: ServiceFailure,
}

impl Error {
    /// Returns the error response, of a single call or of an operation in a transaction.
    pub fn service_failure(&self) -> Option<&ServiceFailure> {
        match self {
            Self::Service(failure) => Some(failure),
            Self::Transaction(failure) => Some(&failure.cause),
            _ => None,
        }
    }

    /// Returns the error code, if the client knows it. [`ServiceFailure::code`] has any code as text.
    pub fn code(&self) -> Option<ErrorCode> {
        self.service_failure().and_then(|failure| ErrorCode::from_name(&failure.code))
    }

    /// Returns the HTTP status of the error response.
    pub fn status(&self) -> Option<u16> {
        self.service_failure().map(|failure| failure.status)
    }

    /// Returns the index of the operation that failed a transaction, from zero: by the service, or by the client before
    /// it sent the transaction.
    #[doc(alias = "FailedTransactionActionIndex")]
    pub fn failed_index(&self) -> Option<usize> {
        match self {
            Self::Transaction(failure) => Some(failure.index),
            Self::InvalidOperation { index, .. } => Some(*index),
            _ => None,
        }
    }

    /// Returns the error that a single call would have returned: that of the operation which the client rejected, or the
    /// error itself.
    pub fn operation_error(&self) -> &Self {
        match self {
            Self::InvalidOperation { source, .. } => source,
            other => other,
        }
    }

    /// Whether the entity, or the table, queue, container or blob does not exist (404).
    pub fn is_not_found(&self) -> bool {
        self.status() == Some(404)
    }

    /// Whether the entity or resource already exists, or conflicts with the request otherwise (409).
    pub fn is_conflict(&self) -> bool {
        self.status() == Some(409)
    }

    /// Whether a condition of the request failed (412): the entity has changed since its ETag was read.
    #[doc(alias = "UpdateConditionNotSatisfied")]
    #[doc(alias = "ConditionNotMet")]
    pub fn is_precondition_failed(&self) -> bool {
        self.status() == Some(412)
    }

    /// Whether the service may have applied the call in spite of the error.
    ///
    /// This holds if no response arrived, if its status leaves the outcome open (408, 500, 502, 504), or if a write has
    /// an invalid response. It also holds if an error may result from an earlier attempt of the same call.
    ///
    /// After a lost response the client sends a write again, and the retry can meet the result of the first attempt: an
    /// insert finds its own entity (409), a conditional replace its own new ETag (412), a delete no entity (404). The
    /// service does not distinguish this from a change by another writer. The error then has `after_lost_response` set.
    /// Reading the entity shows the outcome.
    pub fn is_ambiguous(&self) -> bool {
        match self {
            Self::Service(_) | Self::Transaction(_) => {
                let is_open = |failure: &ServiceFailure| transient(failure.status) == Some(true);
                self.service_failure().is_some_and(|failure| failure.after_lost_response || is_open(failure))
            }
            Self::Transport { source, after_lost_response, .. } => *after_lost_response || source.may_have_arrived(),
            Self::Token { after_lost_response, .. } => *after_lost_response,
            Self::Timeout { limit: TimeoutLimit::Connections, after_lost_response, .. } => *after_lost_response,
            Self::Timeout { .. } | Self::Unconfirmed(_) => true,
            _ => false,
        }
    }

    pub(crate) fn has_code(&self, code: ErrorCode) -> bool {
        self.code() == Some(code)
    }

    /// Marks the error as one after an attempt that may have been applied.
    pub(crate) fn made_ambiguous(self) -> Self {
        let marked = |failure: &ServiceFailure| ServiceFailure { after_lost_response: true, ..failure.clone() };
        match self {
            Self::Service(failure) => Self::Service(Arc::new(marked(&failure))),
            Self::Transaction(failure) => {
                let TransactionFailure { index, cause } = failure.as_ref();
                Self::Transaction(Arc::new(TransactionFailure { index: *index, cause: marked(cause) }))
            }
            Self::Transport { attempts, source, .. } => Self::Transport { attempts, source, after_lost_response: true },
            Self::Token { source, .. } => Self::Token { source, after_lost_response: true },
            Self::Timeout { limit, timeout, attempts, .. } => {
                Self::Timeout { limit, timeout, attempts, after_lost_response: true }
            }
            other => other,
        }
    }

    /// Whether the status of the error is transient.
    pub(crate) fn is_transient(&self) -> bool {
        self.status().is_some_and(|status| transient(status).is_some())
    }

    /// Adds the index of the operation that the client rejects.
    pub(crate) fn of_operation(self, index: usize) -> Self {
        Self::InvalidOperation { index, source: Arc::new(self) }
    }

    /// Removes the index of the operation, which has no meaning outside of its group.
    pub(crate) fn without_index(&self) -> Self {
        match self {
            Self::Transaction(failure) => Self::Service(Arc::new(failure.cause.clone())),
            Self::InvalidOperation { source, .. } => Self::clone(source),
            other => other.clone(),
        }
    }

    /// A response that does not conform to the protocol.
    pub(crate) fn invalid_response(why: &ServiceError) -> Self {
        Self::InvalidResponse(why.to_string())
    }

    pub(crate) fn token(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Token { source: source.into().into(), after_lost_response: false }
    }

    pub(crate) fn invalid(why: impl Into<String>) -> Self {
        Self::Invalid(why.into())
    }
}

impl fmt::Display for ServiceFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, code, message, .. } = self;
        match (code.is_empty(), message.is_empty()) {
            (true, _) => write!(f, "status {status}")?,
            (false, true) => write!(f, "{code} ({status})")?,
            (false, false) => write!(f, "{code} ({status}): {message}")?,
        }
        if self.after_lost_response {
            f.write_str(" (an earlier attempt got no response and may have succeeded)")?;
        }
        Ok(())
    }
}

impl std::error::Error for ServiceFailure {}

/// Returns `None` instead of an expected error.
pub(crate) fn none_if<T>(result: Result<T>, is_expected: impl FnOnce(&Error) -> bool) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if is_expected(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Errors of the protocol's checks, which run before a request is sent.
impl From<ServiceError> for Error {
    fn from(error: ServiceError) -> Self {
        Self::Invalid(error.message.into_owned())
    }
}

impl From<SasTermsError> for Error {
    fn from(error: SasTermsError) -> Self {
        Self::Invalid(error.to_string())
    }
}
