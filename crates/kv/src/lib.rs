//! The floor of Tablerock: what an engine promises, and what the layers above may ask of it.
//!
//! A record is (partition, key) → value, all bytes, in one order: by partition, then by key, bytewise. The
//! [`Engine`] trait is the contract, [`Store`] turns it into transactions on one partition, and [`suite`] is the
//! same contract as tests, which every engine passes. [`MemoryEngine`] is the plainest engine that does: the
//! oracle of the random tests, and the server's `--in-memory`.
//!
//! It is not a database of its own: nothing is ever atomic across two partitions, there are no indexes and no
//! types, and it knows nothing of tables, queues or blobs. Those are layers, each with a layout of [`key`]s.
//!
//! ```
//! use tablerock_kv::{Bytes, Error, Store};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! let store = Store::in_memory();
//! let visits = Bytes::from_static(b"visits");
//!
//! // Reads are declared up front; the closure decides, and may run again if another writer came first.
//! let count = store
//!     .transact(b"page-7", vec![visits.clone()], |tx| {
//!         let count = tx.get(&visits).map_or(0, |value| value[0]) + 1;
//!         tx.put(visits.clone(), vec![count]);
//!         Ok::<_, Error>(count)
//!     })
//!     .await?;
//!
//! assert_eq!(count, 1);
//! assert_eq!(store.get(b"page-7", b"visits").await?.as_deref(), Some(&[1][..]));
//! # Ok(())
//! # }
//! ```
//!
//! | module | owns |
//! | --- | --- |
//! | [`engine`](Engine) | the contract |
//! | [`contents`](Contents) | what an engine may offer for bytes that are too many for a record |
//! | [`store`](Store) | transactions on top of it: declared reads, a decision, one commit, retries |
//! | [`blind_put`](BlindPut) | puts that rest on nothing that was read |
//! | [`witness`](Witness) | the record that admitted a request |
//! | [`range`](Range) | positions in the order, and ranges between them |
//! | [`key`] | order-preserving pieces of keys, and the one string an engine stores |
//! | [`clock`](Clock), [`rng`](Rng) | time and randomness, as values that a constructor takes |
//! | [`memory`](MemoryEngine) | the engine that forgets |
//!
//! The feature `test-support` adds what only tests need, so the shipped binary does without it: [`suite`] is the
//! contract as tests, [`fault`] an engine that fails on command, and [`ManualClock`] a clock that stands still.

#![warn(missing_docs)]

mod blind_put;
mod clock;
mod contents;
mod engine;
mod error;
#[cfg(any(test, feature = "test-support"))]
pub mod fault;
pub mod key;
#[cfg(any(test, feature = "test-support"))]
mod manual_clock;
mod memory;
mod page;
mod range;
mod read_only;
mod records;
mod rng;
mod store;
#[cfg(any(test, feature = "test-support"))]
pub mod suite;
mod transaction;
mod witness;

pub use blind_put::{BlindPut, Replaces, VERSION_BYTES};
pub use bytes::Bytes;
pub use clock::{Clock, SystemClock, TICKS_AT_UNIX_EPOCH, TICKS_PER_SECOND};
pub use contents::{CONTENT_PART_BYTES, ContentName, ContentReader, ContentWriter, Contents};
pub use engine::{Commit, Engine, Health, Page, Record, ScanLimits, Wanted};
pub use error::{Error, ErrorKind, Result};
#[cfg(any(test, feature = "test-support"))]
pub use fault::FaultEngine;
#[cfg(any(test, feature = "test-support"))]
pub use manual_clock::ManualClock;
pub use memory::MemoryEngine;
pub use page::PageBuilder;
pub use range::{Position, Range, prefix_end};
pub use read_only::ReadOnlyEngine;
pub use records::Records;
pub use rng::Rng;
pub use store::{Look, LookFuture, Store};
pub use transaction::Transaction;
pub use witness::{Admits, Witness};
