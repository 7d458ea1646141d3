//! The engine for many machines: any database with PostgreSQL's protocol.
//!
//! Any number of equal, stateless servers share one database. The database replicates, shards and fails over; this crate
//! reads and writes rows. It uses SQL that PostgreSQL, Citus, YugabyteDB and CockroachDB have in common: no advisory locks,
//! no notifications, no stored code, no extensions. Only [`CitusCluster`], which no server uses, is about one of them.
//!
//! It is not a cluster and not a cache: every read is a statement in the database.
//!
//! ```no_run
//! use tablerock_kv::Store;
//! use tablerock_kv_postgres::{PostgresEngine, PostgresOptions, Target};
//!
//! # async fn example() -> Result<(), tablerock_kv::Error> {
//! let target = Target::parse("postgres://tablerock:secret@db.example/tablerock?sslmode=require")?;
//! let store = Store::new(PostgresEngine::open(target, PostgresOptions::default()).await?);
//! # Ok(())
//! # }
//! ```
//!
//! | module | owns |
//! | --- | --- |
//! | [`target`](Target) | the database, from a URL |
//! | `hosts` | its hosts, and the order in which they are tried |
//! | `tls` | the encrypted connection to it |
//! | `kind` | the kind of database |
//! | `schema` | the tables and their migration |
//! | `durability` | the settings on which durability depends, on every node |
//! | `place` | the table that has the records of a partition |
//! | `statements` | every statement of normal operation |
//! | `connection`, `pool` | a bounded pool of connections |
//! | `read_connections` | connections that reads of single records share |
//! | [`engine`](PostgresEngine) | the contract |
//! | `commit` | commits: one statement, or one short transaction |
//! | `directory_marks` | the visibility of changes of directories on all nodes of Citus |
//! | `read` | reads by primary key, of several partitions in one round trip |
//! | `scan` | pages by primary key |
//! | `scan_shards` | pages over partitions that are spread by a hash |
//! | `drops` | dropped ranges, swept by one server at a time |
//! | [`clock`](DatabaseClock) | the time that all servers share |
//! | `health_check` | the health of the database, checked every second |
//! | `node_check` | the part of the partitions that is served |
//! | `failure` | translation of the database's errors |
//! | [`citus_cluster`](CitusCluster) | the shards of a Citus cluster, for operators |

mod blind_put;
mod citus_cluster;
mod clock;
mod commit;
mod connection;
mod digest;
mod directory_marks;
mod drops;
mod durability;
mod engine;
mod failure;
mod health_check;
mod hosts;
mod kind;
mod node_check;
mod options;
mod place;
mod pool;
mod read;
mod read_connections;
mod scan;
mod scan_shards;
mod schema;
mod statements;
mod target;
#[cfg(test)]
mod tests;
mod tls;

pub use citus_cluster::{CitusCluster, CitusNode, CitusShard, ShardCounters, ShardTransfer};
pub use clock::DatabaseClock;
pub use engine::PostgresEngine;
pub use options::PostgresOptions;
pub use target::Target;
