//! Memory that is taken from the budget, until it is dropped.

use std::sync::Arc;

use bytes::Bytes;

use super::SMALL_BYTES;
use super::ledger::{Holder, Ledger};

/// The memory of a head, a body or a response; empty if that is small.
#[derive(Debug, Default)]
pub(crate) struct MemoryPermit(Option<Taken>);

#[derive(Debug)]
struct Taken {
    ledger: Arc<Ledger>,
    holder: Holder,
    bytes: usize,
}

impl MemoryPermit {
    pub(super) fn new(ledger: Arc<Ledger>, holder: Holder, bytes: usize) -> Self {
        Self(Some(Taken { ledger, holder, bytes }))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The bytes that it covers.
    pub(crate) fn bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |taken| taken.bytes)
    }

    /// Returns to the budget all but `bytes`.
    pub(crate) fn shrink_to(&mut self, bytes: usize) {
        if bytes <= SMALL_BYTES {
            self.0 = None;
        } else if let Some(taken) = &mut self.0
            && bytes < taken.bytes
        {
            taken.ledger.give_back(taken.holder, taken.bytes - bytes);
            taken.bytes = bytes;
        }
    }

    /// Adds the memory of another permit of the same client.
    pub(crate) fn absorb(&mut self, mut other: Self) {
        match (&mut self.0, &mut other.0) {
            (Some(ours), Some(theirs)) => {
                debug_assert_eq!(ours.holder, theirs.holder);
                ours.bytes += std::mem::take(&mut theirs.bytes);
            }
            (None, _) => *self = other,
            (_, None) => {}
        }
    }

    /// Ties the permit to the bytes: it is released with the last reference to them.
    pub(crate) fn hold(self, bytes: Bytes) -> Bytes {
        if self.is_empty() { bytes } else { Bytes::from_owner(Held { bytes, _permit: self }) }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.ledger.give_back(self.holder, self.bytes);
    }
}

struct Held {
    bytes: Bytes,
    _permit: MemoryPermit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
