//! The `Authorization` header, the strings that Shared Key signs, and the date that goes with them.
//!
//! Input: lines, in this order: the header, the method, Content-MD5, Content-Type, the date, the path, `comp`. What is
//! missing is empty, and an empty `comp` is none.

use tablerock_protocol::signing::{
    AccountKey, Authorization, REQUEST_SKEW_SECONDS_MAX, RequestDateError, SharedKeyScheme, TableRequestParts,
    check_request_date, parse_authorization,
};
use tablerock_protocol::{DateTime, ErrorCode, Service, ServiceError, bearer};

use crate::known_table::{ACCOUNT, NOON};
use crate::refusal::check_refusal;

pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut lines = text.split('\n');
    let mut line = || lines.next().unwrap_or_default();
    let header = line();
    let parts = TableRequestParts {
        method: line(),
        content_md5: line(),
        content_type: line(),
        date: line(),
        account: ACCOUNT,
        path: line(),
        comp: Some(line()).filter(|comp| !comp.is_empty()),
    };
    check_header(header);
    check_signature(&parts, header);
    check_date(parts.date);
}

fn check_header(header: &str) {
    match parse_authorization(header) {
        Err(error) => {
            let error = ServiceError::from(error);
            check_refusal(&error, header.len());
            assert_eq!(error.code, ErrorCode::InvalidAuthenticationInfo);
        }
        Ok(Authorization::Bearer { token }) => {
            assert_eq!(parse_authorization(&format!("Bearer {token}")), Ok(Authorization::Bearer { token }));
            check_token(token);
        }
        Ok(read @ Authorization::SharedKey { scheme, account, signature }) => {
            assert_eq!(parse_authorization(&format!("{} {account}:{signature}", scheme.name())), Ok(read));
            assert!(!account.is_empty() && !account.contains(':') && !signature.is_empty());
            assert_eq!(format!("{read:?}"), format!("{} {account}:..", scheme.name()), "no credential is printed");
        }
    }
}

/// A token that is good now is one day too old, and its time had to come.
fn check_token(token: &str) {
    let at = |seconds: u64| bearer::check_claims(token, Service::Table, ACCOUNT, DateTime::from_unix_seconds(seconds));
    let now = now_seconds();
    if at(now).is_ok() {
        assert_eq!(token.split('.').count(), 3);
        let other = bearer::check_claims(token, Service::Table, "other", DateTime::from_unix_seconds(now));
        assert!(matches!(other, Ok(()) | Err(bearer::BearerError::OtherAudience)));
    }
    if at(now) == Err(bearer::BearerError::Malformed) {
        assert_eq!(at(now + 86_400), Err(bearer::BearerError::Malformed), "time repairs nothing");
    }
    if at(now) == Err(bearer::BearerError::Expired) {
        assert_ne!(at(now + 86_400), Ok(()), "nothing becomes young again");
    }
}

/// The string is what the protocol says, its signature verifies with our key and no other, and the header of the
/// input counts only if it is that very signature.
fn check_signature(parts: &TableRequestParts<'_>, header: &str) {
    let (ours, other) = (AccountKey::from_bytes(b"ours"), AccountKey::from_bytes(b"other"));
    for scheme in [SharedKeyScheme::SharedKey, SharedKeyScheme::SharedKeyLite] {
        let mut written = String::new();
        parts.append_string_to_sign(scheme, &mut written);
        assert_eq!(written, string_to_sign(scheme, parts));

        let authorization = parts.authorization(scheme, &ours);
        let Ok(Authorization::SharedKey { scheme: read, account, signature }) = parse_authorization(&authorization)
        else {
            panic!("{authorization:?} is not what it should be")
        };
        assert_eq!((read, account), (scheme, ACCOUNT));
        let mut scratch = "left by another request".to_owned();
        assert!(parts.is_signed_by(scheme, signature, &[other.clone(), ours.clone()], &mut scratch));
        assert!(!parts.is_signed_by(scheme, signature, std::slice::from_ref(&other), &mut scratch));
        assert!(!parts.is_signed_by(scheme, signature, &[], &mut scratch));

        if let Ok(Authorization::SharedKey { signature: given, .. }) = parse_authorization(header)
            && !parts.path.starts_with("/acct-secondary")
        {
            let is_signed = parts.is_signed_by(scheme, given, std::slice::from_ref(&ours), &mut scratch);
            assert_eq!(is_signed, given == signature, "{given:?}");
        }
    }
}

fn string_to_sign(scheme: SharedKeyScheme, parts: &TableRequestParts<'_>) -> String {
    let TableRequestParts { method, content_md5, content_type, date, account, path, comp } = parts;
    let comp = comp.map_or(String::new(), |comp| format!("?comp={comp}"));
    let lite = format!("{date}\n/{account}{path}{comp}");
    match scheme {
        SharedKeyScheme::SharedKey => [method, content_md5, content_type, lite.as_str()].join("\n"),
        SharedKeyScheme::SharedKeyLite => lite,
    }
}

/// A date that is good at one time is not good half an hour and a bit away from it, on either side.
fn check_date(date: &str) {
    let at = |seconds: u64| check_request_date(date, DateTime::from_unix_seconds(seconds));
    let now = now_seconds();
    if at(now).is_ok() {
        let away = 2 * REQUEST_SKEW_SECONDS_MAX + 1;
        assert_eq!(at(now + away), Err(RequestDateError::TooFar));
        assert_eq!(at(now - away), Err(RequestDateError::TooFar));
    }
    assert_eq!(at(now) == Err(RequestDateError::Malformed), at(0) == Err(RequestDateError::Malformed));
}

fn now_seconds() -> u64 {
    DateTime::from_ticks(NOON).unix_seconds().unsigned_abs()
}
