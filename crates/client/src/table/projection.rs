//! Projections: the properties that a read asks for.

use tablerock_protocol::{PARTITION_KEY, ROW_KEY, TIMESTAMP};

/// The longest `$select` that a read sends by default. Servers and proxies limit the length of an address, and a type
/// with so many properties is likely to have all of them.
const SELECT_BYTES_MAX: usize = 4096;

/// The properties that a query asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Projection {
    Whole,
    /// Those of the type that is read. Another type or a resolver may need others.
    OfType(String),
    /// Those that the caller has selected.
    Selected(String),
}

impl Projection {
    /// Returns the projection to a type with these properties.
    pub(super) fn of_type(names: Option<&[&str]>) -> Self {
        match names.map(select) {
            Some(select) if select.len() <= SELECT_BYTES_MAX => Self::OfType(select),
            _ => Self::Whole,
        }
    }

    /// Returns the projection for entities that are converted otherwise.
    pub(super) fn for_resolver(self) -> Self {
        match self {
            Self::OfType(_) => Self::Whole,
            other => other,
        }
    }

    /// Returns the value of `$select`.
    pub(super) fn select(&self) -> Option<&str> {
        match self {
            Self::Whole => None,
            Self::OfType(select) | Self::Selected(select) => Some(select),
        }
    }
}

/// Returns the `$select` of a projection with keys and Timestamp. The service returns the ETag in any case.
pub(super) fn select(names: &[&str]) -> String {
    [&[PARTITION_KEY, ROW_KEY, TIMESTAMP], names].concat().join(",")
}
