//! The classification of a request: its kind, its authentication and its outcome.

use std::borrow::Cow;

use crate::xml::AnalyticsVersion;
use crate::{ErrorCode, ServiceVersion};

/// The kind of a request; the service's properties enable logging for each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A deletion.
    Delete,
}

impl RequestKind {
    /// All categories, in the order of their metrics.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Delete];

    /// As the metadata of a log names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Delete => "delete",
        }
    }
}

/// The kind of credentials of a request, valid or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authentication {
    /// A signature with the account's key.
    Authenticated,
    /// No credentials.
    Anonymous,
    /// A shared access signature.
    Sas,
    /// A token, which only logs of version 2.0 distinguish from a signature.
    Bearer,
}

impl Authentication {
    /// Those that have statuses of their own in metrics.
    pub const COUNTED: [Self; 3] = [Self::Authenticated, Self::Anonymous, Self::Sas];

    /// Returns the prefix of its statuses.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Authenticated | Self::Bearer => "",
            Self::Anonymous => "Anonymous",
            Self::Sas => "SAS",
        }
    }

    /// The same in logs, of which the newer ones know tokens.
    pub const fn logged_prefix(self, version: AnalyticsVersion) -> &'static str {
        match (self, version) {
            (Self::Bearer, AnalyticsVersion::V2_0) => "OAuth",
            _ => self.prefix(),
        }
    }

    /// Its place in [`COUNTED`](Self::COUNTED).
    pub const fn index(self) -> usize {
        match self {
            Self::Authenticated | Self::Bearer => 0,
            Self::Anonymous => 1,
            Self::Sas => 2,
        }
    }
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestStatus {
    /// The request succeeded.
    Success,
    /// The request was throttled.
    ThrottlingError,
    /// The client was too slow.
    ClientTimeoutError,
    /// The server was too slow.
    ServerTimeoutError,
    /// Any other error of the client.
    ClientOtherError,
    /// Any other error of the server.
    ServerOtherError,
    /// The request was not authorized.
    AuthorizationError,
    /// The connection failed.
    NetworkError,
}

impl RequestStatus {
    /// All outcomes, in the order of their metrics.
    pub const ALL: [Self; 8] = [
        Self::Success,
        Self::ThrottlingError,
        Self::ClientTimeoutError,
        Self::ServerTimeoutError,
        Self::ClientOtherError,
        Self::ServerOtherError,
        Self::AuthorizationError,
        Self::NetworkError,
    ];

    /// Returns the status of a request with a response. The response to a failed group is 202, so its error decides.
    pub const fn of(http_status: u16, error: Option<ErrorCode>) -> Self {
        let http_status = match error {
            Some(ErrorCode::OperationTimedOut) => return Self::ServerTimeoutError,
            Some(code) if http_status < 300 => code.status(),
            _ => http_status,
        };
        match http_status {
            ..300 => Self::Success,
            401 | 403 => Self::AuthorizationError,
            300..500 => Self::ClientOtherError,
            503 => Self::ThrottlingError,
            500.. => Self::ServerOtherError,
        }
    }

