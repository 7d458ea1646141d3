//! The cache of the fronts of queues, so that Get Messages need not search.
//!
//! Messages are stored in the order in which they become visible, and those at the front keep being deleted. An engine
//! keeps deleted records for a while, so a scan from the start of the queue takes longer the more messages have passed
//! through it; and many consumers would find, and contend for, the same messages. So a [`QueueFront`] remembers up to
//! which key the queue has been read, which messages were found there, and which of them are claimed. It is only a hint:
//! a transaction on the message itself decides what a consumer gets, so a stale entry costs a second read.
//!
//! The exception is a message that the cache does not know of, at a key that is not read again: no consumer would get it
//! before the next start. So every write of a message reports its key to the front once it is committed, and a
//! [`PendingMove`] does so even after the request is gone.

mod pending_move;
mod queue_front;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::sharing::Sharing;

pub(super) use pending_move::PendingMove;
pub(super) use queue_front::QueueFront;

/// Queues whose front is cached. Each takes some kilobytes; any other queue is read from its start.
const FRONTS_MAX: usize = 4096;

/// The fronts of all queues in use, by the queue's id. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct FrontCache {
    /// `None` if other servers write to the store.
    fronts: Option<Arc<Mutex<Fronts>>>,
}

type Fronts = HashMap<u64, Arc<QueueFront>>;

impl FrontCache {
    pub(super) fn new(sharing: Sharing) -> Self {
        Self { fronts: sharing.cache(Arc::default) }
    }

    /// Returns the front of a queue; an empty one if none is cached.
    pub(super) fn of(&self, queue_id: u64) -> Arc<QueueFront> {
        let Some(fronts) = &self.fronts else { return Arc::default() };
        let mut fronts = fronts.lock();
        if fronts.len() >= FRONTS_MAX && !fronts.contains_key(&queue_id) {
            // A front in use stays; any other may go.
            let victim = fronts.iter().find(|(_, front)| Arc::strong_count(front) == 1).map(|(id, _)| *id);
            victim.map(|id| fronts.remove(&id));
        }
        fronts.entry(queue_id).or_default().clone()
    }

    /// Removes a queue that is gone.
    pub(super) fn forget(&self, queue_id: u64) {
        if let Some(fronts) = &self.fronts {
            fronts.lock().remove(&queue_id);
        }
    }

    fn find(&self, queue_id: u64) -> Option<Arc<QueueFront>> {
        self.fronts.as_ref()?.lock().get(&queue_id).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_bounded() {
        let front_cache = FrontCache::new(Sharing::Exclusive);
        let in_use = front_cache.of(0);
        for queue_id in 1..2 * FRONTS_MAX as u64 {
            front_cache.of(queue_id);
        }
        assert!(front_cache.fronts.as_ref().unwrap().lock().len() <= FRONTS_MAX);
        assert!(Arc::ptr_eq(&in_use, &front_cache.of(0)), "a front in use stays");
    }

    #[test]
    fn nothing_is_cached_of_a_store_that_others_write_to() {
        let front_cache = FrontCache::new(Sharing::Shared);
        assert!(!Arc::ptr_eq(&front_cache.of(1), &front_cache.of(1)));
        assert!(front_cache.find(1).is_none());
    }
}
