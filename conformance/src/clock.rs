//! The one place that reads the clock, and the three ways the protocol writes an instant.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The current instant. Requests are signed with it, so it has to be the real one.
#[expect(clippy::disallowed_methods, reason = "a black-box client signs with the time of day")]
pub fn now() -> SystemTime {
    SystemTime::now()
}

pub fn minutes(count: u64) -> Duration {
    Duration::from_secs(60 * count)
}

/// `Wed, 01 Jan 2025 00:00:00 GMT`, as `Date` and `x-ms-date` want it.
pub fn rfc1123(instant: SystemTime) -> String {
    httpdate::fmt_http_date(instant)
}

/// `2025-01-01T00:00:00Z`, as the parameters of a shared access signature want it.
pub fn iso8601(instant: SystemTime) -> String {
    let seconds = instant.duration_since(UNIX_EPOCH).expect("tests do not run before 1970").as_secs();
    let (year, month, day) = civil_date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The Gregorian date of a day counted from 1970-01-01, walking years and months: slow, and plainly right.
fn civil_date(mut days: u64) -> (u64, u64, u64) {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written_in_both_forms() {
        let leap_day = UNIX_EPOCH + Duration::from_secs(1_709_210_096);
        assert_eq!(iso8601(leap_day), "2024-02-29T12:34:56Z");
        assert_eq!(rfc1123(leap_day), "Thu, 29 Feb 2024 12:34:56 GMT");
        assert_eq!(iso8601(UNIX_EPOCH), "1970-01-01T00:00:00Z");
    }
}