    /// Returns the name in metrics, without its prefix.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "Success",
            Self::ThrottlingError => "ThrottlingError",
            Self::ClientTimeoutError => "ClientTimeoutError",
            Self::ServerTimeoutError => "ServerTimeoutError",
            Self::ClientOtherError => "ClientOtherError",
            Self::ServerOtherError => "ServerOtherError",
            Self::AuthorizationError => "AuthorizationError",
            Self::NetworkError => "NetworkError",
        }
    }

    /// Its place in [`ALL`](Self::ALL).
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Whether such requests are paid for.
    pub fn is_billable(self, authentication: Authentication) -> bool {
        match self {
            Self::ThrottlingError | Self::ServerTimeoutError | Self::ServerOtherError => false,
            Self::AuthorizationError => authentication != Authentication::Anonymous,
            Self::Success | Self::ClientTimeoutError | Self::ClientOtherError | Self::NetworkError => true,
        }
    }

    /// Returns whether such requests count for availability.
    pub fn counts_for_availability(self, authentication: Authentication) -> bool {
        match self {
            Self::ThrottlingError => false,
            Self::AuthorizationError => authentication != Authentication::Anonymous,
            _ => true,
        }
    }

    /// Whether such a request is logged, if its kind is. Of those without credentials that fail, few are.
    pub fn is_logged(self, authentication: Authentication, http_status: u16) -> bool {
        let is_ours = matches!(
            self,
            Self::Success | Self::ServerOtherError | Self::ClientTimeoutError | Self::ServerTimeoutError
        );
        authentication != Authentication::Anonymous || is_ours || http_status == 304
    }

    /// The status as an entry of a log has it, with the [prefix](Authentication::logged_prefix) of the authentication. Newer
    /// versions of the protocol name the error.
    pub fn logged(self, prefix: &str, error: Option<ErrorCode>, version: ServiceVersion) -> Cow<'static, str> {
        match (self, prefix, error) {
            (Self::ClientOtherError, "", Some(code)) if version >= ServiceVersion::ERROR_CODES_LOGGED => {
                Cow::Borrowed(code.name())
            }
            (_, "", _) => Cow::Borrowed(self.name()),
            (_, prefix, _) => Cow::Owned([prefix, self.name()].concat()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_follows_from_the_answer() {
        use RequestStatus::*;
        let of = |http_status, error| RequestStatus::of(http_status, error);
        assert_eq!(of(204, None), Success);
        assert_eq!(of(304, Some(ErrorCode::ConditionNotMet)), ClientOtherError);
        assert_eq!(of(202, Some(ErrorCode::EntityAlreadyExists)), ClientOtherError, "a group that failed");
        assert_eq!(of(403, Some(ErrorCode::AuthenticationFailed)), AuthorizationError);
        assert_eq!(of(503, Some(ErrorCode::ServerBusy)), ThrottlingError);
        assert_eq!(of(500, Some(ErrorCode::InternalError)), ServerOtherError);
        assert_eq!(of(500, Some(ErrorCode::OperationTimedOut)), ServerTimeoutError);
        for (index, status) in RequestStatus::ALL.into_iter().enumerate() {
            assert_eq!(status.index(), index);
        }
    }

    #[test]
    fn an_error_is_named_to_whoever_signed_with_a_key() {
        let logged = |authentication: Authentication, version: &str| {
            let (error, version) = (Some(ErrorCode::TableNotFound), version.parse().unwrap());
            let prefix = authentication.logged_prefix(AnalyticsVersion::V2_0);
            RequestStatus::ClientOtherError.logged(prefix, error, version).into_owned()
        };
        assert_eq!(logged(Authentication::Authenticated, "2017-04-17"), "TableNotFound");
        assert_eq!(logged(Authentication::Authenticated, "2016-05-31"), "ClientOtherError");
        assert_eq!(logged(Authentication::Sas, "2019-02-02"), "SASClientOtherError");
        assert_eq!(logged(Authentication::Bearer, "2019-02-02"), "OAuthClientOtherError");
    }

    #[test]
    fn strangers_are_logged_if_they_were_served_or_we_failed() {
        let is_logged = |status: RequestStatus, http_status| status.is_logged(Authentication::Anonymous, http_status);
        assert!(is_logged(RequestStatus::Success, 200));
        assert!(is_logged(RequestStatus::ClientOtherError, 304));
        assert!(is_logged(RequestStatus::ServerOtherError, 500));
        assert!(!is_logged(RequestStatus::ClientOtherError, 404));
        assert!(!is_logged(RequestStatus::AuthorizationError, 401));
        assert!(RequestStatus::ClientOtherError.is_logged(Authentication::Sas, 404));
    }
}
