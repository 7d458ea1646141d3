//! The share of deleted records in the tables, and the decision when to compact them.
//!
//! A deletion is a small record of its own, and the deleted record stays in its table until a compaction sees both. Under
//! writes, compactions are frequent. Without writes there are none: a store that was emptied record by record would keep its
//! size. So the sweeper checks at intervals.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use fjall::{AbstractTree, Keyspace};
use xxhash_rust::xxh3::xxh3_64;

/// Deleted records are compacted when they are this many bytes, and this part of all tables ...
const BYTES_MIN: u64 = 4 << 20;
const PARTS: u64 = 4;

/// ... and all tables are no more than this. A compaction delays others, and a larger one takes too long.
const COMPACT_BYTES_MAX: u64 = 1 << 30;

/// The deletions of an earlier process are not counted. Tables of up to this size are compacted in case, if there is a
/// deletion per so many records.
const UNKNOWN_BYTES_MAX: u64 = 256 << 20;
const UNKNOWN_PARTS: u64 = 64;

/// The deletions between two checks, in records or as a part of all, up to which the store counts as idle. Above, a
/// compaction waits for the end of the deletions.
const LULL_RECORDS: u64 = 1_000;
const LULL_PARTS: u64 = 16;

/// The size of one in so many deleted records is read, chosen by the hash of the key.
const SAMPLE_EVERY: u64 = 16;

/// The deletions since the last compaction.
#[derive(Debug, Default)]
pub(crate) struct Deleted {
    records: AtomicU64,
    /// Estimated by a sample.
    bytes: AtomicU64,
}

impl Deleted {
    /// Counts a record that is about to be deleted.
    pub(crate) fn count(&self, records: &Keyspace, key: &[u8]) {
        self.records.fetch_add(1, Relaxed);
        if !xxh3_64(key).is_multiple_of(SAMPLE_EVERY) {
            return;
        }
        // A record that cannot be read fails elsewhere.
        let bytes = records.size_of(key).ok().flatten().unwrap_or_default();
        self.bytes.fetch_add(u64::from(bytes) * SAMPLE_EVERY, Relaxed);
    }

    /// Returns the deletions so far, in records and bytes.
    pub(crate) fn counted(&self) -> (u64, u64) {
        (self.records.load(Relaxed), self.bytes.load(Relaxed))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Garbage {
    /// The deleted records at the last check.
    seen: u64,
    /// Whether all garbage was deleted by this process.
    is_known: bool,
}

impl Garbage {
    /// Returns whether the garbage is worth a compaction now.
    pub(crate) fn is_due(&self, deleted: &Deleted, records: &Keyspace) -> bool {
        is_worthwhile(deleted.bytes.load(Relaxed), records.disk_space())
    }

    /// Returns whether to compact in an idle moment. Called at intervals.
    pub(crate) fn check(&mut self, deleted: &Deleted, records: &Keyspace) -> bool {
        let count = deleted.records.load(Relaxed);
        let is_lull = count - self.seen <= LULL_RECORDS.max(count / LULL_PARTS);
        self.seen = count;
        is_lull && (self.is_due(deleted, records) || !self.is_known && has_old_garbage(records))
    }

    /// Forgets the deletions that were `counted` before a compaction; later ones are still in the tables.
    pub(crate) fn compacted(&mut self, deleted: &Deleted, counted: (u64, u64)) {
        deleted.records.fetch_sub(counted.0, Relaxed);
        deleted.bytes.fetch_sub(counted.1, Relaxed);
        *self = Self { seen: 0, is_known: true };
    }
}

/// Returns whether there are many deletions, in tables or, read from the journal, in memory.
fn has_old_garbage(records: &Keyspace) -> bool {
    if !(BYTES_MIN..=UNKNOWN_BYTES_MAX).contains(&records.disk_space()) {
        return false;
    }
    let in_memory = records.tree.active_memtable().iter().filter(|record| record.is_tombstone()).count() as u64;
    records.tree.tombstone_count() + in_memory > records.approximate_len() as u64 / UNKNOWN_PARTS
}

fn is_worthwhile(garbage_bytes: u64, disk_bytes: u64) -> bool {
    garbage_bytes >= BYTES_MIN && garbage_bytes >= disk_bytes / PARTS && disk_bytes <= COMPACT_BYTES_MAX
}
