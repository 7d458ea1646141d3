//! The properties whose types the service declares. All others are open: each entity decides on their types.

use crate::EdmType;
use crate::entity::{PARTITION_KEY, ROW_KEY, TIMESTAMP};

/// The name of the one property of a table.
pub const TABLE_NAME: &str = "TableName";

/// The declared properties of what a filter is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schema(&'static [(&'static str, EdmType)]);

impl Schema {
    /// The keys and the Timestamp of an entity.
    pub const ENTITY: Self =
        Self(&[(PARTITION_KEY, EdmType::String), (ROW_KEY, EdmType::String), (TIMESTAMP, EdmType::DateTime)]);

    /// The name of a table.
    pub const TABLE: Self = Self(&[(TABLE_NAME, EdmType::String)]);

    /// Returns the type of a property; `None` if it is open.
    pub(super) fn type_of(self, property: &str) -> Option<EdmType> {
        self.0.iter().find(|(name, _)| *name == property).map(|(_, edm)| *edm)
    }
}
