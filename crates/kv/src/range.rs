//! Positions in the one order of all records, and half-open ranges between them.

use bytes::{BufMut, Bytes, BytesMut};

/// A place in the order: a partition and a key within it. A record need not be there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The partition.
    pub partition: Bytes,
    /// The key within the partition.
    pub key: Bytes,
}

impl Position {
    /// Returns the position of a key in a partition.
    pub fn new(partition: impl Into<Bytes>, key: impl Into<Bytes>) -> Self {
        Self { partition: partition.into(), key: key.into() }
    }

    /// The place before the first record of a partition.
    pub fn start_of(partition: impl Into<Bytes>) -> Self {
        Self::new(partition, Bytes::new())
    }

    /// The place right after this one: nothing fits between them.
    pub fn successor(&self) -> Self {
        Self { partition: self.partition.clone(), key: with_zero(&self.key) }
    }

    /// The place right after the last record of this partition.
    pub fn end_of(partition: &[u8]) -> Self {
        Self { partition: with_zero(partition), key: Bytes::new() }
    }
}

/// From `start`, included, to `end`, excluded; `None` means to the end of everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// The first position of the range.
    pub start: Position,
    /// The position after the last one; `None` for the end of the store.
    pub end: Option<Position>,
}

impl Range {
    /// Returns the range from `start` to `end`, which is excluded.
    pub fn between(start: Position, end: Position) -> Self {
        Self { start, end: Some(end) }
    }

    /// One whole partition.
    pub fn partition(partition: &[u8]) -> Self {
        Self::between(Position::start_of(Bytes::copy_from_slice(partition)), Position::end_of(partition))
    }

    /// All partitions whose name begins with `prefix`.
    pub fn partitions(prefix: &[u8]) -> Self {
        let start = Position::start_of(Bytes::copy_from_slice(prefix));
        Self { start, end: prefix_end(prefix).map(Position::start_of) }
    }

    /// Returns whether the position is in the range.
    pub fn contains(&self, position: &Position) -> bool {
        *position >= self.start && self.end.as_ref().is_none_or(|end| position < end)
    }

    /// Returns whether the range contains no position.
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }
}

/// The smallest byte string greater than every string that begins with `prefix`; `None` if there is none.
pub fn prefix_end(prefix: &[u8]) -> Option<Bytes> {
    let keep = prefix.iter().rposition(|&byte| byte != 0xff)?;
    let mut end = prefix[..=keep].to_vec();
    end[keep] += 1;
    Some(end.into())
}

fn with_zero(bytes: &[u8]) -> Bytes {
    let mut longer = BytesMut::with_capacity(bytes.len() + 1);
    longer.put_slice(bytes);
    longer.put_u8(0);
    longer.freeze()
}
