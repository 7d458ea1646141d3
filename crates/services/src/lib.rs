//! The layers of Tablerock: every rule of behaviour, without HTTP and without an engine.
//!
//! [`TableService`] is the Table service, [`QueueService`] the Queue service, [`BlobService`] the Blob service and
//! [`AccountService`] the settings of accounts. Each is a key layout (`keys.rs`, specified in `docs/keys.md`) and functions
//! that decide inside one transaction on one partition.
//!
//! | to follow | read |
//! | --- | --- |
//! | a write | `table/entities.rs`, on `table/group.rs` and `table/stored_entity.rs` |
//! | a query | `table/query.rs`, on `table/plan.rs`, `table/query_run.rs` and `table/skip_index/` |
//! | a message | `queue/messages.rs`, on `queue/front_cache/` and `queue/stored_message.rs` |
//! | a blob | `blob/put.rs`, on `blob/change.rs`, `blob/content.rs` and `blob/reclaim/` |
//! | the life of a table, queue or container | `namespace/`, and `directory.rs`, `record.rs`, `list.rs`, `acl.rs` of each |
//! | many servers on one store | `sharing.rs`, `work_lease.rs`, `timestamps/lanes.rs` |
//! | a copy of an account | `transfer/mod.rs` |
//! | the load | `load/mod.rs` |
//! | logs and metrics of requests | `analytics/mod.rs` |

mod account;
pub mod analytics;
pub mod blob;
mod error;
mod fields;
mod ids;
pub mod keys;
mod load;
pub mod namespace;
pub mod queue;
mod sharing;
pub mod table;
mod throttle;
mod timestamps;
pub mod transfer;
mod work_lease;

pub use account::AccountService;
pub use analytics::Analytics;
pub use blob::BlobService;
pub use error::{Error, Result};
pub use load::{Load, LoadReport, LoadedHolding, LoadedPartition, Rate, SharedLoad, StoreLoad};
pub use queue::QueueService;
pub use table::TableService;
pub use throttle::ThrottleTargets;
