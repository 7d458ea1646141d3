//! What a server remembers of the front of its queues, so that Get Messages need not look for it.
//!
//! Messages lie in the order in which they become visible, and those at the front keep going away. In a tree that
//! leaves deleted records behind for a while, finding the first message from the start of the queue would take the
//! longer the more messages had passed through; and many consumers would all find, and fight for, the same ones. So a
//! [`Head`] remembers up to where everything has been read, which messages were found there, and which of them are
//! being given out right now. All of this is only a help: what a consumer gets is decided in a transaction on the
//! message itself, so a head that forgets or is wrong costs a second look and nothing else.
//!
//! The exception is a message that a head does not know of and that lies where it does not look again: it would not be
//! given out before the next start. Every write of a message therefore tells the head about its place when it has
//! landed, and a [`Flight`] sees to it even if nobody waits for the write any more.

mod flight;
mod head;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

pub(super) use flight::Flight;
pub(super) use head::Head;

/// Queues whose head is remembered. Each takes some kilobytes; the others start again from the beginning.
const HEADS_MAX: usize = 4096;

/// The heads of all queues in use, by the queue's id. Shared by clones.
#[derive(Debug, Clone)]
pub(super) struct Heads {
    /// `None` if others write to the store as well: then nothing may be remembered.
    known: Option<Arc<Mutex<Known>>>,
}

type Known = HashMap<u64, Arc<Head>>;

impl Heads {
    pub(super) fn new(is_exclusive: bool) -> Self {
        Self { known: is_exclusive.then(Arc::default) }
    }

    /// The head of a queue; a new one, which knows nothing, if none is remembered.
    pub(super) fn of(&self, queue_id: u64) -> Arc<Head> {
        let Some(known) = &self.known else { return Arc::default() };
        let mut known = known.lock();
        if known.len() >= HEADS_MAX && !known.contains_key(&queue_id) {
            // Whoever works with a head now keeps it; for the rest, any choice will do.
            let victim = known.iter().find(|(_, head)| Arc::strong_count(head) == 1).map(|(id, _)| *id);
            victim.map(|id| known.remove(&id));
        }
        known.entry(queue_id).or_default().clone()
    }

    /// Forgets a queue that is gone.
    pub(super) fn forget(&self, queue_id: u64) {
        if let Some(known) = &self.known {
            known.lock().remove(&queue_id);
        }
    }

    fn find(&self, queue_id: u64) -> Option<Arc<Head>> {
        self.known.as_ref()?.lock().get(&queue_id).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_bounded() {
        let heads = Heads::new(true);
        let in_use = heads.of(0);
        for queue_id in 1..2 * HEADS_MAX as u64 {
            heads.of(queue_id);
        }
        assert!(heads.known.as_ref().unwrap().lock().len() <= HEADS_MAX);
        assert!(Arc::ptr_eq(&in_use, &heads.of(0)), "a head in use stays");
    }

    #[test]
    fn nothing_is_remembered_of_a_store_that_others_write_to() {
        let heads = Heads::new(false);
        assert!(!Arc::ptr_eq(&heads.of(1), &heads.of(1)));
        assert!(heads.find(1).is_none());
    }
}
