//! What the table directory keeps about a table.
//!
//! ```text
//! record := format (1 byte, 1) · id (8 bytes) · name length (1 byte) · name · stored access policies (XML)
//! ```

use tablerock_kv::{Bytes, Error, Result};

const FORMAT: u8 = 1;

/// A row of the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TableRecord {
    pub(super) id: u64,
    /// The name as it was spelled when the table was created.
    pub(super) name: String,
    /// The stored access policies as XML; empty if there are none.
    pub(super) policies: Bytes,
}

impl TableRecord {
    pub(super) fn encode(&self) -> Bytes {
        let mut out = Vec::with_capacity(10 + self.name.len() + self.policies.len());
        out.push(FORMAT);
        out.extend_from_slice(&self.id.to_be_bytes());
        out.push(u8::try_from(self.name.len()).expect("a table's name has at most 63 characters"));
        out.extend_from_slice(self.name.as_bytes());
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
        let (&format, rest) = bytes.split_first()?;
        let (id, rest) = rest.split_first_chunk()?;
        let (&name_length, rest) = rest.split_first()?;
        let (name, policies) = rest.split_at_checked(name_length.into())?;
        let name = std::str::from_utf8(name).ok()?.to_owned();
        (format == FORMAT).then(|| Self { id: u64::from_be_bytes(*id), name, policies: bytes.slice_ref(policies) })
    }
}

fn corrupt() -> Error {
    Error::corrupt("a record of the table directory cannot be read")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_as_it_was() {
        let record = TableRecord { id: 300, name: "People".into(), policies: Bytes::from_static(b"<x/>") };
        assert_eq!(TableRecord::decode(&record.encode()).unwrap(), record);
        assert_eq!(TableRecord::decode_id(&record.encode()).unwrap(), record.id);
        let encoded = record.encode();
        for length in 0..10 {
            assert!(TableRecord::decode(&encoded.slice(..length)).is_err());
        }
    }
}
