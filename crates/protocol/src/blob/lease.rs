//! The headers of lease operations.

use std::fmt;
use std::ops::RangeInclusive;

use super::numbers::parse_decimal;
use crate::{ErrorCode, ServiceError, Uuid};

const DURATION_SECONDS: RangeInclusive<u32> = 15..=60;
const BREAK_SECONDS: RangeInclusive<u32> = 0..=60;

/// The id of a lease. Two spellings of a GUID are the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseId(pub Uuid);

impl LeaseId {
    /// Parses the header.
    pub fn parse(header: &str) -> Result<Self, ServiceError> {
        Uuid::try_parse(header.trim()).map(Self).map_err(|_| ErrorCode::InvalidHeaderValue.into())
    }
}

impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

/// How long a lease holds unless it is renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseDuration {
    /// A lease of 15 to 60 seconds.
    Seconds(u32),
    /// A lease without an end.
    Infinite,
}

impl LeaseDuration {
    /// Parses the header.
    pub fn parse(header: &str) -> Result<Self, ServiceError> {
        match header.trim() {
            "-1" => Ok(Self::Infinite),
            digits => match parse_decimal(digits) {
                Some(seconds) if DURATION_SECONDS.contains(&seconds) => Ok(Self::Seconds(seconds)),
                _ => Err(ErrorCode::InvalidHeaderValue.into()),
            },
        }
    }
}

/// An operation on a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseAction {
    /// Acquires a lease.
    Acquire {
        /// The duration.
        duration: LeaseDuration,
        /// The id that the client proposes.
        proposed: Option<LeaseId>,
    },
    /// Renews a lease.
    Renew {
        /// The id of the lease.
        id: LeaseId,
    },
    /// Changes the id of a lease.
    Change {
        /// The current id.
        id: LeaseId,
        /// The new id.
        proposed: LeaseId,
    },
    /// Releases a lease.
    Release {
        /// The id of the lease.
        id: LeaseId,
    },
    /// Breaks a lease.
    Break {
        /// The time until the lease ends; `None` for the remaining time of the lease.
        period_seconds: Option<u32>,
    },
}

impl LeaseAction {
    /// The period of a break, if one is given.
    pub fn parse_break_period(header: &str) -> Result<u32, ServiceError> {
        match parse_decimal(header.trim()) {
            Some(seconds) if BREAK_SECONDS.contains(&seconds) => Ok(seconds),
            _ => Err(ErrorCode::InvalidHeaderValue.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_periods_have_bounds() {
        assert_eq!(LeaseDuration::parse("-1"), Ok(LeaseDuration::Infinite));
        assert_eq!(LeaseDuration::parse("15"), Ok(LeaseDuration::Seconds(15)));
        for wrong in ["14", "61", "0", "-2", "+15", "x", ""] {
            assert_eq!(LeaseDuration::parse(wrong).unwrap_err().code, ErrorCode::InvalidHeaderValue, "{wrong}");
        }
        assert_eq!(LeaseAction::parse_break_period("0"), Ok(0));
        assert!(LeaseAction::parse_break_period("61").is_err());
        assert!(LeaseAction::parse_break_period("+5").is_err());
    }

    #[test]
    fn ids_are_compared_without_regard_to_case_and_form() {
        let id = LeaseId::parse("1F812371-A41D-49E6-B123-F4B542E851C5").unwrap();
        assert_eq!(id, LeaseId::parse("1f812371a41d49e6b123f4b542e851c5").unwrap());
        assert_eq!(id.to_string(), "1f812371-a41d-49e6-b123-f4b542e851c5");
        assert!(LeaseId::parse("my lease").is_err());
    }
}
