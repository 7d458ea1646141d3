//! The engine for many machines: any database that speaks PostgreSQL's protocol.
//!
//! Any number of servers, all equal and without state of their own, share one database. The database does what it is
//! good at, which is replicating, splitting and merging ranges, and failing over; this crate only asks it for rows. All
//! that it needs is SQL which PostgreSQL, Citus, YugabyteDB and CockroachDB have in common: no advisory locks, no
//! notifications, no stored code, no extensions.
//!
//! It is not a cluster of its own, and not a cache: every read is a statement in the database.
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
//! | [`target`](Target) | which database, from a URL |
//! | `hosts` | which of its hosts is asked first |
//! | `tls` | the encrypted connection to it |
//! | `schema` | the tables, and who creates them when many servers start at once |
//! | `statements` | every statement of normal operation |
//! | `connection`, `pool` | connections, a bounded number of them, and their replacement |
//! | `readers` | connections that reads of single records share |
//! | [`engine`](PostgresEngine) | the contract |
//! | `commit` | how a commit becomes one statement or one short transaction |
//! | `read` | reads by primary key, of several partitions in one round trip |
//! | `scan` | pages by primary key |
//! | `drops` | dropped ranges, swept by one server at a time |
//! | [`clock`](DatabaseClock) | the time that all servers share |
//! | `keeper` | the look at the database's health, every second |
//! | `failure` | the database's errors in the words of the contract |

mod clock;
mod commit;
mod connection;
mod digest;
mod drops;
mod engine;
mod failure;
mod hosts;
mod keeper;
mod options;
mod pool;
mod read;
mod readers;
mod scan;
mod schema;
mod statements;
mod target;
#[cfg(test)]
mod tests;
mod tls;

pub use clock::DatabaseClock;
pub use engine::PostgresEngine;
pub use options::PostgresOptions;
pub use target::Target;
