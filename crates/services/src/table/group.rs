//! A group of operations on one partition: what a single request is, too, with one operation.

use std::collections::HashSet;

use tablerock_protocol::{ErrorCode, EtagCondition, ServiceError, limits};

use super::Properties;

/// The change to an entity. A condition is an `If-Match`; without one, replace and merge create the entity if
/// it is missing.
#[derive(Debug, Clone)]
pub enum Change {
    Insert(Properties),
    Replace { properties: Properties, condition: Option<EtagCondition> },
    Merge { properties: Properties, condition: Option<EtagCondition> },
    Delete { condition: EtagCondition },
}

/// One operation, with the address that its request named.
#[derive(Debug, Clone)]
pub struct EntityOperation {
    pub table: String,
    pub partition_key: String,
    pub row_key: String,
    pub change: Change,
}

/// Operations that succeed or fail together: one table, one partition, each entity once.
#[derive(Debug, Clone)]
pub struct EntityGroup {
    operations: Vec<EntityOperation>,
}

impl EntityGroup {
    pub fn single(operation: EntityOperation) -> Self {
        Self { operations: vec![operation] }
    }

    /// Checks the rules of a group. The error names the operation that breaks one.
    pub fn new(operations: Vec<EntityOperation>) -> Result<Self, ServiceError> {
        if operations.len() > limits::GROUP_OPERATIONS_MAX {
            return Err(Self::too_many());
        }
        let first = operations.first().ok_or(ErrorCode::InvalidInput)?;
        let mut rows = HashSet::with_capacity(operations.len());
        for (index, operation) in operations.iter().enumerate() {
            let same_table = operation.table.eq_ignore_ascii_case(&first.table);
            if !same_table || operation.partition_key != first.partition_key {
                return Err(ServiceError::new(ErrorCode::CommandsInBatchActOnDifferentPartitions).at_index(index));
            }
            if !rows.insert(operation.row_key.as_str()) {
                return Err(ServiceError::new(ErrorCode::InvalidDuplicateRow).at_index(index));
            }
        }
        Ok(Self { operations })
    }

    /// The error of a group with more operations than allowed. The service names the last allowed one.
    pub fn too_many() -> ServiceError {
        let message = "The batch request operation exceeds the maximum 100 changes per change set.";
        ServiceError::with_message(ErrorCode::InvalidInput, message).at_index(limits::GROUP_OPERATIONS_MAX - 1)
    }

    pub fn operations(&self) -> &[EntityOperation] {
        &self.operations
    }

    pub(super) fn table(&self) -> &str {
        &self.operations[0].table
    }

    pub(super) fn partition_key(&self) -> &str {
        &self.operations[0].partition_key
    }
}
