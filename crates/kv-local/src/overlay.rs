//! What is on its way to disk: the newest value of every record that has been committed but not yet published.
//!
//! The order of three steps keeps a reader from missing a value: a commit puts its writes here before it is
//! queued for good, the committer publishes a view that has them before it takes them out, and readers look here
//! first and at the view second.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};

/// Partitions share this many locks.
const STRIPES: usize = 64;

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

/// The pending records of some partitions. Whoever holds its lock decides about them.
#[derive(Default)]
pub(crate) struct Stripe {
    newest: HashMap<Bytes, Pending>,
}

struct Pending {
    sequence: u64,
    value: Option<Bytes>,
}

impl Overlay {
    pub(crate) fn new() -> Self {
        Self { stripes: (0..STRIPES).map(|_| Mutex::default()).collect(), hasher: RandomState::new() }
    }

    /// Which stripe a partition belongs to.
    pub(crate) fn stripe_of(&self, partition: &[u8]) -> usize {
        self.hasher.hash_one(partition) as usize % STRIPES
    }

    pub(crate) fn lock(&self, stripe: usize) -> MutexGuard<'_, Stripe> {
        self.stripes[stripe].lock()
    }
}

impl Stripe {
    /// The pending value of a record, if it has one: `Some(None)` is a pending delete.
    pub(crate) fn get(&self, key: &[u8]) -> Option<&Option<Bytes>> {
        self.newest.get(key).map(|pending| &pending.value)
    }

    pub(crate) fn insert(&mut self, sequence: u64, writes: &[Write]) {
        for Write { key, value } in writes {
            self.newest.insert(key.clone(), Pending { sequence, value: value.clone() });
        }
    }

    /// Takes out the writes of one commit, except where a later commit has replaced them.
    pub(crate) fn remove(&mut self, sequence: u64, writes: &[Write]) {
        for Write { key, .. } in writes {
            if self.newest.get(key).is_some_and(|pending| pending.sequence == sequence) {
                self.newest.remove(key);
            }
        }
    }
}
