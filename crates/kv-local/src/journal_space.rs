//! The space of journals whose records are in tables or gone.
//!
//! fjall continues a journal until it is full, and deletes a full one when every keyspace has flushed the writes in it. So a
//! store that was emptied would keep up to two journals for as long as it is idle: one that is not full, and a full one
//! with a few records of the engine's own keyspace, whose write buffer is never large enough to be flushed.

use std::fs::Metadata;
use std::path::Path;

use tablerock_kv::Result;

use crate::failure::translate_io;
use crate::journal;

/// The position in a journal after which fjall begins the next one, at a flush.
pub(crate) const FULL_BYTES: u64 = 64_000_000;

/// Journals of fewer bytes stay: to begin the next one, the current one has to be filled.
pub(crate) const RELEASE_BYTES_MIN: u64 = 16 << 20;

/// The value of the record that fills a journal.
pub(crate) static FILLER: [u8; 1 << 20] = [0; 1 << 20];

/// The bytes that journals occupy on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JournalSpace {
    pub(crate) current: u64,
    pub(crate) full: u64,
}

impl JournalSpace {
    pub(crate) fn read(data: &Path) -> Result<Self> {
        let newest = journal::newest(data)?.map(|(_, path)| path);
        let mut space = Self { current: 0, full: 0 };
        let failed = |error| translate_io(&format!("cannot list the journals in {}", data.display()), error);
        for (_, path) in journal::named(data).map_err(failed)? {
            // A full journal may be deleted at any moment.
            let bytes = path.metadata().map_or(0, |metadata| allocated_bytes(&metadata));
            if Some(&path) == newest.as_ref() { space.current = bytes } else { space.full += bytes }
        }
        Ok(space)
    }

    pub(crate) fn total(self) -> u64 {
        self.current + self.full
    }
}

/// The bytes that a file occupies: fjall creates journals with their full length, of which nothing is written yet.
#[cfg(unix)]
fn allocated_bytes(metadata: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    metadata.blocks() * 512
}

/// Elsewhere the length of a journal does not show how much of it is in use, so journals stay.
#[cfg(not(unix))]
fn allocated_bytes(_: &Metadata) -> u64 {
    0
}
