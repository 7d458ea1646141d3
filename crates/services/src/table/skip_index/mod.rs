//! SkipIndex: what a filter has learnt about the blocks of a table it has read, so that the next one need not.
//!
//! A filter on a property has to look at every entity. A sketch remembers which properties occur in a block of about
//! 64 entities, as hashes; a filter with `eq` that required one that does not occur there skips the block. SkipIndex are
//! made by such scans as they go, live in memory only, and are dropped by the first write to their block.
//!
//! | file | owns |
//! | --- | --- |
//! | `hash.rs` | hashes under which equal values meet |
//! | `required.rs` | what a filter required to occur |
//! | `block.rs` | one sketch, and making it |
//! | `blocks.rs` | all of them, in order, within a bound of memory |
//! | `writes.rs` | writes and builders under way |
//!
//! # Why nothing is ever missed
//!
//! A write is announced before its commit, which drops the skip_index of what it may change, and stays announced until
//! its outcome is what readers see. A builder is registered before it reads, and its skip_index are kept only if no
//! write to them was announced at any moment since. So while a write becomes visible there is no sketch of its block,
//! and every later sketch has been made from a reading that shows it. All of these steps happen under one
//! lock, which is never held while anything is awaited.
//!
//! A caller who goes away in the middle of a write leaves it announced. Its commit may be on its way, so it is
//! settled first: a transaction on the same records returns when what it saw is durable, and with it everything that
//! came before. See `Engine::is_exclusive`, without which there are no skip_index.

mod block;
mod blocks;
mod hash;
mod required_values;
mod writes;

use std::sync::Arc;
use std::time::Instant;

use parking_lot::RwLock;
use tablerock_kv::{Bytes, Clock, Page, Range, Store};
use tablerock_protocol::Filter;

use crate::sharing::Sharing;

use blocks::IndexBlocks;
pub(super) use blocks::RangeMatch;
use hash::PropertyHasher;
use required_values::RequiredValues;
use writes::{InProgress, Ticket, Written};

/// What all skip_index together may take.
const SKIP_INDEX_BYTES_MAX: usize = 32 << 20;

/// The skip_index of all tables of a store.
#[derive(Debug, Clone)]
pub(super) struct SkipIndex(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    store: Store,
    clock: Arc<dyn Clock>,
    opened: Instant,
    hasher: PropertyHasher,
    state: RwLock<IndexState>,
}

#[derive(Debug)]
struct IndexState {
    blocks: IndexBlocks,
    in_progress: InProgress,
    /// Set when it cannot be told any more what readers see: from then on nothing is kept.
    is_off: bool,
}

impl SkipIndex {
    /// SkipIndex for a store, if it is one whose every change goes through this process.
    pub(super) fn of(store: &Store, clock: &Arc<dyn Clock>) -> Option<Self> {
        Sharing::of(store).cache(|| Self::with_bytes_max(store.clone(), clock.clone(), SKIP_INDEX_BYTES_MAX))
    }

    fn with_bytes_max(store: Store, clock: Arc<dyn Clock>, bytes_max: usize) -> Self {
        let state =
            IndexState { blocks: IndexBlocks::new(bytes_max), in_progress: InProgress::default(), is_off: false };
        let (opened, hasher) = (clock.instant(), PropertyHasher::default());
        Self(Arc::new(Shared { store, clock, opened, hasher, state: RwLock::new(state) }))
    }

    /// Says that a transaction is about to change records of a partition. What is returned is told when it is over.
    pub(super) fn announce(&self, partition: &Bytes, keys: &[Bytes]) -> Announcement {
        let written = Arc::new(Written::new(partition.clone(), keys.to_vec()));
        let mut state = self.0.state.write();
        state.blocks.drop_written(&written);
        let ticket = state.in_progress.begin_write(written.clone());
        drop(state);
        Announcement(Some(Announced { skip_index: self.clone(), ticket, written }))
    }

