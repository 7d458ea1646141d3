//! Projections: the properties that a read asks for.

use tablerock_protocol::{PARTITION_KEY, ROW_KEY, TIMESTAMP};

use crate::entity::KnownNames;
use crate::pipeline::Call;

/// The longest `$select` that a read sends by default. Servers and proxies limit the length of an address, and a type
/// with so many properties is likely to have all of them.
const SELECT_BYTES_MAX: usize = 4096;
/// Every projection has these. The service returns the ETag in any case.
const ALWAYS: [&str; 3] = [PARTITION_KEY, ROW_KEY, TIMESTAMP];

/// The properties that a query asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Projection {
    Whole,
    /// Those of the type that is read. Another type or a resolver may need others.
    OfType(&'static [&'static str]),
    /// Those that the caller has selected.
    Selected(Vec<String>),
}

impl Projection {
    /// Returns the projection to a type with these properties.
    pub(super) fn of_type(names: Option<&'static [&'static str]>) -> Self {
        let bytes = |names: &[&str]| ALWAYS.iter().chain(names).map(|name| name.len() + 1).sum::<usize>();
        match names {
            Some(names) if bytes(names) <= SELECT_BYTES_MAX => Self::OfType(names),
            _ => Self::Whole,
        }
    }

    /// Returns the projection to the named properties, with keys and Timestamp.
    pub(super) fn selected(names: &[&str]) -> Self {
        Self::Selected(names.iter().map(|name| (*name).to_owned()).collect())
    }

    /// Returns the projection for entities that are converted otherwise.
    pub(super) fn for_resolver(self) -> Self {
        match self {
            Self::OfType(_) => Self::Whole,
            other => other,
        }
    }

    /// Adds the `$select` to a call, with further names that are not the type's.
    pub(super) fn select(&self, call: Call, others: &'static [&'static str]) -> Call {
        let always = ALWAYS.into_iter();
        match self {
            Self::Whole => call,
            Self::OfType(names) => call.query_list("$select", always.chain(names.iter().chain(others).copied())),
            Self::Selected(names) => {
                let names = names.iter().map(String::as_str);
                call.query_list("$select", always.chain(names).chain(others.iter().copied()))
            }
        }
    }

    /// Returns the names that the properties of a response may have.
    pub(super) fn known_names(&self) -> KnownNames {
        match self {
            Self::OfType(names) => KnownNames::new(names),
            Self::Whole | Self::Selected(_) => KnownNames::NONE,
        }
    }
}
