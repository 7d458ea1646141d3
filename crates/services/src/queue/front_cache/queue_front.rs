//! The front of one queue.

use std::collections::BTreeSet;

use parking_lot::Mutex;

use crate::queue::keys::MessageKey;

/// Messages that are found and not claimed. Any beyond that are read again.
const WAITING_MAX: usize = 1024;

const FIRST: MessageKey = MessageKey { visible: 0, number: 0 };

/// The front of a queue. Every live message is in `waiting`, in `claimed`, not yet durable, or at or after the key where
/// the next scan starts.
#[derive(Debug)]
pub(in crate::queue) struct QueueFront {
    state: Mutex<FrontState>,
    /// Held by the request that scans, while others wait for what it finds.
    pub(in crate::queue) reading: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct FrontState {
    /// Where the next scan starts.
    next: MessageKey,
    /// Where it starts instead, because of messages that did not fit.
    next_again: Option<MessageKey>,
    /// During a scan: keys committed at or after its start, which the scan may have missed.
    meanwhile: Option<BTreeSet<MessageKey>>,
    waiting: BTreeSet<MessageKey>,
    claimed: BTreeSet<MessageKey>,
}

impl Default for QueueFront {
    fn default() -> Self {
        let state = FrontState {
            next: FIRST,
            next_again: None,
            meanwhile: None,
            waiting: BTreeSet::new(),
            claimed: BTreeSet::new(),
        };
        Self { state: Mutex::new(state), reading: tokio::sync::Mutex::new(()) }
    }
}

impl QueueFront {
    /// Claims up to `count` messages, the first ones. No other request gets them before the claim ends.
    pub(in crate::queue) fn claim(&self, count: usize) -> Vec<MessageKey> {
        let mut state = self.state.lock();
        let keys: Vec<_> = std::iter::from_fn(|| state.waiting.pop_first()).take(count).collect();
        state.claimed.extend(&keys);
        keys
    }

    pub(in crate::queue) fn is_any_waiting(&self) -> bool {
        !self.state.lock().waiting.is_empty()
    }

    /// Returns the start of the next scan, up to what is visible at `now`; `None` if everything there has been read. The
    /// scan follows, and then [`found`](Self::found).
    pub(in crate::queue) fn read_from(&self, now: u64) -> Option<MessageKey> {
        let mut state = self.state.lock();
        let end = end_at(now);
        let from = state.next_again.take().map_or(state.next, |again| again.min(state.next));
        // After an interrupted scan, the next one starts here again.
        state.next = from;
        if from >= end {
            return None;
        }
        state.meanwhile = Some(BTreeSet::new());
        Some(from)
    }

    /// Adds what a scan found, and the key that it reached: `None` if it read everything visible at `now`.
    pub(in crate::queue) fn found(&self, keys: &[MessageKey], reached: Option<MessageKey>, now: u64) {
        let mut state = self.state.lock();
        let next = reached.unwrap_or(end_at(now));
        state.next = next;
        let meanwhile = state.meanwhile.take().unwrap_or_default();
        // The next scan finds keys that were committed farther on.
        for key in keys.iter().chain(meanwhile.range(..next)) {
            state.add(*key);
        }
    }

    /// Records that a write to this key is over: a message may be there.
    pub(super) fn committed(&self, key: MessageKey) {
        let state = &mut *self.state.lock();
        if key < state.next {
            state.add(key);
        } else if let Some(meanwhile) = &mut state.meanwhile {
            if meanwhile.len() < WAITING_MAX {
                meanwhile.insert(key);
            } else {
                state.read_again(key);
            }
        }
    }

    /// Ends claims, whatever their outcome.
    pub(super) fn unclaim(&self, keys: &[MessageKey]) {
        let mut state = self.state.lock();
        for key in keys {
            state.claimed.remove(key);
        }
    }

