//! The tree of a filter. Comparisons have the property on the left, whichever side it was written on.

use crate::Value;

/// A predicate over one entity.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum Filter {
    /// Holds when all parts do. Flat, so that long conjunctions do not nest.
    And(Vec<Filter>),
    /// Holds when any part does.
    Or(Vec<Filter>),
    /// True if the filter is false.
    Not(Box<Filter>),
    /// True if the comparison holds.
    Compare(Comparison),
    /// A bare property name: holds when the property is Boolean and true.
    IsTrue(String),
}

/// `property operator literal`.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The name of the property.
    pub property: String,
    /// The operator.
    pub operator: Operator,
    /// The value that the property is compared with.
    pub literal: Value<'static>,
}

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum Operator {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Greater than.
    Gt,
    /// Greater than or equal.
    Ge,
    /// Less than.
    Lt,
    /// Less than or equal.
    Le,
}

impl Operator {
    /// Returns the operator with this name, such as `eq`.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "eq" => Self::Eq,
            "ne" => Self::Ne,
            "gt" => Self::Gt,
            "ge" => Self::Ge,
            "lt" => Self::Lt,
            "le" => Self::Le,
            _ => return None,
        })
    }

    /// Returns the equivalent operator with its sides exchanged.
    pub const fn mirrored(self) -> Self {
        match self {
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            same => same,
        }
    }
}
