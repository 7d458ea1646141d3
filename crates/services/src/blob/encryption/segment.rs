//! The lengths of encrypted content.

use super::cipher::OVERHEAD_BYTES;
use crate::blob::content::CHUNK_BYTES;

/// The content of one segment.
pub(super) const PLAIN_BYTES: usize = CHUNK_BYTES - OVERHEAD_BYTES;

/// The bytes that are stored for content of this length.
pub(in crate::blob) fn stored_length(length: u64, is_encrypted: bool) -> u64 {
    if is_encrypted { length + length.div_ceil(PLAIN_BYTES as u64) * OVERHEAD_BYTES as u64 } else { length }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_lengths_have_one_overhead_for_each_segment() {
        let plain = PLAIN_BYTES as u64;
        assert_eq!(
            [0, 1, plain, plain + 1].map(|length| stored_length(length, true)),
            [0, 33, CHUNK_BYTES as u64, CHUNK_BYTES as u64 + 33]
        );
        assert_eq!(stored_length(plain, false), plain);
    }
}
