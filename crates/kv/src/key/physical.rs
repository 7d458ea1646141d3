//! The one byte string that stands for a record in an ordered engine.
//!
//! The partition goes first, delimited, and the key as it is. So the bytewise order of these strings is the order
//! of records, and a partition costs one decoding however many of its records a scan passes.

use std::borrow::Cow;

use bytes::Bytes;

use super::escape;
use crate::{Error, Position, Range, Result};

/// The string for a record, or for any position.
///
/// ```
/// use tablerock_kv::key::physical;
///
/// assert_eq!(physical::encode(b"p\x00", b"k"), b"p\x00\xff\x00\x01k");
/// ```
pub fn encode(partition: &[u8], key: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(partition.len() + key.len() + 2);
    escape::encode(&mut bytes, partition);
    bytes.extend_from_slice(key);
    bytes
}

/// Returns the prefix of all records of a partition.
pub fn encode_partition(partition: &[u8]) -> Vec<u8> {
    encode(partition, b"")
}

/// The strings from, included, and to, excluded, which a range reaches.
pub fn encode_range(range: &Range) -> (Vec<u8>, Option<Vec<u8>>) {
    let at = |position: &Position| encode(&position.partition, &position.key);
    (at(&range.start), range.end.as_ref().map(at))
}

/// The position a string stands for.
pub fn decode(physical: &Bytes) -> Result<Position> {
    Decoder::default().decode(physical)
}

/// Decodes many strings in order, and each partition once.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The last partition as it was encoded, its end included, and as it is. Empty before the first string.
    encoded: Bytes,
    partition: Bytes,
}

impl Decoder {
    /// The position a string stands for. The key shares the string's memory.
    pub fn decode(&mut self, physical: &Bytes) -> Result<Position> {
        if self.encoded.is_empty() || !physical.starts_with(&self.encoded) {
            let (partition, length) = escape::decode(physical).ok_or_else(|| corrupt(physical))?;
            // A copy, so that one partition's name does not keep a whole block of records in memory.
            self.partition = match partition {
                Cow::Borrowed(partition) => Bytes::copy_from_slice(partition),
                Cow::Owned(partition) => partition.into(),
            };
            self.encoded = Bytes::copy_from_slice(&physical[..length]);
        }
        Ok(Position { partition: self.partition.clone(), key: physical.slice(self.encoded.len()..) })
    }
}

fn corrupt(physical: &[u8]) -> Error {
    Error::corrupt(format!("the stored key \"{}\" belongs to no partition", physical.escape_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<Position> {
        let mut rng = fastrand::Rng::with_seed(4);
        let alphabet = [0x00, 0x01, 0x61, 0xff];
        let mut string = || -> Vec<u8> { (0..rng.usize(..4)).map(|_| alphabet[rng.usize(..alphabet.len())]).collect() };
        (0..500).map(|_| Position::new(string(), string())).collect()
    }

    #[test]
    fn physical_order_is_the_order_of_records() {
        for a in samples() {
            for b in samples().iter().step_by(3) {
                let physical = encode(&a.partition, &a.key).cmp(&encode(&b.partition, &b.key));
                assert_eq!(physical, a.cmp(b), "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn positions_come_back_also_when_partitions_alternate() {
        let mut decoder = Decoder::default();
        for position in samples() {
            let physical = encode(&position.partition, &position.key).into();
            assert_eq!(decoder.decode(&physical).unwrap(), position);
        }
    }

    #[test]
    fn a_partition_ends_where_the_next_one_begins() {
        let (start, end) = encode_range(&Range::partition(b"p\x00"));
        let inside = |partition: &[u8], key: &[u8]| {
            let physical = encode(partition, key);
            physical >= start && physical < *end.as_ref().unwrap()
        };
        assert!(inside(b"p\x00", b"") && inside(b"p\x00", b"\xff\xff"));
        assert!(!inside(b"p", b"\xff") && !inside(b"p\x00\x00", b"") && !inside(b"p\x01", b""));
        assert!(start.starts_with(&encode_partition(b"p\x00")));
    }

    #[test]
    fn a_string_of_no_partition_is_corrupt() {
        assert_eq!(decode(&Bytes::from_static(b"loose")).unwrap_err().kind(), crate::ErrorKind::Corrupt);
    }
}
