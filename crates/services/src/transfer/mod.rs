//! An account on its way from one store to another, and an account written out as text.
//!
//! A copy is made of records, so entities, messages and blobs keep all that they have: Timestamps, ETags, ids, leases,
//! snapshots and uncommitted blocks. What does not stay is what numbers they are stored under, since the other store has given
//! some of its own: ids are moved up by what [`renumbering`](self) reserved there. Nobody sees the account in the new
//! store before all of it is there, because its directories come last.
//!
//! | to follow | read |
//! | --- | --- |
//! | a copy | `copy.rs`, on `renumbering.rs`, `ceilings.rs` and `directories.rs` |
//! | going on after an interruption | `checkpoint.rs`, `source.rs` |
//! | giving a copy up | `forget.rs` |
//! | the text | `export.rs` |
//! | what an account has | `named_objects.rs` |

mod ceilings;
mod checkpoint;
mod copy;
mod directories;
mod export;
mod forget;
mod named_objects;
mod renumbering;
mod source;

pub use copy::{CopyTerms, Progress, copy_account};
pub use export::{ExportSink, export_account};
pub use forget::forget_copy;
pub use named_objects::accounts_of;
pub use source::needs_start_over;
