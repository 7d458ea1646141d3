//! What can go wrong in a call, as one type.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tablerock_protocol::signing::SasTermsError;
use tablerock_protocol::{ErrorCode, ServiceError};

use crate::entity::EntityError;
use crate::pipeline::passing;
use crate::transport::TransportError;

/// The result of a call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call failed. Cheap to clone, so that many entities of one failed group can share it.
///
/// ```
/// use tablerock_client::{Error, ErrorCode};
///
/// fn describe(error: &Error) -> &'static str {
///     match error.code() {
///         Some(ErrorCode::EntityAlreadyExists) => "somebody was faster",
///         Some(ErrorCode::UpdateConditionNotSatisfied) => "it has changed since it was read",
///         _ if error.is_not_found() => "it is not there",
///         _ => "something else",
///     }
/// }
/// ```
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The service answered, and refused.
    #[error(transparent)]
    Service(Arc<ServiceFailure>),
    /// One operation of a group transaction was refused, so none of the group has happened.
    #[error("operation {} of the transaction: {}", .0.index, .0.cause)]
    Transaction(Arc<TransactionFailure>),
    /// No answer came: the connection failed, and so did every further try.
    #[error("no answer from the service after {tries} tries")]
    Transport {
        /// How often it was tried.
        tries: u32,
        /// What the last try met.
        source: TransportError,
        /// An earlier try of the same call may have been carried out. See [`Error::is_ambiguous`].
        after_lost_answer: bool,
    },
    /// The time for the call ran out.
    #[error("the call took longer than {limit:?}")]
    Timeout {
        /// The bound that was met: that of the call, or of its last try.
        limit: Duration,
        /// How often it was tried.
        tries: u32,
    },
    /// No access token could be had.
    #[error("no access token")]
    Token {
        /// What the source of tokens said.
        source: Arc<dyn std::error::Error + Send + Sync>,
        /// An earlier try of the same call may have been carried out. See [`Error::is_ambiguous`].
        after_lost_answer: bool,
    },
    /// The service answered something that cannot be read.
    #[error("the service's answer cannot be read: {0}")]
    Answer(String),
    /// The service took a write, and what it answered cannot be used: whether the write has happened, a read tells.
    #[error("the write may have happened, but its answer cannot be used")]
    Unconfirmed(#[source] Arc<Error>),
    /// An entity does not fit its Rust type, or the other way round.
    #[error(transparent)]
    Entity(#[from] EntityError),
    /// An entity could not be encrypted or decrypted.
    #[cfg(feature = "encryption")]
    #[error(transparent)]
    Encryption(#[from] crate::encryption::EncryptionError),
    /// What was asked for can be seen to be wrong before it is sent.
    #[error("{0}")]
    Invalid(String),
}

/// A refusal by the service.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServiceFailure {
    /// The HTTP status.
    pub status: u16,
    /// The code as the service spells it; empty if the answer had none. See also [`Error::code`].
    pub code: String,
    /// The service's message.
    pub message: String,
    /// The service's id of the request, for its logs.
    pub request_id: Option<String>,
    /// Our id of the request, for its logs and ours.
    pub client_request_id: String,
    /// How often it was tried.
    pub tries: u32,
    /// An earlier try of the same call may have been carried out although no answer arrived. See
    /// [`Error::is_ambiguous`].
    pub after_lost_answer: bool,
}

/// The operation at fault in a group transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransactionFailure {
    /// The place of the operation in the group, from zero.
    pub index: usize,
    /// What the service said about it.
    pub cause: ServiceFailure,
}

impl Error {
    /// The refusal, of a single call or of an operation in a group.
    pub fn service_failure(&self) -> Option<&ServiceFailure> {
        match self {
            Self::Service(failure) => Some(failure),
            Self::Transaction(failure) => Some(&failure.cause),
            _ => None,
        }
    }

