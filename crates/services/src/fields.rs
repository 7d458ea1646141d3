//! The codec of stored records: numbers, texts and bytes, one after the other behind a format byte.
//!
//! Lengths and small numbers are LEB128, seven bits a byte, the least significant first, unless a method states another
//! form. Everything read was written here, so whatever does not fit is corrupt.

use tablerock_kv::{Bytes, Error, Result};
use tablerock_protocol::DateTime;

/// A record under construction.
#[derive(Debug, Default)]
pub(crate) struct FieldWriter {
    bytes: Vec<u8>,
}

impl FieldWriter {
    pub(crate) fn new(format: u8) -> Self {
        Self { bytes: vec![format] }
    }

    /// As [`new`](Self::new), with room for so many bytes.
    pub(crate) fn with_capacity(format: u8, capacity: usize) -> Self {
        let mut writer = Self { bytes: Vec::with_capacity(capacity) };
        writer.byte(format);
        writer
    }

    pub(crate) fn byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(crate) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// Eight bytes, the most significant first.
    pub(crate) fn ticks(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    /// Two bytes, the most significant first.
    pub(crate) fn short(&mut self, value: u16) {
        self.raw(&value.to_be_bytes());
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.raw(bytes);
    }

    /// A length of four bytes, the most significant first, and the bytes.
    pub(crate) fn sized(&mut self, bytes: &[u8]) {
        self.raw(&u32::try_from(bytes.len()).expect("no field has four gigabytes").to_be_bytes());
        self.raw(bytes);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub(crate) fn pairs(&mut self, pairs: &[(String, String)]) {
        self.number(pairs.len() as u64);
        for (name, value) in pairs {
            self.text(name);
            self.text(value);
        }
    }

    pub(crate) fn finish(self) -> Bytes {
        self.bytes.into()
    }
}

/// The unread part of a record.
#[derive(Debug)]
pub(crate) struct FieldReader<'a> {
    record: &'a Bytes,
    at: usize,
    /// The kind of record, for the error message.
    what: &'static str,
}

impl<'a> FieldReader<'a> {
    pub(crate) fn new(record: &'a Bytes, format: u8, what: &'static str) -> Result<Self> {
        let mut reader = Self { record, at: 0, what };
        if reader.byte()? == format { Ok(reader) } else { Err(reader.corrupt()) }
    }

    pub(crate) fn byte(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn number(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.corrupt())
    }

    /// The number of items that follow, each of at least one byte.
    pub(crate) fn count(&mut self) -> Result<usize> {
        let count = self.number()?;
        let left = self.record.len() - self.at;
        usize::try_from(count).ok().filter(|count| *count <= left).ok_or_else(|| self.corrupt())
    }

    pub(crate) fn ticks(&mut self) -> Result<u64> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    pub(crate) fn short(&mut self) -> Result<u16> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    /// A fixed number of bytes.
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.record[self.at..].first_chunk().ok_or_else(|| self.corrupt())?;
        self.at += N;
        Ok(*bytes)
    }

    /// The time of a change. There is always a later one, which the next change needs.
    pub(crate) fn time(&mut self) -> Result<DateTime> {
        let ticks = self.ticks()?;
        if ticks < DateTime::MAX.ticks() { Ok(DateTime::from_ticks(ticks)) } else { Err(self.corrupt()) }
    }

    pub(crate) fn raw(&mut self, length: usize) -> Result<Bytes> {
        let end = self.at.checked_add(length).filter(|end| *end <= self.record.len()).ok_or_else(|| self.corrupt())?;
        let bytes = self.record.slice(self.at..end);
        self.at = end;
        Ok(bytes)
    }

    pub(crate) fn raw_text(&mut self, length: usize) -> Result<String> {
        String::from_utf8(self.raw(length)?.to_vec()).map_err(|_| self.corrupt())
    }

    /// Everything up to the end of the record.
    pub(crate) fn rest(self) -> Bytes {
        self.record.slice(self.at..)
    }

    pub(crate) fn bytes(&mut self) -> Result<Bytes> {
        let length = self.count()?;
        self.raw(length)
    }

    pub(crate) fn sized(&mut self) -> Result<Bytes> {
        let length = u32::from_be_bytes(self.array()?);
        self.raw(length as usize)
    }

    pub(crate) fn text(&mut self) -> Result<String> {
        let length = self.count()?;
        self.raw_text(length)
    }

    pub(crate) fn pairs(&mut self) -> Result<Vec<(String, String)>> {
        let count = self.count()?;
        (0..count).map(|_| Ok((self.text()?, self.text()?))).collect()
    }

    /// Fails unless the whole record has been read.
    pub(crate) fn finish(self) -> Result<()> {
        if self.at == self.record.len() { Ok(()) } else { Err(self.corrupt()) }
    }

    pub(crate) fn corrupt(&self) -> Error {
        corrupt(self.what)
    }
}

/// The error about a record that cannot be decoded.
#[cold]
pub(crate) fn corrupt(what: &str) -> Error {
    Error::corrupt(format!("{what} cannot be read"))
}

/// Decodes a record that is one number of eight bytes, the most significant first.
pub(crate) fn decode_number(record: &[u8], what: &str) -> Result<u64> {
    record.try_into().map(u64::from_be_bytes).map_err(|_| Error::corrupt(format!("{what} is not eight bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_and_damage_is_noticed() {
        let mut writer = FieldWriter::new(1);
        for number in [0, 127, 128, 300, u64::MAX] {
            writer.number(number);
        }
        writer.ticks(7);
        writer.text("é");
        writer.pairs(&[("a".to_owned(), "b".to_owned())]);
        let record = writer.finish();
        let read = |record: &Bytes| -> Result<()> {
            let mut reader = FieldReader::new(record, 1, "a test")?;
            for number in [0, 127, 128, 300, u64::MAX] {
                assert_eq!(reader.number()?, number);
            }
            assert_eq!(reader.ticks()?, 7);
            assert_eq!(reader.text()?, "é");
            assert_eq!(reader.pairs()?, [("a".to_owned(), "b".to_owned())]);
            reader.finish()
        };
        read(&record).unwrap();
        for length in 0..record.len() {
            assert!(read(&record.slice(..length)).is_err(), "{length}");
        }
        assert!(FieldReader::new(&record, 2, "a test").is_err());
        for (ticks, is_time) in [(DateTime::MAX.ticks() - 1, true), (DateTime::MAX.ticks(), false), (u64::MAX, false)] {
            let mut writer = FieldWriter::new(1);
            writer.ticks(ticks);
            assert_eq!(FieldReader::new(&writer.finish(), 1, "a test").unwrap().time().is_ok(), is_time, "{ticks}");
        }
        assert!(FieldReader::new(&Bytes::from(vec![1; 20]).slice(..1), 1, "a test").unwrap().count().is_err());
    }
}
