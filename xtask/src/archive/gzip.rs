//! Gzip without a name and a time in its header.

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec;

use crate::Result;

/// Deflate, no name, no time, best compression, an unknown system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255];
const LEVEL: u8 = 9;
/// The checksum and the length at the end.
const TRAILER_BYTES: usize = 8;

/// Compresses bytes.
pub(crate) fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut compressed = HEADER.to_vec();
    compressed.extend(compress_to_vec(bytes, LEVEL));
    compressed.extend(crc32fast::hash(bytes).to_le_bytes());
    // The format has the length modulo 2^32.
    compressed.extend((bytes.len() as u32).to_le_bytes());
    compressed
}

/// Decompresses what [`compress`] has made.
pub(crate) fn decompress(compressed: &[u8]) -> Result<Vec<u8>> {
    let deflated = compressed.strip_prefix(&HEADER).and_then(|rest| rest.split_last_chunk::<TRAILER_BYTES>());
    let (deflated, trailer) = deflated.ok_or("the bytes are not gzip of ours")?;
    let bytes = decompress_to_vec(deflated).map_err(|error| format!("gzip: {error}"))?;
    let is_whole = trailer[..4] == crc32fast::hash(&bytes).to_le_bytes();
    if is_whole { Ok(bytes) } else { Err("gzip: the checksum is wrong".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_and_damage_is_found() {
        let mut compressed = compress(b"hello hello hello");
        assert_eq!(decompress(&compressed).unwrap(), b"hello hello hello");
        let checksum = compressed.len() - 8;
        compressed[checksum] ^= 1;
        assert!(decompress(&compressed).is_err());
    }
}
