//! The `Authorization` header.

use std::fmt;

use crate::{ErrorCode, ServiceError};

/// Which string the account key has signed. Each service has its own string for each scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedKeyScheme {
    /// Shared Key.
    SharedKey,
    /// Shared Key Lite.
    SharedKeyLite,
}

impl SharedKeyScheme {
    /// The scheme as the header names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SharedKey => "SharedKey",
            Self::SharedKeyLite => "SharedKeyLite",
        }
    }
}

/// The credential of an `Authorization` header; nothing in it is verified.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Authorization<'a> {
    /// A Shared Key signature.
    SharedKey {
        /// The scheme, which defines the string-to-sign.
        scheme: SharedKeyScheme,
        /// The account that signed.
        account: &'a str,
        /// The signature, in Base64.
        signature: &'a str,
    },
    /// A bearer token.
    Bearer {
        /// The token.
        token: &'a str,
    },
}

/// The header has none of the forms of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthorizationSyntaxError;

/// Reads `SharedKey account:signature`, `SharedKeyLite account:signature` or `Bearer token`. As everywhere in
/// HTTP, the scheme's case does not matter.
pub fn parse_authorization(header: &str) -> Result<Authorization<'_>, AuthorizationSyntaxError> {
    let (scheme, credential) = header.trim().split_once([' ', '\t']).ok_or(AuthorizationSyntaxError)?;
    let credential = credential.trim_start();
    if credential.is_empty() || credential.bytes().any(|byte| byte == b' ' || byte.is_ascii_control()) {
        return Err(AuthorizationSyntaxError);
    }
    if scheme.eq_ignore_ascii_case("Bearer") {
        return Ok(Authorization::Bearer { token: credential });
    }
    let named = |known: &SharedKeyScheme| scheme.eq_ignore_ascii_case(known.name());
    let schemes = [SharedKeyScheme::SharedKey, SharedKeyScheme::SharedKeyLite];
    let scheme = schemes.into_iter().find(named).ok_or(AuthorizationSyntaxError)?;
    match credential.split_once(':') {
        Some((account, signature)) if !account.is_empty() && !signature.is_empty() => {
            Ok(Authorization::SharedKey { scheme, account, signature })
        }
        _ => Err(AuthorizationSyntaxError),
    }
}

/// Names the scheme and the account only: signatures and tokens are credentials and stay out of logs.
impl fmt::Debug for Authorization<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SharedKey { scheme, account, .. } => write!(f, "{} {account}:..", scheme.name()),
            Self::Bearer { .. } => f.write_str("Bearer .."),
        }
    }
}

impl From<AuthorizationSyntaxError> for ServiceError {
    fn from(_: AuthorizationSyntaxError) -> Self {
        ErrorCode::InvalidAuthenticationInfo.into()
    }
}

impl fmt::Display for AuthorizationSyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the Authorization header is not in the correct format")
    }
}

impl std::error::Error for AuthorizationSyntaxError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_schemes_are_read() {
        let shared_key = |scheme| Authorization::SharedKey { scheme, account: "acct", signature: "c2ln=" };
        assert_eq!(parse_authorization("SharedKey acct:c2ln="), Ok(shared_key(SharedKeyScheme::SharedKey)));
        assert_eq!(parse_authorization("sharedkeylite  acct:c2ln= "), Ok(shared_key(SharedKeyScheme::SharedKeyLite)));
        assert_eq!(parse_authorization("Bearer ey.J.0"), Ok(Authorization::Bearer { token: "ey.J.0" }));
    }

    #[test]
    fn other_forms_are_refused() {
        for header in [
            "",
            "SharedKey",
            "SharedKey ",
            "SharedKey acct",
            "SharedKey :sig",
            "SharedKey acct:",
            "SharedKey acct:a b",
            "SharedKeyacct:sig",
            "Basic YTpi",
            "Bearer",
            "Bearer a b",
            "acct:sig",
        ] {
            assert_eq!(parse_authorization(header), Err(AuthorizationSyntaxError), "{header:?}");
        }
        assert_eq!(ServiceError::from(AuthorizationSyntaxError).code, ErrorCode::InvalidAuthenticationInfo);
    }

    #[test]
    fn debug_shows_no_credential() {
        let debug = |header| format!("{:?}", parse_authorization(header).unwrap());
        assert_eq!(debug("SharedKey acct:secret"), "SharedKey acct:..");
        assert_eq!(debug("Bearer secret"), "Bearer ..");
    }
}
