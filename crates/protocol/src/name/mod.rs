//! Names of accounts, tables, queues, containers and blobs.

mod account;
mod blob;
mod lower_case;
mod metrics_table;
mod queue;
mod table;

pub use account::{AccountName, SECONDARY_SUFFIX};
pub use blob::{BlobName, ContainerName};
pub use metrics_table::{MetricsPeriod, MetricsTable, capacity_table};
pub use queue::QueueName;
pub use table::TableName;
