//! The row of a queue in its directory.
//!
//! ```text
//! record := format (1 byte, 1) · id (8 bytes) · metadata · stored access policies (XML)
//! metadata := count (2 bytes) · (length (2 bytes) · name · length (2 bytes) · value)*
//! ```

use tablerock_kv::{Bytes, Result};
use tablerock_protocol::Metadata;

use crate::fields::{FieldReader, FieldWriter};

const FORMAT: u8 = 1;

/// A row of the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueueRecord {
    /// The messages are stored under it. Clearing a queue gives it another.
    pub(crate) id: u64,
    pub(crate) metadata: Metadata,
    /// The stored access policies as XML; empty if there are none.
    pub(crate) policies: Bytes,
}

impl QueueRecord {
    pub(crate) fn encode(&self) -> Bytes {
        let mut out = FieldWriter::with_capacity(FORMAT, 64 + self.policies.len());
        out.ticks(self.id);
        let pairs = self.metadata.pairs();
        out.short(short(pairs.len()));
        for text in pairs.iter().flat_map(|(name, value)| [name, value]) {
            out.short(short(text.len()));
            out.raw(text.as_bytes());
        }
        out.raw(&self.policies);
        out.finish()
    }

    pub(crate) fn decode(row: &Bytes) -> Result<Self> {
        let mut fields = FieldReader::new(row, FORMAT, "a record of the queue directory")?;
        let id = fields.ticks()?;
        let mut pairs = Vec::new();
        for _ in 0..fields.short()? {
            pairs.push((take_text(&mut fields)?, take_text(&mut fields)?));
        }
        let metadata = Metadata::new(pairs).map_err(|_| fields.corrupt())?;
        Ok(Self { id, metadata, policies: fields.rest() })
    }
}

fn take_text(fields: &mut FieldReader<'_>) -> Result<String> {
    let length = fields.short()?;
    fields.raw_text(length.into())
}

fn short(length: usize) -> u16 {
    u16::try_from(length).expect("metadata has at most 8 KiB")
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
        assert_eq!(crate::namespace::id_of_row(&encoded).unwrap(), 300);
        for length in 0..encoded.len() - record.policies.len() {
            assert!(QueueRecord::decode(&encoded.slice(..length)).is_err(), "{length}");
        }
    }
}