    /// The service's code, if it is one that we know. The text is in [`ServiceFailure::code`].
    pub fn code(&self) -> Option<ErrorCode> {
        self.service_failure().and_then(|failure| ErrorCode::from_name(&failure.code))
    }

    /// The HTTP status of a refusal.
    pub fn status(&self) -> Option<u16> {
        self.service_failure().map(|failure| failure.status)
    }

    /// The operation of a group that failed, from zero.
    pub fn failed_index(&self) -> Option<usize> {
        match self {
            Self::Transaction(failure) => Some(failure.index),
            _ => None,
        }
    }

    /// What was addressed does not exist: the entity or its table.
    pub fn is_not_found(&self) -> bool {
        self.status() == Some(404)
    }

    /// What was to be created exists already.
    pub fn is_conflict(&self) -> bool {
        self.status() == Some(409)
    }

    /// The entity has changed since its ETag was read.
    pub fn is_changed(&self) -> bool {
        self.status() == Some(412)
    }

    /// Whether the call has had its effect is not known.
    ///
    /// That is so when no answer came at all, or one that says nothing about it (408, 500, 502, 504), or to a write one
    /// that cannot be read. It is also so when a refusal may be the echo of this call's own success.
    ///
    /// When an answer is lost, a write is sent again, and the second try can meet what the first has done: an insert
    /// finds its own entity (409), a conditional replace its own new ETag (412), a delete nothing (404). The service
    /// gives no way to tell that from another writer's doing, so neither do we: a refusal after a lost answer is
    /// reported as such, and this says that there was one. Reading the entity settles it.
    pub fn is_ambiguous(&self) -> bool {
        match self {
            Self::Service(_) | Self::Transaction(_) => {
                let is_unsure = |failure: &ServiceFailure| passing(failure.status) == Some(true);
                self.service_failure().is_some_and(|failure| failure.after_lost_answer || is_unsure(failure))
            }
            Self::Transport { source, after_lost_answer, .. } => *after_lost_answer || source.may_have_arrived(),
            Self::Token { after_lost_answer, .. } => *after_lost_answer,
            Self::Timeout { .. } | Self::Unconfirmed(_) => true,
            _ => false,
        }
    }

    /// The same after a try that may have had an effect.
    pub(crate) fn made_ambiguous(self) -> Self {
        let marked = |failure: &ServiceFailure| ServiceFailure { after_lost_answer: true, ..failure.clone() };
        match self {
            Self::Service(failure) => Self::Service(Arc::new(marked(&failure))),
            Self::Transaction(failure) => {
                let TransactionFailure { index, cause } = failure.as_ref();
                Self::Transaction(Arc::new(TransactionFailure { index: *index, cause: marked(cause) }))
            }
            Self::Transport { tries, source, .. } => Self::Transport { tries, source, after_lost_answer: true },
            Self::Token { source, .. } => Self::Token { source, after_lost_answer: true },
            other => other,
        }
    }

    /// The service refused for a reason that passes.
    pub(crate) fn is_passing(&self) -> bool {
        self.status().is_some_and(|status| passing(status).is_some())
    }

    /// The failure of an operation as if it had been sent alone: to whoever sent many, its place in some group says
    /// nothing.
    pub(crate) fn of_single(&self) -> Self {
        match self {
            Self::Transaction(failure) => Self::Service(Arc::new(failure.cause.clone())),
            other => other.clone(),
        }
    }

    /// An answer that is not what the protocol says it should be.
    pub(crate) fn unreadable(why: &ServiceError) -> Self {
        Self::Answer(why.to_string())
    }

    pub(crate) fn token(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Token { source: source.into().into(), after_lost_answer: false }
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
        if self.after_lost_answer {
            f.write_str(" (an earlier try got no answer and may have succeeded)")?;
        }
        Ok(())
    }
}

impl std::error::Error for ServiceFailure {}

/// The protocol's own checks, made before anything is sent.
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
