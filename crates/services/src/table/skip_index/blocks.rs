//! All sketches there are: disjoint pieces in the order of the store, within a bound of memory.

use std::collections::BTreeMap;
use std::ops::Bound;

use tablerock_kv::{Position, Range};

use super::needs::Needs;
use super::piece::{PIECE_RECORDS, Piece};
use super::writes::Written;

/// Pieces that one look passes before it lets others have the lock, and its caller see the time.
const LOOK_PIECES_MAX: usize = 512;

/// Pieces in a row that may match and are read as one.
const JOINED_PIECES_MAX: usize = 8;

/// A piece that was asked within this time is not given up for a new one. A scan of more than fits keeps what there
/// is, instead of replacing all of it each time before it is of use.
const IDLE_SECONDS: u32 = 60;

/// How far one new piece goes in search of an idle one.
const EVICTION_STEPS: usize = 8;

/// What is known about the beginning of a range.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::table) enum Look {
    /// Nothing in the whole range matches.
    Nothing,
    /// Nothing before this place matches; what comes after has not been looked at.
    NothingBefore(Position),
    /// Nothing before this range matches. It has no sketches yet.
    Unknown(Range),
    /// Nothing before this range matches. It has sketches, which say that something in it may.
    Possible(Range),
}

#[derive(Debug)]
pub(super) struct Pieces {
    pieces: BTreeMap<Position, Piece>,
    bytes: usize,
    bytes_max: usize,
    /// Where the search for an idle piece goes on.
    hand: Position,
}

impl Pieces {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { pieces: BTreeMap::new(), bytes: 0, bytes_max, hand: Position::new("", "") }
    }

    pub(super) fn clear(&mut self) {
        self.pieces.clear();
        self.bytes = 0;
    }

    /// Looks at the pieces that cover the beginning of a range, which has an end and is not empty.
    pub(super) fn look(&self, range: &Range, end: &Position, needs: &Needs, seconds: u32) -> Look {
        let mut at = &range.start;
        for (passed, (start, piece)) in self.pieces_from(at).enumerate() {
            if start > at {
                return Look::Unknown(Range::between(at.clone(), start.min(end).clone()));
            }
            piece.use_at(seconds);
            if piece.may_match(needs) {
                return Look::Possible(self.possible(at, end, needs));
            }
            at = &piece.end;
            if at >= end {
                return Look::Nothing;
            }
            if passed == LOOK_PIECES_MAX {
                return Look::NothingBefore(at.clone());
            }
        }
        Look::Unknown(Range::between(at.clone(), end.clone()))
    }

    /// The pieces in a row, from the one at `start`, that may match.
    fn possible(&self, start: &Position, end: &Position, needs: &Needs) -> Range {
        let mut at = start;
        for (next, piece) in self.pieces_from(start).take(JOINED_PIECES_MAX) {
            if next > at || at >= end || !piece.may_match(needs) {
                break;
            }
            at = &piece.end;
        }
        Range::between(start.clone(), at.min(end).clone())
    }

    /// The piece that covers a place, if there is one, and all that follow.
    fn pieces_from(&self, at: &Position) -> impl Iterator<Item = (&Position, &Piece)> {
        let following = self.pieces.range((Bound::Excluded(at), Bound::Unbounded));
        self.covering(at).into_iter().chain(following)
    }

    fn covering(&self, at: &Position) -> Option<(&Position, &Piece)> {
        self.pieces.range(..=at).next_back().filter(|(_, piece)| piece.end > *at)
    }

    /// Drops the pieces that are about to change.
    pub(super) fn drop_written(&mut self, written: &Written) {
        if self.pieces.is_empty() {
            return;
        }
        for position in written.positions() {
            if let Some(start) = self.covering(&position).map(|(start, _)| start.clone()) {
                self.remove(&start);
            }
        }
    }

    /// Keeps a piece if there is room for it, joined with its neighbours if they are small. If someone else has
    /// sketched a part of it in the meantime, theirs is as good.
    pub(super) fn insert(&mut self, mut start: Position, mut piece: Piece, seconds: u32) {
        if self.pieces_from(&start).next().is_some_and(|(next, _)| *next < piece.end) {
            return;
        }
        piece.use_at(seconds);
        if let Some((before, previous)) = self.pieces.range(..&start).next_back()
            && previous.end == start
            && previous.records + piece.records <= PIECE_RECORDS
        {
            (piece, start) = (previous.followed_by(&piece), before.clone());
            self.remove(&start);
        }
        if let Some(next) = self.pieces.get(&piece.end)
            && piece.records + next.records <= PIECE_RECORDS
        {
            let (joined, next) = (piece.followed_by(next), piece.end);
            self.remove(&next);
            piece = joined;
        }
        let bytes = piece.bytes(&start);
        if self.make_room(bytes, seconds) {
            self.bytes += bytes;
            self.pieces.insert(start, piece);
        }
    }

    fn remove(&mut self, start: &Position) {
        if let Some(piece) = self.pieces.remove(start) {
            self.bytes -= piece.bytes(start);
        }
    }

    /// Goes round the pieces, like the hand of a clock, and drops those that are idle; true if that was enough.
    fn make_room(&mut self, bytes: usize, seconds: u32) -> bool {
        for _ in 0..EVICTION_STEPS {
            if self.bytes + bytes <= self.bytes_max {
                return true;
            }
            let at_hand = self.pieces.range(&self.hand..).next().or_else(|| self.pieces.first_key_value());
            let Some((start, piece)) = at_hand else { return false };
            let is_idle = seconds.saturating_sub(piece.used()) >= IDLE_SECONDS;
            let start = start.clone();
            self.hand = piece.end.clone();
            if is_idle {
                self.remove(&start);
            }
        }
        self.bytes + bytes <= self.bytes_max
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Panics unless pieces are disjoint and their bytes are counted right and within the bound.
    #[cfg(test)]
    pub(super) fn check(&self) {
        assert!(self.pieces.iter().all(|(start, piece)| *start < piece.end));
        assert!(self.pieces.iter().zip(self.pieces.keys().skip(1)).all(|((_, piece), next)| piece.end <= *next));
        assert_eq!(self.bytes, self.pieces.iter().map(|(start, piece)| piece.bytes(start)).sum::<usize>());
        assert!(self.bytes <= self.bytes_max);
    }
}
