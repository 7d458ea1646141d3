//! How much of the tables is records that are deleted, and whether it is time to merge them away.
//!
//! A deletion is a small record of its own, and what it deletes stays in its table until the two meet in a merge. While
//! much is written they do so in time. When it is not, they may never: a store that was emptied record by record would
//! stay as large as it was. So somebody has to look now and then.

use fjall::{AbstractTree, Keyspace};

/// Deleted records are merged away at once when they are this much, and this part of all tables ...
const BYTES_MIN: u64 = 4 << 20;
const PARTS: u64 = 4;

/// ... and all tables are no more than this. Merging holds other merges up, and more would take too long.
const MERGE_BYTES_MAX: u64 = 1 << 30;

/// Between two looks there may be this part more deletions, no more. If there are, records are being deleted right now,
/// and it is better to wait for the end of it.
const LULL_PARTS: u64 = 16;

/// How many deletions are looked into to learn what they deleted.
const SAMPLES: usize = 128;

#[derive(Debug, Default)]
pub(crate) struct Garbage {
    /// Bytes of records that were swept since the last merge. Unlike all others these are known.
    swept_bytes: u64,
    /// Deletions that were there at the last look.
    seen: u64,
    /// Deletions that the last merge has left, because somebody could still see what they deleted.
    unmerged: u64,
}

impl Garbage {
    /// Whether to merge, after this many more bytes were swept.
    pub(crate) fn sweep(&mut self, bytes: u64, records: &Keyspace) -> bool {
        self.swept_bytes += bytes;
        is_worthwhile(self.swept_bytes, records.disk_space())
    }

    /// Whether to merge, now that there is nothing to sweep. To be asked now and then.
    pub(crate) fn look(&mut self, records: &Keyspace) -> bool {
        let disk_bytes = records.disk_space();
        // Without this a memory full of writes would be looked through each time.
        if !is_worthwhile(disk_bytes, disk_bytes) {
            return false;
        }
        let recent = Recent::look(records);
        let deletions = records.tree.tombstone_count() + recent.deletions;
        let is_lull = deletions - deletions / LULL_PARTS <= self.seen;
        self.seen = deletions;
        let mean = recent.mean_bytes.unwrap_or_else(|| {
            let others = (records.approximate_len() as u64).saturating_sub(deletions);
            disk_bytes / others.max(1)
        });
        let bytes = deletions.saturating_sub(self.unmerged).saturating_mul(mean).min(disk_bytes);
        is_lull && is_worthwhile(bytes, disk_bytes)
    }

    pub(crate) fn merged(&mut self, records: &Keyspace) {
        let left = records.tree.tombstone_count();
        *self = Self { swept_bytes: 0, seen: left, unmerged: left };
    }
}

fn is_worthwhile(garbage_bytes: u64, disk_bytes: u64) -> bool {
    garbage_bytes >= BYTES_MIN && garbage_bytes >= disk_bytes / PARTS && disk_bytes <= MERGE_BYTES_MAX
}

/// Deletions that are in memory still, and how much they deleted on average, if there are any.
struct Recent {
    deletions: u64,
    mean_bytes: Option<u64>,
}

impl Recent {
    fn look(records: &Keyspace) -> Self {
        let memory = records.tree.active_memtable();
        let deletions = memory.iter().filter(|record| record.is_tombstone()).count();
        let step = deletions.div_ceil(SAMPLES).max(1);
        let samples = memory.iter().filter(|record| record.is_tombstone()).step_by(step);
        // What a deletion deletes is what was there just before it. If that cannot be read, others will say so.
        let sizes = samples.map(|deletion| {
            let size = records.tree.size_of(&deletion.key.user_key, deletion.key.seqno);
            size.ok().flatten().map_or(0, u64::from)
        });
        let (count, bytes) = sizes.fold((0, 0), |(count, bytes), size| (count + 1, bytes + size));
        Self { deletions: deletions as u64, mean_bytes: (count > 0).then(|| bytes / count) }
    }
}
