//! All indexed blocks: disjoint, in the order of the store, within a memory bound.

use std::collections::BTreeMap;
use std::ops::Bound;

use tablerock_kv::{Position, Range};

use super::block::{BLOCK_RECORDS, IndexBlock};
use super::required_values::RequiredValues;
use super::writes::Written;

/// Blocks that one lookup examines before it releases the lock and its caller checks the deadline.
const LOOKUP_BLOCKS_MAX: usize = 512;

/// Blocks in a row that may match and are read as one.
const JOINED_BLOCKS_MAX: usize = 8;

/// A block that was used within this time is not evicted for a new one. So a scan of more than fits keeps the index as
/// it is, instead of replacing all of it each time.
const IDLE_SECONDS: u32 = 60;

/// Blocks that one new block examines in search of an idle one.
const EVICTION_STEPS: usize = 8;

/// The result of a lookup in the index, from the beginning of a range on.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::table) enum RangeMatch {
    /// Nothing in the whole range matches.
    None,
    /// Nothing before this position matches; the rest has not been examined.
    NoneBefore(Position),
    /// Nothing before this range matches. The range has no index yet.
    Unindexed(Range),
    /// Nothing before this range matches. According to the index, something in it may.
    Possible(Range),
}

#[derive(Debug)]
pub(super) struct IndexBlocks {
    blocks: BTreeMap<Position, IndexBlock>,
    bytes: usize,
    bytes_max: usize,
    /// Where the search for an idle block goes on.
    hand: Position,
}

impl IndexBlocks {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { blocks: BTreeMap::new(), bytes: 0, bytes_max, hand: Position::new("", "") }
    }

    pub(super) fn clear(&mut self) {
        self.blocks.clear();
        self.bytes = 0;
    }

    /// Examines the blocks that cover the beginning of a range, which has an end and is not empty.
    pub(super) fn look(&self, range: &Range, end: &Position, required: &RequiredValues, seconds: u32) -> RangeMatch {
        let mut at = &range.start;
        for (passed, (start, block)) in self.blocks_from(at).enumerate() {
            if start > at {
                return RangeMatch::Unindexed(Range::between(at.clone(), start.min(end).clone()));
            }
            block.use_at(seconds);
            if block.may_match(required) {
                return RangeMatch::Possible(self.possible(at, end, required));
            }
            at = &block.end;
            if at >= end {
                return RangeMatch::None;
            }
            if passed == LOOKUP_BLOCKS_MAX {
                return RangeMatch::NoneBefore(at.clone());
            }
        }
        RangeMatch::Unindexed(Range::between(at.clone(), end.clone()))
    }

    /// The blocks in a row, from the one at `start`, that may match.
    fn possible(&self, start: &Position, end: &Position, required: &RequiredValues) -> Range {
        let mut at = start;
        for (next, block) in self.blocks_from(start).take(JOINED_BLOCKS_MAX) {
            if next > at || at >= end || !block.may_match(required) {
                break;
            }
            at = &block.end;
        }
        Range::between(start.clone(), at.min(end).clone())
    }

    /// The block that covers a place, if there is one, and all that follow.
    fn blocks_from(&self, at: &Position) -> impl Iterator<Item = (&Position, &IndexBlock)> {
        let following = self.blocks.range((Bound::Excluded(at), Bound::Unbounded));
        self.covering(at).into_iter().chain(following)
    }

    fn covering(&self, at: &Position) -> Option<(&Position, &IndexBlock)> {
        self.blocks.range(..=at).next_back().filter(|(_, block)| block.end > *at)
    }

    /// Drops the blocks that are about to change.
    pub(super) fn drop_written(&mut self, written: &Written) {
        if self.blocks.is_empty() {
            return;
        }
        for position in written.positions() {
            if let Some(start) = self.covering(&position).map(|(start, _)| start.clone()) {
                self.remove(&start);
            }
        }
    }

    /// Adds a block if there is room for it, joined with its neighbours if they are small. If another request has
    /// indexed a part of it in the meantime, that one stays.
    pub(super) fn insert(&mut self, mut start: Position, mut block: IndexBlock, seconds: u32) {
        if self.blocks_from(&start).next().is_some_and(|(next, _)| *next < block.end) {
            return;
        }
        block.use_at(seconds);
        if let Some((before, previous)) = self.blocks.range(..&start).next_back()
            && previous.end == start
            && previous.records + block.records <= BLOCK_RECORDS
        {
            (block, start) = (previous.followed_by(&block), before.clone());
            self.remove(&start);
        }
        if let Some(next) = self.blocks.get(&block.end)
            && block.records + next.records <= BLOCK_RECORDS
        {
            let (joined, next) = (block.followed_by(next), block.end);
            self.remove(&next);
            block = joined;
        }
        let bytes = block.bytes(&start);
        if self.make_room(bytes, seconds) {
            self.bytes += bytes;
            self.blocks.insert(start, block);
        }
    }

    fn remove(&mut self, start: &Position) {
        if let Some(block) = self.blocks.remove(start) {
            self.bytes -= block.bytes(start);
        }
    }

    /// Evicts idle blocks, like the hand of a clock; true if that was enough.
    fn make_room(&mut self, bytes: usize, seconds: u32) -> bool {
        for _ in 0..EVICTION_STEPS {
            if self.bytes + bytes <= self.bytes_max {
                return true;
            }
            let at_hand = self.blocks.range(&self.hand..).next().or_else(|| self.blocks.first_key_value());
            let Some((start, block)) = at_hand else { return false };
            let is_idle = seconds.saturating_sub(block.used()) >= IDLE_SECONDS;
            let start = start.clone();
            self.hand = block.end.clone();
            if is_idle {
                self.remove(&start);
            }
        }
        self.bytes + bytes <= self.bytes_max
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Panics unless blocks are disjoint and their bytes are counted right and within the bound.
    #[cfg(test)]
    pub(super) fn check(&self) {
        assert!(self.blocks.iter().all(|(start, block)| *start < block.end));
        assert!(self.blocks.iter().zip(self.blocks.keys().skip(1)).all(|((_, block), next)| block.end <= *next));
        assert_eq!(self.bytes, self.blocks.iter().map(|(start, block)| block.bytes(start)).sum::<usize>());
        assert!(self.bytes <= self.bytes_max);
    }
}
