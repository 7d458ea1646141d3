//! What a server remembers of the front of its queues, so that Get Messages need not look for it.
//!
//! Messages lie in the order in which they become visible, and those at the front keep going away. In a tree that
//! leaves deleted records behind for a while, finding the first message from the start of the queue would take the
//! longer the more messages had passed through; and many consumers would all find, and fight for, the same ones. So a
//! [`QueueFront`] remembers up to where everything has been read, which messages were found there, and which of them are
//! being given out right now. All of this is only a help: what a consumer gets is decided in a transaction on the
//! message itself, so a front that forgets or is wrong costs a second look and nothing else.
//!
//! The exception is a message that a front does not know of and that lies where it does not look again: it would not be
//! given out before the next start. Every write of a message therefore tells the front about its place when it has
//! landed, and a [`PendingMove`] sees to it even if nobody waits for the write any more.

mod pending_move;
mod queue_front;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::sharing::Sharing;

pub(super) use pending_move::PendingMove;
pub(super) use queue_front::QueueFront;

/// Queues whose front is remembered. Each takes some kilobytes; the others start again from the beginning.
const FRONTS_MAX: usize = 4096;

/// The front_cache of all queues in use, by the queue's id. Shared by clones.
#[derive(Debug, Clone)]
pub(super) struct FrontCache {
    /// `None` if others write to the store as well: then nothing may be remembered.
    fronts: Option<Arc<Mutex<Fronts>>>,
}

type Fronts = HashMap<u64, Arc<QueueFront>>;

impl FrontCache {
    pub(super) fn new(sharing: Sharing) -> Self {
        Self { fronts: sharing.cache(Arc::default) }
    }

    /// The front of a queue; a new one, which knows nothing, if none is remembered.
    pub(super) fn of(&self, queue_id: u64) -> Arc<QueueFront> {
        let Some(fronts) = &self.fronts else { return Arc::default() };
        let mut fronts = fronts.lock();
        if fronts.len() >= FRONTS_MAX && !fronts.contains_key(&queue_id) {
            // Whoever works with a front now keeps it; for the rest, any choice will do.
            let victim = fronts.iter().find(|(_, front)| Arc::strong_count(front) == 1).map(|(id, _)| *id);
            victim.map(|id| fronts.remove(&id));
        }
        fronts.entry(queue_id).or_default().clone()
    }

    /// Forgets a queue that is gone.
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
    fn what_is_remembered_is_bounded() {
        let front_cache = FrontCache::new(Sharing::Exclusive);
        let in_use = front_cache.of(0);
        for queue_id in 1..2 * FRONTS_MAX as u64 {
            front_cache.of(queue_id);
        }
        assert!(front_cache.fronts.as_ref().unwrap().lock().len() <= FRONTS_MAX);
        assert!(Arc::ptr_eq(&in_use, &front_cache.of(0)), "a front in use stays");
    }

    #[test]
    fn nothing_is_remembered_of_a_store_that_others_write_to() {
        let front_cache = FrontCache::new(Sharing::Shared);
        assert!(!Arc::ptr_eq(&front_cache.of(1), &front_cache.of(1)));
        assert!(front_cache.find(1).is_none());
    }
}
