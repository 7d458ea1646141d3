//! The skip index: which values occur in which blocks of a table, so that a filter can skip the others.
//!
//! A filter on a property has to read every entity. The index has the properties of a block of about 64 entities, as
//! hashes; a filter with `eq` skips a block in which the value that it requires does not occur. Such filters build the
//! index as they scan. It lives in memory only, and the first write to a block drops its entry.
//!
//! | file | owns |
//! | --- | --- |
//! | `hash.rs` | hashes that are the same for equal values |
//! | `required_values.rs` | the values that a filter requires |
//! | `block.rs` | the index of one block, and how to build it |
//! | `blocks.rs` | all blocks, in order, within a memory bound |
//! | `writes.rs` | writes and builds in progress |
//!
//! # Why no match is ever skipped
//!
//! A write is announced before its commit, which drops the blocks that it may change, and stays announced until readers
//! see its outcome. A build is registered before it reads, and its blocks are kept only if no write to them was announced
//! at any moment since. So while a write becomes visible there is no index of its block, and every later index is built
//! from a read that shows it. All of these steps happen under one lock, which is never held across an await.
//!
//! A request that is dropped in the middle of a write leaves it announced. Its commit may be in progress, so a task waits
//! first: a transaction on the same records returns when what it read is durable, and with it everything before. That
//! holds on an [exclusive](Store::is_exclusive) store only; on any other there is no skip index.

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

/// The memory of the whole index.
const SKIP_INDEX_BYTES_MAX: usize = 32 << 20;

/// The skip index of all tables of a store. Clones share it.
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
    /// Set when it is unknown what readers see: from then on nothing is indexed.
    is_off: bool,
}

impl SkipIndex {
    /// Returns an index for a store, if every write to it passes through this process.
    pub(super) fn of(store: &Store, clock: &Arc<dyn Clock>) -> Option<Self> {
        Sharing::of(store).cache(|| Self::with_bytes_max(store.clone(), clock.clone(), SKIP_INDEX_BYTES_MAX))
    }

    fn with_bytes_max(store: Store, clock: Arc<dyn Clock>, bytes_max: usize) -> Self {
        let state =
            IndexState { blocks: IndexBlocks::new(bytes_max), in_progress: InProgress::default(), is_off: false };
        let (opened, hasher) = (clock.instant(), PropertyHasher::default());
        Self(Arc::new(Shared { store, clock, opened, hasher, state: RwLock::new(state) }))
    }

    /// Announces a transaction that is about to change records of a partition.
    pub(super) fn announce(&self, partition: &Bytes, keys: &[Bytes]) -> Announcement {
        let written = Arc::new(Written::new(partition.clone(), keys.to_vec()));
        let mut state = self.0.state.write();
        state.blocks.drop_written(&written);
        let ticket = state.in_progress.begin_write(written.clone());
        drop(state);
        Announcement(Some(Announced { skip_index: self.clone(), ticket, written }))
    }

    /// Returns a search for a filter that the index can help.
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

/// A filter that uses the index.
#[derive(Debug)]
pub(super) struct SkipSearch {
    skip_index: SkipIndex,
    required: RequiredValues,
}

impl SkipSearch {
    /// Returns what the index has about the beginning of a range. A range without end is not examined.
    pub(super) fn look(&self, range: &Range) -> RangeMatch {
        let Some(end) = &range.end else { return RangeMatch::Unindexed(range.clone()) };
        let seconds = self.skip_index.seconds();
        self.skip_index.0.state.read().blocks.look(range, end, &self.required, seconds)
    }

    /// Registers a build. To be called before its range is read.
    pub(super) fn build(&self, range: Range) -> Building {
        let ticket = self.skip_index.0.state.write().in_progress.begin_build(range.clone());
        Building { skip_index: self.skip_index.clone(), ticket, range }
    }
}

/// A build in progress: a range that is being read.
#[derive(Debug)]
pub(super) struct Building {
    skip_index: SkipIndex,
    ticket: Ticket,
    range: Range,
}

impl Building {
    /// Indexes what a scan of the range returned, except blocks that were written to in the meantime.
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
        // Does nothing after `keep`. Otherwise the read failed, or its request is gone.
        self.skip_index.0.state.write().in_progress.end_build(self.ticket);
    }
}

/// An announced write. Dropped before [`over`](Self::over), it stays announced until its outcome is known.
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

    /// Waits until an abandoned commit has become visible, or is known not to have happened.
    async fn settle(self) {
        let Written { partition, keys } = &*self.written;
        let nothing = |_: &mut tablerock_kv::Transaction| Ok::<_, tablerock_kv::Error>(());
        match self.skip_index.0.store.transact(partition, keys.clone(), nothing).await {
            Ok(()) => self.end(),
            Err(error) => {
                tracing::warn!(?partition, %error, "the outcome of a write is unknown, skip index off until a restart");
                self.give_up();
            }
        }
    }

    /// Turns the index off, so that this write no longer matters.
    fn give_up(self) {
        self.skip_index.turn_off();
        self.end();
    }
}

#[cfg(test)]
mod tests;
