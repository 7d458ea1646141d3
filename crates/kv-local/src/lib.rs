//! The embedded engine: durable, on one machine, on [`fjall`].
//!
//! It implements [`tablerock_kv::Engine`] with three ideas. One thread commits: it takes all waiting commits, writes them
//! as one batch and syncs once (group commit). An overlay holds the writes on their way to disk, so that the next
//! transaction reads them without waiting. Readers see a snapshot that is replaced only after a sync, so they never see
//! writes that a crash could undo.
//!
//! It is not a server and not shared: one process locks a directory, and another gets [`LocationError::InUse`].
//!
//! ```
//! use std::sync::Arc;
//! use tablerock_kv::{Error, Store};
//! use tablerock_kv_local::LocalEngine;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! # let directory = tempfile::tempdir().expect("a directory for the example");
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
//! | `engine`, `shared` | the calls, the start and stop of the threads, the state they share |
//! | `directory`, `format`, `location_error` | the data directory: its lock, its format, its errors |
//! | `parts`, `store_id` | whether the parts of a directory are all there, and those of one store |
//! | `private`, `durable` | access of other users; files that survive a power cut |
//! | `journal` | the end of the journal after a power cut |
//! | `clean_stop` | the journals after a clean stop |
//! | `manifest` | the files that name tables, checked before fjall opens them |
//! | `database` | the settings of fjall |
//! | `view` | the snapshot of readers |
//! | `overlay` | writes on their way to disk |
//! | `commit_queue`, `committer` | group commit |
//! | `walk` | scans |
//! | `contents` | large contents, each a file |
//! | `sweep_queue`, `sweeper` | dropped ranges and their space |
//! | `garbage` | the space of deleted records, and when to compact |
//! | `options`, `statistics`, `failure` | settings, counters, translation of fjall's errors |

mod clean_stop;
mod commit_queue;
mod committer;
mod contents;
mod database;
mod directory;
mod durable;
mod engine;
mod failure;
mod format;
mod garbage;
mod journal;
mod journal_space;
mod location_error;
mod manifest;
mod options;
mod overlay;
mod parts;
mod private;
mod shared;
mod statistics;
mod store_id;
mod sweep_queue;
mod sweeper;
#[cfg(test)]
mod tests;
mod view;
mod walk;

pub use database::open_bare;
pub use engine::LocalEngine;
pub use location_error::{Lack, LocationError};
pub use options::LocalOptions;
pub use statistics::Statistics;
