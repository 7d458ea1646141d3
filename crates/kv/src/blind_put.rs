//! Puts that rest on nothing that was read.
//!
//! A transaction reads first, which is a round trip on an engine that is far away. A put that replaces whatever is there does
//! not need that, as long as it replaces no later version. Values with versions begin with them, so that the engine can
//! compare: [`VERSION_BYTES`] bytes, in the order of the versions.

use bytes::Bytes;

use crate::Commit;

/// The bytes at the start of a value that order its versions. They are part of the stored format of entities.
pub const VERSION_BYTES: usize = 9;

/// A record that is put without being read before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlindPut {
    /// The partition of the record.
    pub partition: Bytes,
    /// The key within the partition.
    pub key: Bytes,
    /// The value, which begins with its version.
    pub value: Bytes,
    /// The records that it may replace.
    pub replaces: Replaces,
}

/// The records that a blind put may replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaces {
    /// None: it is put only where there is no record.
    Nothing,
    /// Those with an earlier version.
    Earlier,
}

impl BlindPut {
    /// Returns whether the put may be made over this value.
    pub fn may_replace(&self, found: Option<&[u8]>) -> bool {
        match (self.replaces, found) {
            (_, None) => true,
            (Replaces::Nothing, Some(_)) => false,
            (Replaces::Earlier, Some(found)) => version(found) < version(&self.value),
        }
    }

    /// The commit that makes the put over a value that was read.
    pub(crate) fn onto(self, found: Option<Bytes>) -> Commit {
        let Self { partition, key, value, .. } = self;
        Commit { partition, expected: vec![(key.clone(), found)], writes: vec![(key, Some(value))] }
    }
}

fn version(value: &[u8]) -> &[u8] {
    &value[..VERSION_BYTES.min(value.len())]
}
