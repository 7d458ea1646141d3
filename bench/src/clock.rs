//! The time of day, for signatures and for the report.

use std::time::{SystemTime, UNIX_EPOCH};

/// Whole seconds since 1970.
#[expect(clippy::disallowed_methods, reason = "a client signs with the time of day, and a report tells its date")]
pub fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
