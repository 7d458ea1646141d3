//! The patterns of table design as types on top of [`tablerock_client`].
//!
//! A table has one index, over PartitionKey and RowKey, and transactions within one partition. The patterns build
//! secondary indexes, eventually consistent changes and large values from these two, queues and blobs. The guide in
//! `docs/guide.md` describes when to use each pattern and its cost. `examples/` has a program for each.
//!
//! | pattern | type |
//! | --- | --- |
//! | secondary index within a partition | [`CopiesInPartition`] |
//! | secondary index across partitions | [`CopiesAcrossPartitions`] |
//! | eventually consistent transactions | [`Intents`], [`Archive`] |
//! | index entities | [`IndexList`] in an entity or in a blob, [`ListedEntities`] |
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
mod index_list;
mod indexed_table;
mod intents;
pub mod keys;
mod large_entities;
mod listed_entities;
mod optimistic;
mod period_tables;
mod wide_entities;

pub use advisor::{Advice, Finding, advise};
pub use archive::Archive;
pub use copies_across_partitions::{Copies, CopiesAcrossPartitions};
pub use copies_in_partition::CopiesInPartition;
pub use day_series::{DaySeries, HOURS};
pub use index_list::{BlobList, EntityList, IndexList, ListStore};
pub use indexed_table::{Index, IndexedTable};
pub use intents::{Claimed, Intents, PendingIntent, WorkOutcome};
pub use large_entities::LargeEntities;
pub use listed_entities::{ListedEntities, Lists};
pub use period_tables::{Period, PeriodTables};
pub use wide_entities::WideEntities;
