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
//! | data series | [`Series`] |
//! | wide entities | [`WideEntities`] |
//! | large entities | [`LargeEntities`] |
//! | anti-patterns | [`advise`] |
//!
//! # Verbs
//!
//! All patterns that store entities have the same verbs, which are those of [`TableClient`](tablerock_client::TableClient):
//!
//! | verb | with an ETag | without an ETag | `any_version()` |
//! | --- | --- | --- | --- |
//! | `insert` | 409 if it exists | 409 if it exists | |
//! | `replace` | 412 if it has changed, 404 if it is missing | rejected: read it first | overwrites, 404 if it is missing |
//! | `put` | as `replace` | as `insert` | inserts or overwrites |
//! | `delete` | 412 if it has changed, 404 if it is missing | rejected: read it first | deletes, 404 if it is missing |
//!
//! Writes return the new ETag. A struct keeps it in a field with `#[entity(etag)]`; without such a field, use
//! `if_match`. Reads are `get_if_exists`, and `find_by` for the indexes.
//!
//! # Workers
//!
//! Patterns with a queue need a worker, which resumes the changes of writers that died: `run(shutdown)`. By default, the
//! intent of such a writer is visible **three minutes** after its last sign of life. `verify` and `rebuild` check and
//! mend an index over existing data, and `redrive_poison` retries changes that failed repeatedly.

#![deny(missing_docs)]

mod advisor;
mod archive;
mod copies;
mod copies_across_partitions;
mod copies_in_partition;
mod copies_in_partition_check;
mod copy_etag;
mod find;
mod index_list;
mod index_report;
mod indexed_table;
mod indexed_table_check;
mod indexes;
mod intents;
pub mod keys;
mod large_entities;
mod large_values;
mod list_cache;
mod list_stores;
mod listed_entities;
mod optimistic;
mod period;
mod period_query;
mod period_tables;
mod sealed;
mod series;
mod verbs;
mod wide_entities;
mod wide_parts;
mod worker;
mod writes;

pub use advisor::{Advice, Finding, advise};
pub use archive::Archive;
pub use copies_across_partitions::{Copies, CopiesAcrossPartitions};
pub use copies_in_partition::CopiesInPartition;
pub use find::Find;
pub use index_list::IndexList;
pub use index_report::{IndexProblem, IndexProblemKind, IndexReport};
pub use indexed_table::{EntryState, IndexStore, IndexedTable};
pub use indexes::IndexValue;
pub use intents::{Claimed, Intents, PendingIntent, WorkOutcome};
pub use large_entities::LargeEntities;
pub use list_stores::{BlobList, EntityList, ListStore};
pub use listed_entities::{BlobLists, ListPlace, ListedEntities, Lists, TableLists};
pub use period::Period;
pub use period_query::PeriodQuery;
pub use period_tables::PeriodTables;
pub use series::{PeriodValues, Series};
pub use wide_entities::WideEntities;
pub use worker::{WorkCounts, Worker};
pub use writes::{EntityDelete, EntityDeleteIfExists, EntityWrite};

/// The example of the README compiles as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
