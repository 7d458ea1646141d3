//! Counters of commits and syncs.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counters since the engine was opened, and the current backlog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statistics {
    /// Commits that succeeded, those without writes included.
    pub commits: u64,
    /// Commits that failed because a record had changed.
    pub conflicts: u64,
    /// Groups of commits that went to disk together.
    pub groups: u64,
    /// Times the journal was synced for them.
    pub syncs: u64,
    /// Bytes of commits that wait for the disk, rounded up.
    pub pending_bytes: u64,
    /// Dropped ranges whose space is not reclaimed yet.
    pub ranges_to_sweep: u64,
    /// Bytes of tables on disk, without the journals.
    pub disk_bytes: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    commits: AtomicU64,
    conflicts: AtomicU64,
    groups: AtomicU64,
    syncs: AtomicU64,
}

impl Counters {
    pub(crate) fn committed(&self, commits: usize) {
        self.commits.fetch_add(commits as u64, Relaxed);
    }

    pub(crate) fn conflicted(&self) {
        self.conflicts.fetch_add(1, Relaxed);
    }

    pub(crate) fn synced_group(&self) {
        self.groups.fetch_add(1, Relaxed);
        self.syncs.fetch_add(1, Relaxed);
    }

    pub(crate) fn read(&self, pending_bytes: u64, ranges_to_sweep: u64, disk_bytes: u64) -> Statistics {
        Statistics {
            commits: self.commits.load(Relaxed),
            conflicts: self.conflicts.load(Relaxed),
            groups: self.groups.load(Relaxed),
            syncs: self.syncs.load(Relaxed),
            pending_bytes,
            ranges_to_sweep,
            disk_bytes,
        }
    }
}
