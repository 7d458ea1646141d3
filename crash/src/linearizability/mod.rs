//! A linearizability checker for recorded histories.

mod checker;
mod partition;

pub use checker::{Invocation, check};
pub use partition::{PartitionOperation, PartitionState, Row, RowChange, RowCondition, VersionId, WriteOutcome};
