//! The embedded engine: durable, on one machine, on [`fjall`].
//!
//! It keeps what [`tablerock_kv::Engine`] promises with three ideas. One thread commits: it takes every commit
//! that waits, writes them as one batch, syncs once and answers all of them. What is on its way to disk lies in
//! an overlay, so that the next transaction can decide on it without waiting. Readers see a snapshot that is
//! replaced only after a sync, so they never see what a crash could take back.
//!
//! It is not a server and not shared: one process has a directory to itself, and says so when another comes.
//!
//! ```
//! use std::sync::Arc;
//! use tablerock_kv::{Error, Store};
//! use tablerock_kv_local::LocalEngine;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! # let directory = tempfile::tempdir().expect("a place for an example");
//! # let location = directory.path();
//! let store = Store::new(Arc::new(LocalEngine::open(location)?));
//! store.transact(b"partition", vec![], |tx| Ok::<_, Error>(tx.put("key", "value"))).await?;
//! store.close().await?;
//!
//! let store = Store::new(Arc::new(LocalEngine::open(location)?));
//! assert_eq!(store.get(b"partition", b"key").await?.as_deref(), Some(&b"value"[..]));
//! # Ok(())
//! # }
//! ```
//!
//! | module | owns |
//! | --- | --- |
//! | `engine` | the contract: what each call does, and the threads' life |
//! | `directory`, `format` | the data directory: its lock and its format |
//! | `journal` | the end of the journal after a power cut |
//! | `manifest` | the files that name tables, looked at before fjall does |
//! | `database` | fjall as we set it up |
//! | `view` | what readers see |
//! | `overlay` | what is on its way to disk |
//! | `queue`, `committer` | group commit |
//! | `walk` | scans |
//! | `contents` | large contents, each a file |
//! | `intents`, `sweeper` | dropped ranges and their space |
//! | `garbage` | how much space deleted records still take |
//! | `options`, `statistics`, `failure` | settings, counters, and errors in our words |

mod committer;
mod contents;
mod database;
mod directory;
mod engine;
mod failure;
mod format;
mod garbage;
mod intents;
mod journal;
mod manifest;
mod options;
mod overlay;
mod queue;
mod statistics;
mod sweeper;
#[cfg(test)]
mod tests;
mod view;
mod walk;

pub use database::open_bare;
pub use engine::LocalEngine;
pub use options::LocalOptions;
pub use statistics::Statistics;
