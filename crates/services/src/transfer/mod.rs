//! Copying an account from one store to another, and exporting an account as text.
//!
//! A copy consists of records, so entities, messages and blobs keep everything: Timestamps, ETags, ids, leases, snapshots
//! and uncommitted blocks. Only the numbers that they are stored under change, because the other store has used some
//! itself: `renumbering.rs` reserves numbers there, and shifts all ids by as much. The account becomes visible in the new
//! store when all of it is there, because its directories come last.
//!
//! | to follow | read |
//! | --- | --- |
//! | a copy | `copy.rs`, on `renumbering.rs`, `ceilings.rs` and `directories.rs` |
//! | resuming after an interruption | `checkpoint.rs`, `source.rs` |
//! | giving a copy up | `forget.rs` |
//! | the text | `export.rs` |
//! | the objects of an account | `named_objects.rs` |

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
