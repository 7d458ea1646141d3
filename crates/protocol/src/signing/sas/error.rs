//! The errors of a SAS, and their error codes.

use std::fmt;
use std::net::IpAddr;

use super::SasParameter;
use crate::{DateTime, ErrorCode, ServiceError};

/// The time at which a SAS was used, and the times within which it could have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeFrame {
    /// The start, if the SAS has one.
    pub start: Option<DateTime>,
    /// The expiry.
    pub expiry: DateTime,
    /// The time of the request.
    pub now: DateTime,
}

/// The words of the service. A SAS without a start begins when it is used.
impl fmt::Display for TimeFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [start, expiry, now] = [self.start.unwrap_or(self.now), self.expiry, self.now].map(DateTime::to_http_date);
        if self.start.is_some_and(|start| start < self.expiry) {
            write!(
                f,
                "Signature not valid in the specified time frame: Start [{start}] - Expiry [{expiry}] - Current [{now}]"
            )
        } else {
            write!(f, "Signed expiry time [{expiry}] must be after signed start time [{start}]")
        }
    }
}

/// An error of a SAS. `Display` is for logs; the client gets the service's own message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SasError {
    /// A parameter is given more than once.
    Duplicate(SasParameter),
    /// A parameter is needed, and neither the token nor a stored policy has it.
    Missing(SasParameter),
    /// A parameter's value cannot be read.
    Malformed(SasParameter),
    /// A response header that the SAS sets has a control character, so it cannot be sent.
    ControlCharacter(SasParameter),
    /// Parameters of an account SAS and of a service SAS are mixed.
    Ambiguous,
    /// `sv` is older than this kind of SAS.
    VersionTooOld,
    /// The SAS names a user delegation key, which this server never issues.
    UserDelegation,
    /// No key of the account made the signature.
    SignatureMismatch,
    /// The start is in the future, or the expiry has passed.
    OutsideTimeFrame(TimeFrame),
    /// `si` names no stored access policy.
    PolicyNotFound,
    /// A field is given by the token and by its stored policy.
    InTokenAndPolicy(SasParameter),
    /// The SAS is for HTTPS only.
    ProtocolMismatch,
    /// The SAS is not valid for this address.
    SourceIpMismatch(IpAddr),
    /// The account SAS is not valid for this service.
    ServiceMismatch,
    /// The account SAS is not valid for this level of resource.
    ResourceTypeMismatch,
    /// The SAS does not grant the permission.
    PermissionMismatch,
    /// The SAS is for another table.
    TableMismatch,
    /// The SAS is for a blob and not for its container.
    ContainerMismatch,
    /// The keys of a write are not in the range of the SAS.
    OutsideKeyRange,
}

impl SasError {
    /// Returns the error code of the response.
    pub const fn code(self) -> ErrorCode {
        match self {
            Self::Duplicate(_)
            | Self::Missing(_)
            | Self::Malformed(_)
            | Self::Ambiguous
            | Self::VersionTooOld
            | Self::UserDelegation
            | Self::SignatureMismatch
            | Self::OutsideTimeFrame(_)
            | Self::PolicyNotFound
            | Self::InTokenAndPolicy(_) => ErrorCode::AuthenticationFailed,
            Self::ControlCharacter(_) => ErrorCode::InvalidQueryParameterValue,
            Self::ProtocolMismatch => ErrorCode::AuthorizationProtocolMismatch,
            Self::SourceIpMismatch(_) => ErrorCode::AuthorizationSourceIPMismatch,
            Self::ServiceMismatch => ErrorCode::AuthorizationServiceMismatch,
            Self::ResourceTypeMismatch => ErrorCode::AuthorizationResourceTypeMismatch,
            Self::PermissionMismatch => ErrorCode::AuthorizationPermissionMismatch,
            Self::TableMismatch | Self::ContainerMismatch | Self::OutsideKeyRange => ErrorCode::AuthorizationFailure,
        }
    }
}

impl From<SasError> for ServiceError {
    fn from(error: SasError) -> Self {
        let service_error = match error {
            SasError::SourceIpMismatch(address) => ServiceError::with_message(
                error.code(),
                format!("This request is not authorized to perform this operation using this source IP {address}."),
            ),
            // The value is not repeated: not every response can hold it.
            SasError::ControlCharacter(parameter) => {
                ServiceError::invalid_parameter(parameter.name(), "", "The value has a control character.")
            }
            _ => ServiceError::new(error.code()),
        };
        service_error.because(error.to_string())
    }
}

impl fmt::Display for SasError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate(parameter) => write!(f, "{} is given more than once", parameter.name()),
            Self::Missing(parameter) => write!(f, "{} is missing", parameter.name()),
            Self::Malformed(parameter) => write!(f, "{} cannot be read", parameter.name()),
            Self::ControlCharacter(parameter) => write!(f, "{} has a control character", parameter.name()),
            Self::Ambiguous => f.write_str("parameters of an account SAS and of a service SAS are mixed"),
            Self::VersionTooOld => f.write_str("sv is older than this kind of SAS"),
            Self::UserDelegation => f.write_str("a user delegation SAS is not supported by this server"),
            Self::SignatureMismatch => f.write_str("the signature does not match"),
            Self::OutsideTimeFrame(frame) => frame.fmt(f),
            Self::PolicyNotFound => f.write_str("si names no stored access policy"),
            Self::InTokenAndPolicy(parameter) => {
                write!(f, "{} is given by the token and by its stored access policy", parameter.name())
            }
            Self::ProtocolMismatch => f.write_str("the protocol is not allowed"),
            Self::SourceIpMismatch(address) => write!(f, "the address {address} is not allowed"),
            Self::ServiceMismatch => f.write_str("the service is not allowed"),
            Self::ResourceTypeMismatch => f.write_str("the resource type is not allowed"),
            Self::PermissionMismatch => f.write_str("the permission is not granted"),
            Self::TableMismatch => f.write_str("the SAS is for another table"),
            Self::ContainerMismatch => f.write_str("the SAS is for one blob"),
            Self::OutsideKeyRange => f.write_str("the keys are outside the range of the SAS"),
        }
    }
}

impl std::error::Error for SasError {}

/// The reason why terms cannot be signed: the token would not have all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SasTermsError {
    /// The version has no such SAS, or does not sign one of the fields.
    VersionTooOld,
    /// A range cannot end with an empty key, which reads as no end at all.
    EmptyEndKey,
}

impl fmt::Display for SasTermsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::VersionTooOld => "the version is too old for these terms",
            Self::EmptyEndKey => "a key range cannot end with an empty key",
        })
    }
}

impl std::error::Error for SasTermsError {}