    /// Returns a key that no committed live message is before.
    pub(in crate::queue) fn first(&self) -> MessageKey {
        let state = self.state.lock();
        let candidates = [state.waiting.first(), state.claimed.first(), state.next_again.as_ref()];
        candidates.into_iter().flatten().copied().fold(state.next, MessageKey::min)
    }
}

impl FrontState {
    fn add(&mut self, key: MessageKey) {
        if self.claimed.contains(&key) {
            return;
        }
        if self.waiting.len() < WAITING_MAX {
            self.waiting.insert(key);
        } else {
            self.read_again(key);
        }
    }

    fn read_again(&mut self, key: MessageKey) {
        self.next_again = Some(self.next_again.map_or(key, |again| again.min(key)));
    }
}

/// The key after everything that is visible at `now`.
fn end_at(now: u64) -> MessageKey {
    MessageKey { visible: now.saturating_add(1), number: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(visible: u64) -> MessageKey {
        MessageKey { visible, number: 1 }
    }

    #[test]
    fn a_message_is_claimed_by_one_and_found_by_none_until_that_is_over() {
        let front = QueueFront::default();
        assert_eq!(front.read_from(10), Some(FIRST));
        front.found(&[key(2), key(1), key(3)], None, 10);
        assert_eq!(front.claim(2), [key(1), key(2)]);
        assert_eq!(front.read_from(10), None, "all of it has been read");
        front.found(&[key(1), key(3)], None, 10);
        assert_eq!(front.claim(2), [key(3)]);
        assert_eq!(front.first(), key(1));
        front.unclaim(&[key(1), key(2), key(3)]);
        front.committed(key(2));
        assert_eq!(front.claim(2), [key(2)], "a claim that came to nothing");
    }

    #[test]
    fn a_commit_behind_a_scan_or_during_it_is_known() {
        let front = QueueFront::default();
        front.committed(key(5));
        assert!(!front.is_any_waiting(), "the first scan will find it");
        front.read_from(10);
        front.committed(key(6));
        front.found(&[], None, 10);
        front.committed(key(7));
        front.committed(key(11));
        assert_eq!(front.claim(9), [key(6), key(7)]);
        assert_eq!(front.read_from(20), Some(end_at(10)), "the next scan finds what was committed after the last one");
    }

    #[test]
    fn what_does_not_fit_is_read_again() {
        let front = QueueFront::default();
        front.read_from(1_000_000);
        let many: Vec<_> = (1..=WAITING_MAX as u64).map(key).collect();
        front.found(&many, None, 1_000_000);
        front.committed(key(600_000));
        front.committed(key(500_000));
        assert_eq!(front.claim(WAITING_MAX + 1).len(), WAITING_MAX);
        assert_eq!(front.read_from(1_000_000), Some(key(500_000)));
    }

    #[test]
    fn commits_during_a_scan_are_bounded_too() {
        let front = QueueFront::default();
        front.read_from(u64::MAX - 1);
        (1..=2 * WAITING_MAX as u64).rev().for_each(|visible| front.committed(key(visible)));
        front.found(&[], None, u64::MAX - 1);
        let fronts: Vec<_> = front.claim(usize::MAX);
        assert_eq!((fronts.len(), fronts[0]), (WAITING_MAX, key(WAITING_MAX as u64 + 1)));
        assert_eq!(front.first(), key(1), "the rest is read again");
        assert_eq!(front.read_from(u64::MAX - 1), Some(key(1)));
    }

    #[test]
    fn a_scan_that_is_cut_short_is_made_again() {
        let front = QueueFront::default();
        front.read_from(10);
        front.committed(key(3));
        assert_eq!(front.read_from(10), Some(FIRST));
        front.committed(key(2));
        front.committed(key(5));
        front.found(&[key(1), key(3)], Some(key(4)), 10);
        assert_eq!(front.read_from(10), Some(key(4)), "which finds what was committed there");
        assert_eq!(front.claim(9), [key(1), key(2), key(3)]);
    }
}
