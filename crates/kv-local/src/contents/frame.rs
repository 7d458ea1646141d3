//! The file of a content: frames of equal length, each followed by its checksum.
//!
//! ```text
//! content := frame*
//! frame   := 256 KiB of content, fewer in the last · checksum (8 bytes, little-endian)
//! ```
//!
//! The checksum is 64-bit XXH3, seeded with the name of the content and the index of the frame, so that swapped files and
//! frames are detected too.

use std::io;

use tablerock_kv::{CONTENT_PART_BYTES, ContentName};
use xxhash_rust::xxh3::xxh3_64_with_seed;

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

pub(super) fn checksum(name: ContentName, index: u64, content: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let seed = name.group.rotate_left(40) ^ name.number.rotate_left(20) ^ index;
    xxh3_64_with_seed(content, seed).to_le_bytes()
}

/// Checks and removes the checksum of a frame.
pub(super) fn open(name: ContentName, index: u64, frame: &mut Vec<u8>) -> io::Result<()> {
    let content_bytes = frame.len().checked_sub(CHECKSUM_BYTES).filter(|length| *length > 0);
    match content_bytes.map(|length| frame.split_at(length)) {
        Some((content, sum)) if checksum(name, index, content) == sum => {
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

    fn sealed(content: &[u8]) -> Vec<u8> {
        [content, &checksum(NAME, 3, content)].concat()
    }

    #[test]
    fn a_frame_is_opened_where_it_belongs_and_nowhere_else() {
        let opened = |name, index| {
            let mut frame = sealed(b"content");
            open(name, index, &mut frame).map(|()| frame)
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
            assert!(open(NAME, 3, &mut flipped).is_err(), "a flipped bit at {place}");
            assert!(open(NAME, 3, &mut whole[..place].to_vec()).is_err(), "cut at {place}");
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
