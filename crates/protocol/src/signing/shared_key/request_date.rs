//! The age of a signed request.

use std::fmt;
use std::time::UNIX_EPOCH;

use crate::{DateTime, ErrorCode, ServiceError};

/// How far a request's date may be from the server's clock, in either direction.
pub const REQUEST_SKEW_SECONDS_MAX: u64 = 15 * 60;

/// The reason why a request's date is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestDateError {
    /// Not a date of HTTP (RFC 1123).
    Malformed,
    /// More than fifteen minutes from the server's clock.
    TooFar,
}

/// Checks the value of `x-ms-date` or `Date` against the server's clock.
pub fn check_request_date(date: &str, now: DateTime) -> Result<(), RequestDateError> {
    let date = httpdate::parse_http_date(date.trim()).map_err(|_| RequestDateError::Malformed)?;
    let seconds = date.duration_since(UNIX_EPOCH).map_err(|_| RequestDateError::TooFar)?.as_secs();
    let skew = now.unix_seconds().abs_diff(i64::try_from(seconds).unwrap_or(i64::MAX));
    if skew > REQUEST_SKEW_SECONDS_MAX { Err(RequestDateError::TooFar) } else { Ok(()) }
}

impl From<RequestDateError> for ServiceError {
    fn from(_: RequestDateError) -> Self {
        ErrorCode::AuthenticationFailed.into()
    }
}

impl fmt::Display for RequestDateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "the request's date is not in the form of RFC 1123",
            Self::TooFar => "the request's date is more than 15 minutes from the server's clock",
        })
    }
}

impl std::error::Error for RequestDateError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifteen_minutes_either_way_are_allowed() {
        let date = "Wed, 01 Jan 2025 00:00:00 GMT";
        let new_year = 1_735_689_600;
        for (now, expected) in [
            (new_year, Ok(())),
            (new_year + 900, Ok(())),
            (new_year - 900, Ok(())),
            (new_year + 901, Err(RequestDateError::TooFar)),
            (new_year - 901, Err(RequestDateError::TooFar)),
            (0, Err(RequestDateError::TooFar)),
        ] {
            assert_eq!(check_request_date(date, DateTime::from_unix_seconds(now)), expected, "{now}");
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in ["", "yesterday", "2025-01-01T00:00:00Z", "Wed, 41 Jan 2025 00:00:00 GMT"] {
            let checked = check_request_date(text, DateTime::from_unix_seconds(1_735_689_600));
            assert_eq!(checked, Err(RequestDateError::Malformed), "{text:?}");
        }
    }
}
