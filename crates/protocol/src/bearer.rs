//! Entra bearer tokens, as far as they can be checked locally: their claims.
//!
//! The signature of a token is not checked, so accepting one proves nothing about its bearer. That is enough for
//! development, where the point is that an application with a token credential runs unchanged.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::Deserialize;

use crate::{DateTime, Service};

/// Clocks of issuer and server may differ by this much.
const SKEW_SECONDS: i64 = 300;
/// The resource id of Azure Storage.
const STORAGE_RESOURCE_ID: &str = "e406a681-f3d4-42a8-90b6-c2b029497af1";

/// Why a token is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BearerError {
    /// The token is not a JSON Web Token.
    Malformed,
    /// The token is not valid yet.
    NotYetValid,
    /// The token has expired.
    Expired,
    /// The token is for another audience.
    OtherAudience,
}

#[derive(Deserialize)]
struct Claims {
    aud: String,
    exp: i64,
    nbf: Option<i64>,
}

/// Checks form, time and audience of a JWT.
pub fn check_claims(token: &str, service: Service, account: &str, now: DateTime) -> Result<(), BearerError> {
    let mut parts = token.split('.');
    let (Some(_), Some(payload), Some(_), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return Err(BearerError::Malformed);
    };
    let payload = URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).map_err(|_| BearerError::Malformed)?;
    let claims: Claims = serde_json::from_slice(&payload).map_err(|_| BearerError::Malformed)?;
    let now = now.unix_seconds();
    if claims.nbf.is_some_and(|not_before| not_before.saturating_sub(SKEW_SECONDS) > now) {
        return Err(BearerError::NotYetValid);
    }
    if claims.exp.saturating_add(SKEW_SECONDS) <= now {
        return Err(BearerError::Expired);
    }
    if is_for_storage(claims.aud.trim_end_matches('/'), service, account) {
        Ok(())
    } else {
        Err(BearerError::OtherAudience)
    }
}

fn is_for_storage(audience: &str, service: Service, account: &str) -> bool {
    let own = |rest: &str| rest.strip_prefix('.')?.strip_prefix(service.name())?.starts_with(".core.").then_some(());
    let host = audience.strip_prefix("https://");
    audience == STORAGE_RESOURCE_ID
        || host == Some("storage.azure.com")
        || host.and_then(|host| host.strip_prefix(account)).and_then(own).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(claims: &str) -> String {
        format!("e30.{}.sig", URL_SAFE_NO_PAD.encode(claims))
    }

    fn check(claims: &str) -> Result<(), BearerError> {
        check_claims(&token(claims), Service::Table, "acct", DateTime::from_unix_seconds(10_000))
    }

    #[test]
    fn audience_and_time_decide() {
        for audience in [
            "https://storage.azure.com",
            "https://storage.azure.com/",
            "https://acct.table.core.windows.net",
            STORAGE_RESOURCE_ID,
        ] {
            assert_eq!(check(&format!("{{\"aud\":\"{audience}\",\"exp\":20000,\"nbf\":9000}}")), Ok(()), "{audience}");
        }
        assert_eq!(check("{\"aud\":\"https://graph.example\",\"exp\":20000}"), Err(BearerError::OtherAudience));
        assert_eq!(check("{\"aud\":\"https://storage.azure.com\",\"exp\":9000}"), Err(BearerError::Expired));
        let later = "{\"aud\":\"https://storage.azure.com\",\"exp\":20000,\"nbf\":11000}";
        assert_eq!(check(later), Err(BearerError::NotYetValid));
    }

    #[test]
    fn what_is_no_token_is_malformed() {
        for text in ["", "a.b", "a.b.c.d", "e30.!!!.x", "e30.e30.x"] {
            let checked = check_claims(text, Service::Table, "acct", DateTime::from_unix_seconds(0));
            assert_eq!(checked, Err(BearerError::Malformed), "{text}");
        }
    }
}
