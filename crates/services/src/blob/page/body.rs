//! The part of a blob's record that only page blobs have.

use tablerock_kv::Result;
use tablerock_protocol::DateTime;

use crate::fields::{FieldReader, FieldWriter};

/// The content of a page blob or of a snapshot of one, and the properties that only page blobs have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageBody {
    /// A number of its own since it was created or replaced. A snapshot of another generation has nothing in common with it.
    pub(in crate::blob) generation: u64,
    /// The newest layer; 0 if there is none yet.
    pub(in crate::blob) top: u64,
    /// Whether a snapshot shares the newest layer, so that the next write begins another.
    pub(in crate::blob) is_frozen: bool,
    /// When pages were last changed. Two reads with the same time have seen the same pages.
    pub(in crate::blob) written: DateTime,
    pub(in crate::blob) sequence_number: u64,
    /// Set for the target of an incremental copy, and for its snapshots.
    pub(in crate::blob) incremental: Option<Incremental>,
}

/// The last incremental copy to a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::blob) struct Incremental {
    /// Account, container and name of the source.
    pub(in crate::blob) source: String,
    /// The snapshot of the source that was copied last.
    pub(in crate::blob) copied: DateTime,
    /// The snapshot that the last copy took here.
    pub(in crate::blob) taken: DateTime,
}

impl PageBody {
    pub(in crate::blob) fn new(generation: u64, written: DateTime, sequence_number: u64) -> Self {
        Self { generation, top: 0, is_frozen: false, written, sequence_number, incremental: None }
    }

    /// The number that clients set and compare.
    pub fn sequence_number(&self) -> u64 {
        self.sequence_number
    }

    /// Whether it is the target of an incremental copy.
    pub fn is_incremental_copy(&self) -> bool {
        self.incremental.is_some()
    }

    /// The snapshot that the last incremental copy took.
    pub fn copy_destination_snapshot(&self) -> Option<DateTime> {
        Some(self.incremental.as_ref()?.taken)
    }

    /// Whether another body has the same pages. The newest layer may differ, because merging replaces it by the one below.
    pub(in crate::blob) fn has_pages_of(&self, other: &Self) -> bool {
        (self.generation, self.written) == (other.generation, other.written)
    }

    pub(in crate::blob) fn encode(&self, out: &mut FieldWriter) {
        out.number(self.generation);
        out.number(self.top);
        out.byte(u8::from(self.is_frozen));
        out.ticks(self.written.ticks());
        out.number(self.sequence_number);
        out.byte(u8::from(self.incremental.is_some()));
        if let Some(Incremental { source, copied, taken }) = &self.incremental {
            out.text(source);
            out.ticks(copied.ticks());
            out.ticks(taken.ticks());
        }
    }

    pub(in crate::blob) fn decode(fields: &mut FieldReader<'_>) -> Result<Self> {
        let (generation, top) = (fields.number()?, fields.number()?);
        let is_frozen = fields.byte()? == 1;
        let (written, sequence_number) = (fields.time()?, fields.number()?);
        let incremental = match fields.byte()? {
            0 => None,
            1 => Some(Incremental { source: fields.text()?, copied: fields.time()?, taken: fields.time()? }),
            _ => return Err(fields.corrupt()),
        };
        Ok(Self { generation, top, is_frozen, written, sequence_number, incremental })
    }
}
