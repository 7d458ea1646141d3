//! The stored sum of one server for one container.

use tablerock_kv::{Bytes, Result};

use super::Usage;
use crate::fields::{FieldReader, FieldWriter};

const FORMAT: u8 = 1;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct UsageRecord {
    pub(super) sum: Usage,
    /// Whether its server may have made changes that are not in the sum.
    pub(super) is_open: bool,
    /// When it was stored.
    pub(super) stored: u64,
}

impl UsageRecord {
    pub(super) fn encode(&self) -> Bytes {
        let mut out = FieldWriter::new(FORMAT);
        out.byte(u8::from(self.is_open));
        out.ticks(self.stored);
        out.ticks(self.sum.bytes.cast_unsigned());
        out.ticks(self.sum.objects.cast_unsigned());
        out.finish()
    }

    pub(super) fn decode(record: &Bytes) -> Result<Self> {
        let mut fields = FieldReader::new(record, FORMAT, "the usage of a container")?;
        let is_open = fields.byte()? == 1;
        let stored = fields.ticks()?;
        let sum = Usage { bytes: fields.ticks()?.cast_signed(), objects: fields.ticks()?.cast_signed() };
        fields.finish()?;
        Ok(Self { sum, is_open, stored })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_as_it_was() {
        let record = UsageRecord { sum: Usage { bytes: -5, objects: 7 }, is_open: true, stored: 9 };
        assert_eq!(UsageRecord::decode(&record.encode()).unwrap(), record);
        assert!(UsageRecord::decode(&record.encode().slice(1..)).is_err());
    }
}
