//! Content that is too large for records: bytes that are written once, in order, and read in parts.
//!
//! A record is held in memory, written to a journal and then to a table. For megabytes that is one write too many, and
//! memory that others need. An engine may have a better place for them. One that has not offers none, and the layers cut
//! content into records.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use crate::Result;

/// The length of the parts in which a layer writes a content. An engine whose own unit has the same length stores each
/// part without another copy. Both sides have stored formats of this length, and assert that they agree with it.
pub const CONTENT_PART_BYTES: usize = 256 << 10;

/// The name of a content: a number, in a group of contents that can be removed at once. A name is given once and
/// never again, and it is the layers that see to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentName {
    /// The group, which is removed as a whole.
    pub group: u64,
    /// The number of the content within its group.
    pub number: u64,
}

/// Where an engine keeps large contents.
#[async_trait]
pub trait Contents: Send + Sync + fmt::Debug + 'static {
    /// Begins a content. Unless it is [finished](ContentWriter::finish), nothing of it stays. A content that exists under
    /// this name is not replaced: the writer fails.
    fn create(&self, name: ContentName) -> Box<dyn ContentWriter>;

    /// Opens a content; `None` if it is not there. An open reader can read it to the end although it was removed meanwhile.
    async fn open(&self, name: ContentName) -> Result<Option<Arc<dyn ContentReader>>>;

    /// Removes contents of a group, and returns their number. Durable when this returns.
    async fn remove(&self, group: u64, numbers: RangeInclusive<u64>) -> Result<u64>;

    /// Removes all contents of a group. Durable when this returns.
    async fn remove_group(&self, group: u64) -> Result<()>;
}

/// A content on its way in.
#[async_trait]
pub trait ContentWriter: Send {
    /// Adds bytes at the end. They may still be on their way when this returns; a failure shows later at the latest.
    async fn write(&mut self, bytes: Bytes) -> Result<()>;

    /// Returns when all of it is durable.
    async fn finish(self: Box<Self>) -> Result<()>;
}

/// A content that is open.
#[async_trait]
pub trait ContentReader: Send + Sync + fmt::Debug {
    /// Some of the bytes from `offset` on, at most `length`; none only behind the end. Damage is an error.
    async fn read(&self, offset: u64, length: usize) -> Result<Bytes>;
}
