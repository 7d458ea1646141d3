//! Zip, as wheels use it: deflated files without folders, all of one date.

use crate::Result;

/// The first day that the format has, which readers accept everywhere.
const DATE_1980_01_01: u16 = 0x0021;
const DEFLATED: u16 = 8;
/// The best compression that all readers know.
const LEVEL: u8 = 9;
/// Version 2.0 of the format.
const NEEDED: u16 = 20;
/// The same, made on Unix, so that modes are kept.
const MADE_BY: u16 = 3 << 8 | NEEDED;
const REGULAR_FILE: u32 = 0o100_000;

/// A zip archive that is being written.
#[derive(Debug, Default)]
pub(crate) struct Zip {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    count: u16,
}

impl Zip {
    /// Adds a file.
    pub(crate) fn file(&mut self, name: &str, bytes: &[u8], mode: u32) -> Result<()> {
        let deflated = miniz_oxide::deflate::compress_to_vec(bytes, LEVEL);
        let size = |bytes: &[u8]| u32::try_from(bytes.len()).map_err(|_| format!("zip: {name} is too large"));
        let (deflated_size, whole_size, offset) = (size(&deflated)?, size(bytes)?, size(&self.bytes)?);
        let name_length = u16::try_from(name.len()).map_err(|_| format!("zip: the name {name} is too long"))?;

        let mut facts = Vec::new();
        put16(&mut facts, &[NEEDED, 0, DEFLATED, 0, DATE_1980_01_01]);
        put32(&mut facts, &[crc32fast::hash(bytes), deflated_size, whole_size]);
        put16(&mut facts, &[name_length, 0]);

        self.bytes.extend_from_slice(b"PK\x03\x04");
        self.bytes.extend_from_slice(&facts);
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.extend_from_slice(&deflated);

        self.directory.extend_from_slice(b"PK\x01\x02");
        put16(&mut self.directory, &[MADE_BY]);
        self.directory.extend_from_slice(&facts);
        put16(&mut self.directory, &[0, 0, 0]);
        put32(&mut self.directory, &[(REGULAR_FILE | mode) << 16, offset]);
        self.directory.extend_from_slice(name.as_bytes());
        self.count += 1;
        Ok(())
    }

    /// Ends the archive.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        // Sizes were checked file by file, far below four gigabytes.
        let (start, length) = (self.bytes.len() as u32, self.directory.len() as u32);
        self.bytes.append(&mut self.directory);
        self.bytes.extend_from_slice(b"PK\x05\x06");
        put16(&mut self.bytes, &[0, 0, self.count, self.count]);
        put32(&mut self.bytes, &[length, start]);
        put16(&mut self.bytes, &[0]);
        self.bytes
    }
}

fn put16(bytes: &mut Vec<u8>, values: &[u16]) {
    values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
}

fn put32(bytes: &mut Vec<u8>, values: &[u32]) {
    values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_the_lengths_of_the_format() {
        let mut zip = Zip::default();
        zip.file("a/b.txt", b"hello hello hello hello", 0o644).unwrap();
        let deflated = u32::from_le_bytes(zip.bytes[18..22].try_into().unwrap()) as usize;
        let archive = zip.finish();
        let directory = 30 + 7 + deflated;
        assert_eq!(&archive[directory..directory + 4], b"PK\x01\x02");
        let end = directory + 46 + 7;
        assert_eq!(&archive[end..end + 4], b"PK\x05\x06");
        assert_eq!(archive.len(), end + 22);
        assert_eq!(u32::from_le_bytes(archive[end + 16..end + 20].try_into().unwrap()) as usize, directory);
    }
}
