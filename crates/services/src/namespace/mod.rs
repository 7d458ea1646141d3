//! The name directory that tables, queues and containers have in common.
//!
//! An account's directory is one partition. Each row leads from a name to an id, under which the records of the object
//! are stored. Names only lead to ids, so to drop an object and to create it again are both instant: a drop deletes the
//! row and leaves a *tombstone* with the id, and the records under that id are deleted afterwards. If that is
//! interrupted, a sweep finds the tombstone and finishes the drop.
//!
//! | file | owns |
//! | --- | --- |
//! | `keys.rs` | the keys of rows and tombstones |
//! | `directory.rs` | rows: find, insert, change, drop |
//! | `looks.rs`, `id_hints.rs` | records together with the row that leads to them |
//! | `policies.rs` | stored access policies that admit a request |
//! | `sweep.rs` | finishing drops, and the background loop around it |

mod directory;
mod id_hints;
mod keys;
mod looks;
mod policies;
mod sweep;

use tablerock_kv::{Bytes, Error, Result};
use tablerock_protocol::xml::StoredAccessPolicies;

use crate::fields::corrupt;
use crate::{blob, keys as system, queue, table};

pub(crate) use directory::{Directory, Entry};
pub(crate) use keys::{account_of, is_tombstone};
pub use keys::{id_of_tombstone, row_key, tombstone_key};
pub(crate) use looks::{FoundRecords, LOOKS_MAX, again_and_again};
pub(crate) use sweep::{Sweep, drop_or_retry, finish_drops, keep_sweeping, sweep_if_leader};

/// The kinds of named objects, in the order in which an account is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Namespace {
    Tables,
    Queues,
    Containers,
}

impl Namespace {
    pub const ALL: [Self; 3] = [Self::Tables, Self::Queues, Self::Containers];

    /// The tag of its directories, the word for one object, and the keys of its next id and of its sweep lease.
    const fn facts(self) -> (u8, &'static str, &'static [u8], &'static [u8]) {
        match self {
            Self::Tables => (b'd', "table", table::keys::NEXT_TABLE_ID, system::TABLE_SWEEP_LEASE),
            Self::Queues => (b'q', "queue", queue::keys::NEXT_QUEUE_ID, system::QUEUE_SWEEP_LEASE),
            Self::Containers => (b'c', "container", blob::keys::NEXT_CONTAINER_ID, system::BLOB_SWEEP_LEASE),
        }
    }

    /// The word for one object, for logs.
    fn object(self) -> &'static str {
        self.facts().1
    }
}

/// The format of every row so far. The id follows it in all three directories.
const ROW_FORMAT: u8 = 1;

/// Returns the id in a row, without decoding the rest. Every operation on an object's records asks for it.
pub(crate) fn id_of_row(row: &[u8]) -> Result<u64> {
    match row.split_first_chunk::<9>() {
        Some(([ROW_FORMAT, id @ ..], _)) => Ok(u64::from_be_bytes(*id)),
        _ => Err(corrupt("a row of a name directory")),
    }
}

/// Returns the name that a row is stored under.
pub(crate) fn name_of_row(key: &[u8]) -> Result<String> {
    String::from_utf8(key.to_vec()).map_err(|_| Error::corrupt("a name in a directory is not UTF-8"))
}

/// Decodes the stored access policies of a row, which are XML; nothing means none.
pub(crate) fn decode_policies(policies: &[u8], letters: &str) -> Result<StoredAccessPolicies> {
    if policies.is_empty() {
        return Ok(StoredAccessPolicies::default());
    }
    StoredAccessPolicies::parse(policies, letters).map_err(|_| corrupt("stored access policies"))
}

/// Returns a row with another id.
pub(crate) fn row_with_id(row: &[u8], id: u64) -> Bytes {
    [&row[..1], &id.to_be_bytes(), &row[9..]].concat().into()
}
