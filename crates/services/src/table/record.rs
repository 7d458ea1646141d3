//! The row of a table in its directory.
//!
//! ```text
//! record := format (1 byte, 1) · id (8 bytes) · name length (1 byte) · name · stored access policies (XML)
//! ```

use tablerock_kv::{Bytes, Result};

use crate::fields::{FieldReader, FieldWriter};

const FORMAT: u8 = 1;

/// A row of the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableRecord {
    pub(crate) id: u64,
    /// The spelling with which the table was created.
    pub(crate) name: String,
    /// The stored access policies as XML; empty if there are none.
    pub(crate) policies: Bytes,
}

impl TableRecord {
    pub(crate) fn encode(&self) -> Bytes {
        let mut out = FieldWriter::new(FORMAT);
        out.ticks(self.id);
        out.byte(u8::try_from(self.name.len()).expect("a table's name has at most 63 characters"));
        out.raw(self.name.as_bytes());
        out.raw(&self.policies);
        out.finish()
    }

    pub(crate) fn decode(row: &Bytes) -> Result<Self> {
        let mut fields = FieldReader::new(row, FORMAT, "a record of the table directory")?;
        let id = fields.ticks()?;
        let name_length = fields.byte()?;
        let name = fields.raw_text(name_length.into())?;
        Ok(Self { id, name, policies: fields.rest() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::namespace::id_of_row;

    #[test]
    fn a_record_comes_back_as_it_was() {
        let record = TableRecord { id: 300, name: "People".into(), policies: Bytes::from_static(b"<x/>") };
        assert_eq!(TableRecord::decode(&record.encode()).unwrap(), record);
        assert_eq!(id_of_row(&record.encode()).unwrap(), record.id);
        let encoded = record.encode();
        for length in 0..10 {
            assert!(TableRecord::decode(&encoded.slice(..length)).is_err());
        }
    }
}
