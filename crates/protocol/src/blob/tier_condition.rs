//! Conditions on the time at which a blob got its tier.

use crate::{DateTime, ErrorCode, ServiceError};

/// The two conditions of Delete Blob on the time of the tier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TierCondition {
    /// `x-ms-access-tier-if-modified-since`.
    pub if_modified_since: Option<DateTime>,
    /// `x-ms-access-tier-if-unmodified-since`.
    pub if_unmodified_since: Option<DateTime>,
}

impl TierCondition {
    /// Fails unless a tier that was set then meets the conditions. Dates have seconds.
    pub fn check(&self, changed: DateTime) -> Result<(), ServiceError> {
        let changed = changed.unix_seconds();
        let is_modified = self.if_modified_since.is_none_or(|date| changed > date.unix_seconds());
        let is_unmodified = self.if_unmodified_since.is_none_or(|date| changed <= date.unix_seconds());
        if is_modified && is_unmodified { Ok(()) } else { Err(ErrorCode::AccessTierChangeTimeConditionNotMet.into()) }
    }
}
