//! What the queue directory keeps about a queue.
//!
//! ```text
//! record := format (1 byte, 1) · id (8 bytes) · metadata · stored access policies (XML)
//! metadata := count (2 bytes) · (length (2 bytes) · name · length (2 bytes) · value)*
//! ```

use tablerock_kv::{Bytes, Error, Result};
use tablerock_protocol::Metadata;

const FORMAT: u8 = 1;

/// A row of the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueueRecord {
    /// Under which the messages are stored. Clearing a queue gives it another.
    pub(super) id: u64,
    pub(super) metadata: Metadata,
    /// The stored access policies as XML; empty if there are none.
    pub(super) policies: Bytes,
}

impl QueueRecord {
    pub(super) fn encode(&self) -> Bytes {
        let mut out = Vec::with_capacity(64 + self.policies.len());
        out.push(FORMAT);
        out.extend_from_slice(&self.id.to_be_bytes());
        let pairs = self.metadata.pairs();
        out.extend_from_slice(&short(pairs.len()));
        for text in pairs.iter().flat_map(|(name, value)| [name, value]) {
            out.extend_from_slice(&short(text.len()));
            out.extend_from_slice(text.as_bytes());
        }
        out.extend_from_slice(&self.policies);
        out.into()
    }

    pub(super) fn decode(bytes: &Bytes) -> Result<Self> {
        Self::try_decode(bytes).ok_or_else(corrupt)
    }

    /// The id alone.
    pub(super) fn decode_id(bytes: &[u8]) -> Result<u64> {
        match bytes.split_first_chunk::<9>() {
            Some(([FORMAT, id @ ..], _)) => Ok(u64::from_be_bytes(*id)),
            _ => Err(corrupt()),
        }
    }

    fn try_decode(bytes: &Bytes) -> Option<Self> {
        let id = Self::decode_id(bytes).ok()?;
        let (count, mut rest) = bytes[9..].split_first_chunk()?;
        let mut pairs = Vec::new();
        for _ in 0..u16::from_be_bytes(*count) {
            pairs.push((take_text(&mut rest)?, take_text(&mut rest)?));
        }
        Some(Self { id, metadata: Metadata::new(pairs).ok()?, policies: bytes.slice_ref(rest) })
    }
}

fn take_text(rest: &mut &[u8]) -> Option<String> {
    let (length, after) = rest.split_first_chunk()?;
    let (text, after) = after.split_at_checked(u16::from_be_bytes(*length).into())?;
    *rest = after;
    String::from_utf8(text.to_vec()).ok()
}

fn short(length: usize) -> [u8; 2] {
    u16::try_from(length).expect("metadata has at most 8 KiB").to_be_bytes()
}

fn corrupt() -> Error {
    Error::corrupt("a record of the queue directory cannot be read")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_as_it_was() {
        let pairs = vec![("Color".to_owned(), "Red".to_owned()), ("empty".to_owned(), String::new())];
        let metadata = Metadata::new(pairs).unwrap();
        let record = QueueRecord { id: 300, metadata, policies: Bytes::from_static(b"<x/>") };
        let encoded = record.encode();
        assert_eq!(QueueRecord::decode(&encoded).unwrap(), record);
        assert_eq!(QueueRecord::decode_id(&encoded).unwrap(), 300);
        for length in 0..encoded.len() - record.policies.len() {
            assert!(QueueRecord::decode(&encoded.slice(..length)).is_err(), "{length}");
        }
    }
}
