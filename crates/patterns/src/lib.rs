//! The patterns of table design as small pieces of code on top of [`tablerock_client`].
//!
//! A table has one index, over PartitionKey and RowKey, and one transaction, over a partition. What else an application
//! needs is made of these two, of a queue for what has to happen later, and of blobs for what is too large. The guide in
//! `docs/guide.md` tells when to use which and what it costs; `examples/` tells the same as a story of employees and
//! departments.
//!
//! | pattern | here |
//! | --- | --- |
//! | secondary index within a partition | [`CopiesInPartition`] |
//! | secondary index across partitions | [`CopiesAcrossPartitions`] |
//! | eventually consistent transactions | [`Intents`], [`Archive`] |
//! | index entities | [`IndexList`] in an entity or in a blob, [`ListedEntities`] around those elsewhere |
//! | compound keys, log tail, keys that sort | [`keys`] |
//! | high-volume delete | [`PeriodTables`] |
//! | data series | [`DaySeries`] |
//! | wide entities | [`WideEntities`] |
//! | large entities | [`LargeEntities`] |
//! | anti-patterns | [`advise`] |

#![deny(missing_docs)]

mod advisor;
mod archive;
mod copies_across_partitions;
mod copies_in_partition;
mod day_series;
mod followers;
mod index_list;
mod intents;
pub mod keys;
mod large_entities;
mod listed_entities;
mod optimistic;
mod period_tables;
mod wide_entities;

pub use advisor::{Advice, Finding, advise};
pub use archive::Archive;
pub use copies_across_partitions::CopiesAcrossPartitions;
pub use copies_in_partition::CopiesInPartition;
pub use day_series::{DaySeries, HOURS};
pub use index_list::{BlobList, EntityList, IndexList, ListStore};
pub use intents::{Begun, Intents, Resumed, Taken};
pub use large_entities::LargeEntities;
pub use listed_entities::ListedEntities;
pub use period_tables::{Period, PeriodTables};
pub use wide_entities::WideEntities;
