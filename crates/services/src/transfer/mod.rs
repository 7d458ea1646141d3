//! An account on its way from one store to another, and an account written out as text.
//!
//! A copy is made of records, so entities, messages and blobs keep all that they have: Timestamps, ETags, ids, leases,
//! snapshots and uncommitted blocks. What does not stay is what numbers they are stored under, since the other store has given
//! some of its own: ids are moved up by what [`renumbering`](self) reserved there. Nobody sees the account in the new
//! store before all of it is there, because its directories come last.
//!
//! | to follow | read |
//! | --- | --- |
//! | a copy | `copy.rs`, on `renumbering.rs`, `checkpoint.rs` and `ceilings.rs` |
//! | the text | `export.rs` |
//! | what an account has | `holdings.rs` |

mod ceilings;
mod checkpoint;
mod copy;
mod export;
mod holdings;
mod renumbering;

pub use copy::{Progress, copy_account};
pub use export::{ExportSink, export_account};
pub use holdings::accounts_of;
