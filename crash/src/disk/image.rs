//! The bytes of a file. Journals are preallocated, so trailing zeros are not stored.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

/// Blocks of this many zeros become holes in a saved file.
const HOLE_BYTES: usize = 4096;

#[derive(Debug, Clone, Default)]
pub struct Image {
    /// Without the zeros that follow up to `length`.
    bytes: Vec<u8>,
    length: u64,
}

impl Image {
    pub fn new(bytes: Vec<u8>) -> Self {
        let length = bytes.len() as u64;
        let mut image = Self { bytes, length };
        let kept = image.bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        image.bytes.truncate(kept);
        image
    }

    pub fn length(&self) -> u64 {
        self.length
    }

    pub fn write(&mut self, position: u64, bytes: &[u8]) {
        let start = usize::try_from(position).expect("files of a test fit into memory");
        let end = start + bytes.len();
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[start..end].copy_from_slice(bytes);
        self.length = self.length.max(end as u64);
    }

    pub fn set_length(&mut self, length: u64) {
        self.length = length;
        if (self.bytes.len() as u64) > length {
            self.bytes.truncate(length as usize);
        }
    }

    /// Writes the file.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let mut file = File::create(path)?;
        file.set_len(self.length)?;
        for (index, chunk) in self.bytes.chunks(HOLE_BYTES).enumerate() {
            if chunk.iter().any(|&byte| byte != 0) {
                file.seek(SeekFrom::Start((index * HOLE_BYTES) as u64))?;
                file.write_all(chunk)?;
            }
        }
        Ok(())
    }
}

impl PartialEq for Image {
    fn eq(&self, other: &Self) -> bool {
        let (short, long) = if self.bytes.len() < other.bytes.len() { (self, other) } else { (other, self) };
        let (same, rest) = long.bytes.split_at(short.bytes.len());
        self.length == other.length && *same == *short.bytes && rest.iter().all(|&byte| byte == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_at_the_end_make_no_difference() {
        let mut grown = Image::default();
        grown.set_length(10);
        grown.write(2, b"ab");
        assert_eq!(grown, Image::new(b"\0\0ab\0\0\0\0\0\0".to_vec()));
        grown.set_length(3);
        grown.set_length(5);
        assert_eq!(grown, Image::new(b"\0\0a\0\0".to_vec()));
    }

    #[test]
    fn a_file_is_saved_with_its_holes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let mut image = Image::default();
        image.set_length(100_000);
        image.write(50_000, b"x");
        image.save(&path).unwrap();
        assert_eq!(Image::new(std::fs::read(&path).unwrap()), image);
    }
}