    /// How a filter can make use of skip_index, if it can.
    pub(super) fn search(&self, filter: &Filter) -> Option<SkipSearch> {
        let required = RequiredValues::of(filter, &self.0.hasher);
        (required != RequiredValues::Anything).then(|| SkipSearch { skip_index: self.clone(), required })
    }

    fn seconds(&self) -> u32 {
        u32::try_from((self.0.clock.instant() - self.0.opened).as_secs()).unwrap_or(u32::MAX)
    }

    fn turn_off(&self) {
        let mut state = self.0.state.write();
        state.is_off = true;
        state.blocks.clear();
    }
}

/// A filter in search of what it required.
#[derive(Debug)]
pub(super) struct SkipSearch {
    skip_index: SkipIndex,
    required: RequiredValues,
}

impl SkipSearch {
    /// What is known about the beginning of a range. A range without end is not looked at.
    pub(super) fn look(&self, range: &Range) -> RangeMatch {
        let Some(end) = &range.end else { return RangeMatch::Unindexed(range.clone()) };
        let seconds = self.skip_index.seconds();
        self.skip_index.0.state.read().blocks.look(range, end, &self.required, seconds)
    }

    /// To be called before a range is read, with whose records skip_index are to be made.
    pub(super) fn build(&self, range: Range) -> Building {
        let ticket = self.skip_index.0.state.write().in_progress.begin_build(range.clone());
        Building { skip_index: self.skip_index.clone(), ticket, range }
    }
}

/// A range that is being read.
#[derive(Debug)]
pub(super) struct Building {
    skip_index: SkipIndex,
    ticket: Ticket,
    range: Range,
}

impl Building {
    /// Keeps skip_index of what a scan of the range has found, except where someone wrote in the meantime.
    pub(super) fn keep(self, page: &Page) {
        let blocks = block::cut(&self.range, page, &self.skip_index.0.hasher);
        let seconds = self.skip_index.seconds();
        let mut state = self.skip_index.0.state.write();
        let Some(marks) = state.in_progress.end_build(self.ticket) else { return };
        if state.is_off {
            return;
        }
        for (start, block) in blocks {
            let range = Range::between(start, block.end.clone());
            if !marks.iter().any(|written| written.touches(&range)) {
                state.blocks.insert(range.start, block, seconds);
            }
        }
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        // Does nothing if the skip_index were kept; the reading may have failed, or nobody waits for it any more.
        self.skip_index.0.state.write().in_progress.end_build(self.ticket);
    }
}

/// A write that has been announced. Dropped before it is [`over`](Self::over), it stays announced until its outcome
/// is known.
#[derive(Debug)]
pub(super) struct Announcement(Option<Announced>);

#[derive(Debug)]
struct Announced {
    skip_index: SkipIndex,
    ticket: Ticket,
    written: Arc<Written>,
}

impl Announcement {
    /// To be called when the transaction has returned, whatever its outcome.
    pub(super) fn over(mut self) {
        if let Some(announced) = self.0.take() {
            announced.end();
        }
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        let Some(announced) = self.0.take() else { return };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(announced.settle())),
            Err(_) => announced.give_up(),
        }
    }
}

impl Announced {
    fn end(self) {
        self.skip_index.0.state.write().in_progress.end_write(self.ticket);
    }

    /// Waits until a commit that nobody waits for has become visible, or is known not to have been made.
    async fn settle(self) {
        let Written { partition, keys } = &*self.written;
        let nothing = |_: &mut tablerock_kv::Transaction| Ok::<_, tablerock_kv::Error>(());
        match self.skip_index.0.store.transact(partition, keys.clone(), nothing).await {
            Ok(()) => self.end(),
            Err(error) => {
                tracing::warn!(%error, "the outcome of a write is not known; filters read everything until a restart");
                self.give_up();
            }
        }
    }

    /// Nothing is kept from here on, so that nobody need know of this write either.
    fn give_up(self) {
        self.skip_index.turn_off();
        self.end();
    }
}

#[cfg(test)]
mod tests;
