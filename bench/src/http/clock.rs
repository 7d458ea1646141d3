//! The time of day, for signatures and for the report.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Whole seconds since 1970.
#[expect(clippy::disallowed_methods, reason = "a client signs with the time of day, and a report shows its date")]
pub fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The date that requests carry, which is formatted only once a second.
#[derive(Debug, Default)]
pub struct RequestDate {
    second: u64,
    text: String,
}

impl RequestDate {
    pub fn now(&mut self) -> &str {
        let second = unix_seconds();
        if second != self.second {
            self.second = second;
            self.text = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(second));
        }
        &self.text
    }
}
