//! How much of the tables is records that are deleted, and whether it is time to merge them away.
//!
//! A deletion is a small record of its own, and what it deletes stays in its table until the two meet in a merge. While
//! much is written they do so in time. When it is not, they may never: a store that was emptied record by record would
//! stay as large as it was. So somebody has to look now and then.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use fjall::{AbstractTree, Keyspace};
use xxhash_rust::xxh3::xxh3_64;

/// Deleted records are merged away when they are this much, and this part of all tables ...
const BYTES_MIN: u64 = 4 << 20;
const PARTS: u64 = 4;

/// ... and all tables are no more than this. Merging holds other merges up, and more would take too long.
const MERGE_BYTES_MAX: u64 = 1 << 30;

/// What was deleted by an earlier process is not known. Tables of up to this much are merged to be on the safe side, if
/// there is a deletion to so many records.
const UNKNOWN_BYTES_MAX: u64 = 256 << 20;
const UNKNOWN_PARTS: u64 = 64;

/// Between two looks so many more records may have been deleted, or this part of all. If it is more, it is better to wait
/// for the end of it.
const LULL_RECORDS: u64 = 1_000;
const LULL_PARTS: u64 = 16;

/// One of so many deletions is looked into, whichever the keys happen to choose.
const SAMPLE_EVERY: u64 = 16;

/// What was deleted since the last merge.
#[derive(Debug, Default)]
pub(crate) struct Deleted {
    records: AtomicU64,
    /// By a sample of them.
    bytes: AtomicU64,
}

impl Deleted {
    /// To be told of each record that is about to be deleted.
    pub(crate) fn note(&self, records: &Keyspace, key: &[u8]) {
        self.records.fetch_add(1, Relaxed);
        if !xxh3_64(key).is_multiple_of(SAMPLE_EVERY) {
            return;
        }
        // If the record cannot be read, others will say so.
        let bytes = records.size_of(key).ok().flatten().unwrap_or_default();
        self.bytes.fetch_add(u64::from(bytes) * SAMPLE_EVERY, Relaxed);
    }

    fn forget(&self) {
        self.records.store(0, Relaxed);
        self.bytes.store(0, Relaxed);
    }
}

#[derive(Debug, Default)]
pub(crate) struct Garbage {
    /// Records that had been deleted at the last look.
    seen: u64,
    /// Whether everything that may be garbage was deleted by this process.
    is_known: bool,
}

impl Garbage {
    /// Whether to merge at once, because so much was just deleted.
    pub(crate) fn is_due(&self, deleted: &Deleted, records: &Keyspace) -> bool {
        is_worthwhile(deleted.bytes.load(Relaxed), records.disk_space())
    }

    /// Whether to merge, now that there is nothing else to do. To be asked now and then.
    pub(crate) fn look(&mut self, deleted: &Deleted, records: &Keyspace) -> bool {
        let count = deleted.records.load(Relaxed);
        let is_lull = count - self.seen <= LULL_RECORDS.max(count / LULL_PARTS);
        self.seen = count;
        is_lull && (self.is_due(deleted, records) || !self.is_known && has_old_garbage(records))
    }

    pub(crate) fn merged(&mut self, deleted: &Deleted) {
        deleted.forget();
        *self = Self { seen: 0, is_known: true };
    }
}

/// Whether there are many deletions, in tables or, out of the journal, in memory.
fn has_old_garbage(records: &Keyspace) -> bool {
    if !(BYTES_MIN..=UNKNOWN_BYTES_MAX).contains(&records.disk_space()) {
        return false;
    }
    let in_memory = records.tree.active_memtable().iter().filter(|record| record.is_tombstone()).count() as u64;
    records.tree.tombstone_count() + in_memory > records.approximate_len() as u64 / UNKNOWN_PARTS
}

fn is_worthwhile(garbage_bytes: u64, disk_bytes: u64) -> bool {
    garbage_bytes >= BYTES_MIN && garbage_bytes >= disk_bytes / PARTS && disk_bytes <= MERGE_BYTES_MAX
}
