//! The file of a content: frames of equal length, each followed by its checksum.
//!
//! ```text
//! content := frame*
//! frame   := 256 KiB of content, fewer in the last · checksum (8 bytes, little-endian)
//! ```
//!
//! The checksum is 64-bit XXH3, seeded with the id of the store, the name of the content and the index of the frame, so that
//! swapped files and frames are detected too, also those of another store. In format 1 it was seeded without the id.

use std::io;

use tablerock_kv::{CONTENT_PART_BYTES, ContentName};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::format::Identity;

/// Content bytes of a frame.
pub(super) const FRAME_BYTES: usize = 256 << 10;

// A part that fills a frame is written as it is, without being copied into one.
const _: () = assert!(FRAME_BYTES == CONTENT_PART_BYTES);

const CHECKSUM_BYTES: usize = size_of::<u64>();

/// Returns the offset of a frame in its file.
pub(super) fn frame_start(index: u64) -> u64 {
    index * (FRAME_BYTES + CHECKSUM_BYTES) as u64
}

/// Returns the length of a frame with its checksum in a file of some length; `None` if the file ends before it.
pub(super) fn frame_length(index: u64, file_bytes: u64) -> Option<usize> {
    let left = file_bytes.checked_sub(frame_start(index)).filter(|left| *left > 0)?;
    Some(left.min(frame_start(1)) as usize)
}

/// The seed of format 1, which had no ids.
const SEED_WITHOUT_ID: u64 = 0;

/// The part of the seeds that depends on the id of the store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrameSeeds {
    own: u64,
    /// Whether contents may have been written in format 1.
    reads_format_1: bool,
}

impl FrameSeeds {
    pub(crate) fn of(identity: Identity) -> Self {
        Self { own: identity.id.seed(), reads_format_1: identity.has_older_contents }
    }

    fn is_checksum(self, sum: &[u8], name: ContentName, index: u64, content: &[u8]) -> bool {
        checksum(self.own, name, index, content) == sum
            || self.reads_format_1 && checksum(SEED_WITHOUT_ID, name, index, content) == sum
    }

    /// Returns the checksum of a new frame.
    pub(super) fn checksum(self, name: ContentName, index: u64, content: &[u8]) -> [u8; CHECKSUM_BYTES] {
        checksum(self.own, name, index, content)
    }
}

fn checksum(store: u64, name: ContentName, index: u64, content: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let seed = store ^ name.group.rotate_left(40) ^ name.number.rotate_left(20) ^ index;
    xxh3_64_with_seed(content, seed).to_le_bytes()
}

/// Checks and removes the checksum of a frame.
pub(super) fn open(seeds: FrameSeeds, name: ContentName, index: u64, frame: &mut Vec<u8>) -> io::Result<()> {
    let content_bytes = frame.len().checked_sub(CHECKSUM_BYTES).filter(|length| *length > 0);
    match content_bytes.map(|length| frame.split_at(length)) {
        Some((content, sum)) if seeds.is_checksum(sum, name, index, content) => {
            frame.truncate(frame.len() - CHECKSUM_BYTES);
            Ok(())
        }
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "a checksum is wrong")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: ContentName = ContentName { group: 1, number: 2 };
    const SEEDS: FrameSeeds = FrameSeeds { own: 7, reads_format_1: false };

    fn sealed(content: &[u8]) -> Vec<u8> {
        [content, &SEEDS.checksum(NAME, 3, content)].concat()
    }

    #[test]
    fn a_frame_of_another_store_is_not_opened_and_one_of_format_1_only_after_an_upgrade() {
        let opens =
            |seeds, sum: [u8; CHECKSUM_BYTES]| open(seeds, NAME, 3, &mut [&b"content"[..], &sum].concat()).is_ok();
        let upgraded = FrameSeeds { reads_format_1: true, ..SEEDS };
        for (store, by_new, by_upgraded) in [(7, true, true), (8, false, false), (SEED_WITHOUT_ID, false, true)] {
            let sum = checksum(store, NAME, 3, b"content");
            assert_eq!((opens(SEEDS, sum), opens(upgraded, sum)), (by_new, by_upgraded), "{store}");
        }
    }

    #[test]
    fn a_frame_is_opened_where_it_belongs_and_nowhere_else() {
        let opened = |name, index| {
            let mut frame = sealed(b"content");
            open(SEEDS, name, index, &mut frame).map(|()| frame)
        };
        assert_eq!(opened(NAME, 3).unwrap(), b"content");
        for (group, number, index) in [(2, 2, 3), (1, 3, 3), (1, 2, 4), (2, 1, 3), (0, 0, 0)] {
            assert!(opened(ContentName { group, number }, index).is_err(), "{group} {number} {index}");
        }
    }

    #[test]
    fn every_damage_shows() {
        let whole = sealed(b"content");
        for place in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[place] ^= 1;
            assert!(open(SEEDS, NAME, 3, &mut flipped).is_err(), "a flipped bit at {place}");
            assert!(open(SEEDS, NAME, 3, &mut whole[..place].to_vec()).is_err(), "cut at {place}");
        }
    }

    #[test]
    fn a_file_says_how_long_its_frames_are() {
        let whole = frame_start(1);
        assert_eq!(frame_length(0, 0), None);
        assert_eq!(frame_length(0, 9), Some(9));
        assert_eq!(frame_length(0, whole + 9), Some(whole as usize));
        assert_eq!((frame_length(1, whole), frame_length(1, whole + 9)), (None, Some(9)));
    }
}
