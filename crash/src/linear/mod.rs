//! Is there an order in which all operations could have happened one at a time? A checker for recorded histories.

mod checker;
mod partition;

pub use checker::{Call, check};
pub use partition::{Condition, Operation, Outcome, PartitionState, Row, RowChange, VersionId};
