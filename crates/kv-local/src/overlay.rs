//! The newest value of every record that is committed but not yet published.
//!
//! The order of three steps keeps a reader from missing a value: a commit inserts its writes here while it is queued, the
//! committer publishes a view with them before it removes them here, and readers read the overlay before the view.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};

/// Partitions share this many locks.
const STRIPES: usize = 64;

/// Larger values are not kept.
const NOTED_BYTES_MAX: usize = 4096;

/// A change of one record, by its physical key; `None` deletes it.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    pub(crate) key: Bytes,
    pub(crate) value: Option<Bytes>,
}

pub(crate) struct Overlay {
    stripes: Vec<Mutex<Stripe>>,
    hasher: RandomState,
}

/// The pending records of some partitions. Its lock orders their commits.
#[derive(Default)]
pub(crate) struct Stripe {
    newest: HashMap<Bytes, Pending>,
    /// Counts the commits of these partitions.
    commits: u64,
    last_read: Option<LastRead>,
}

/// A record read from a view, with no commit since. Most commits expect one record that their transaction has just read,
/// and need not search for it again.
struct LastRead {
    key: Vec<u8>,
    value: Option<Bytes>,
}

struct Pending {
    sequence: u64,
    value: Option<Bytes>,
}

impl Overlay {
    pub(crate) fn new() -> Self {
        Self { stripes: (0..STRIPES).map(|_| Mutex::default()).collect(), hasher: RandomState::new() }
    }

    /// Returns the stripe of a partition.
    pub(crate) fn stripe_of(&self, partition: &[u8]) -> usize {
        self.hasher.hash_one(partition) as usize % STRIPES
    }

    pub(crate) fn lock(&self, stripe: usize) -> MutexGuard<'_, Stripe> {
        self.stripes[stripe].lock()
    }
}

impl Stripe {
    /// Returns the pending value of a record; `Some(None)` is a pending delete.
    pub(crate) fn get(&self, key: &[u8]) -> Option<&Option<Bytes>> {
        self.newest.get(key).map(|pending| &pending.value)
    }

    pub(crate) fn commits(&self) -> u64 {
        self.commits
    }

    /// Keeps a record read from a view, if there was no commit since `commits`.
    pub(crate) fn note_read(&mut self, commits: u64, key: Vec<u8>, value: &Option<Bytes>) {
        let bytes = value.as_ref().map_or(0, Bytes::len);
        if self.commits == commits && bytes <= NOTED_BYTES_MAX {
            self.last_read = Some(LastRead { key, value: value.clone() });
        }
    }

    /// Takes the kept value of a record, which equals that of the current view.
    pub(crate) fn take_read(&mut self, key: &[u8]) -> Option<Option<Bytes>> {
        self.last_read.take_if(|read| read.key == key).map(|read| read.value)
    }

    pub(crate) fn insert(&mut self, sequence: u64, writes: &[Write]) {
        self.commits += 1;
        self.last_read = None;
        for Write { key, value } in writes {
            self.newest.insert(key.clone(), Pending { sequence, value: value.clone() });
        }
    }

    /// Removes the writes of one commit, except where a later commit has replaced them.
    pub(crate) fn remove(&mut self, sequence: u64, writes: &[Write]) {
        for Write { key, .. } in writes {
            if self.newest.get(key).is_some_and(|pending| pending.sequence == sequence) {
                self.newest.remove(key);
            }
        }
    }
}
