//! The keys of name directories. `docs/keys.md` specifies them.

use tablerock_kv::key::{KeyBuilder, KeyReader};
use tablerock_kv::{Bytes, Position, Range, Result, prefix_end};

use super::Namespace;
use crate::keys::records_with_tag;

/// Begins the key of a tombstone. No name begins with it.
const TOMBSTONE: u8 = 0;

impl Namespace {
    /// The partition of an account's directory.
    pub fn directory(self, account: &str) -> Bytes {
        KeyBuilder::with_capacity(4 + account.len()).tag(self.facts().0).text(account).finish()
    }

    /// The directories of all accounts.
    pub fn directories(self) -> Range {
        Range::partitions(&[self.facts().0])
    }

    /// All tombstones of a directory.
    pub fn tombstones(self, account: &str) -> Range {
        records_with_tag(&self.directory(account), TOMBSTONE)
    }

    /// The rows of a directory whose names begin with `prefix` and are not before `from`.
    pub fn rows(self, account: &str, prefix: &str, from: &str) -> Range {
        let directory = self.directory(account);
        let first = prefix.max(from).as_bytes();
        let first = if first.is_empty() { &[TOMBSTONE + 1] } else { first };
        let end = match prefix_end(prefix.as_bytes()) {
            Some(end) => Position::new(directory.clone(), end),
            None => Position::end_of(&directory),
        };
        Range::between(Position::new(directory, first.to_vec()), end)
    }
}

/// The key of a row. Tables are stored under their name in lower case, under which all spellings meet.
pub fn row_key(name: &str) -> Bytes {
    Bytes::copy_from_slice(name.as_bytes())
}

/// The tombstone of an object that is dropped and whose records are still to be deleted.
pub fn tombstone_key(id: u64) -> Bytes {
    KeyBuilder::new().tag(TOMBSTONE).number(id).finish()
}

/// The id of the dropped object.
pub fn id_of_tombstone(key: &[u8]) -> Result<u64> {
    let mut pieces = KeyReader::new(key);
    pieces.tag()?;
    pieces.number()
}

/// The account of a directory.
pub(crate) fn account_of(directory: &[u8]) -> Result<String> {
    let mut pieces = KeyReader::new(directory);
    pieces.tag()?;
    Ok(pieces.text()?.into_owned())
}

pub(crate) fn is_tombstone(key: &[u8]) -> bool {
    key.first() == Some(&TOMBSTONE)
}
