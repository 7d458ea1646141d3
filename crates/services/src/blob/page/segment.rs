//! A record of up to 64 pages of one layer: which of them it has, which of them it clears, and their bytes. Nothing here needs
//! the key of encrypted pages.

use bytes::{BufMut, BytesMut};
use tablerock_kv::{Bytes, Result};

use super::stored_pages::StoredPages;
use super::{PAGE_BYTES, SEGMENT_PAGES};
use crate::fields::corrupt;

const FORMAT: u8 = 1;

/// The same with pages that are encrypted with a customer's key.
const FORMAT_ENCRYPTED: u8 = 2;

/// The format and two words.
const HEAD_BYTES: usize = 17;

const PAGE: usize = PAGE_BYTES as usize;

/// The pages of one layer in one segment. A page is the bit of its place, the least significant first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Segment {
    /// The pages that it has.
    pub(super) written: u64,
    /// The pages that it has not, and that hide those of the layers below.
    pub(super) cleared: u64,
    /// The pages that it has, in their order.
    pages: StoredPages,
}

impl Segment {
    /// Pages that are written.
    pub(super) fn writing(written: u64, pages: StoredPages) -> Self {
        debug_assert!(pages.has(written.count_ones()));
        Self { written, cleared: 0, pages }
    }

    /// Pages that are cleared.
    pub(super) fn clearing(cleared: u64) -> Self {
        Self { cleared, ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.written == 0 && self.cleared == 0
    }

    pub(super) fn touched(&self) -> u64 {
        self.written | self.cleared
    }

    /// The places of the pages that it has, in a blob that has it at `place`.
    pub(super) fn places(&self, place: u64) -> Vec<u64> {
        pages(self.written).map(|page| place * SEGMENT_PAGES + page).collect()
    }

    pub(super) fn pages(&self) -> &StoredPages {
        &self.pages
    }

    /// The same pages, stored in another way.
    pub(super) fn with_pages(self, pages: StoredPages) -> Self {
        debug_assert!(pages.has(self.written.count_ones()));
        Self { pages, ..self }
    }

    /// This segment above that of an older layer.
    pub(super) fn over(&self, older: &Self) -> Result<Self> {
        let below = older.without(self.touched());
        if below.is_empty() {
            return Ok(self.clone());
        }
        if self.is_empty() {
            return Ok(below);
        }
        let cleared = self.cleared | below.cleared;
        match (self.written, below.written) {
            (_, 0) => return Ok(Self { cleared, ..self.clone() }),
            (0, _) => return Ok(Self { cleared, ..below }),
            _ if self.pages.is_encrypted() != below.pages.is_encrypted() => {
                return Err(corrupt("a segment of pages of which one layer is encrypted"));
            }
            _ => {}
        }
        let written = self.written | below.written;
        let mut bytes = BytesMut::with_capacity(written.count_ones() as usize * self.pages.page_bytes());
        for page in pages(written) {
            let source = if self.written >> page & 1 == 1 { self } else { &below };
            bytes.put_slice(source.page(page).expect("the page is in one of the two"));
        }
        Ok(Self { written, cleared, pages: self.pages.alike(bytes.freeze()) })
    }

    /// Without some pages, neither written nor cleared.
    pub(super) fn without(&self, mask: u64) -> Self {
        let (written, cleared) = (self.written & !mask, self.cleared & !mask);
        if written == self.written {
            return Self { cleared, ..self.clone() };
        }
        if written == 0 {
            return Self::clearing(cleared);
        }
        let mut bytes = BytesMut::with_capacity(written.count_ones() as usize * self.pages.page_bytes());
        pages(written).for_each(|page| bytes.put_slice(self.page(page).expect("it was written")));
        Self { written, cleared, pages: self.pages.alike(bytes.freeze()) }
    }

    /// Without the marks of cleared pages, which only hide something if there is something below.
    pub(super) fn without_cleared(&self) -> Self {
        Self { cleared: 0, ..self.clone() }
    }

    /// The bytes of a page that it has, as they are stored.
    pub(super) fn page(&self, page: u64) -> Option<&[u8]> {
        if self.written >> page & 1 == 0 {
            return None;
        }
        self.pages.page((self.written & ((1 << page) - 1)).count_ones() as usize)
    }

    /// Runs of pages that it has: the first of each, and its bytes as they are stored.
    pub(super) fn runs(&self) -> Vec<(u64, Bytes)> {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for page in pages(self.written) {
            match runs.last_mut() {
                Some((first, count)) if *first + *count == page => *count += 1,
                _ => runs.push((page, 1)),
            }
        }
        let mut at = 0;
        let cut = |(first, count): (u64, u64)| {
            let start = at;
            at += count as usize;
            (first, self.pages.slice(start, count as usize).bytes().clone())
        };
        runs.into_iter().map(cut).collect()
    }

    /// Copies the pages that it has, in the clear, to their places in a segment.
    pub(super) fn copy_to(&self, segment: &mut [u8]) {
        debug_assert!(!self.pages.is_encrypted(), "the reader decrypts first");
        if self.written == u64::MAX {
            segment.copy_from_slice(self.pages.bytes());
            return;
        }
        for page in pages(self.written) {
            let at = page as usize * PAGE;
            segment[at..at + PAGE].copy_from_slice(self.page(page).expect("it is written"));
        }
    }

    pub(super) fn encode(&self) -> Bytes {
        let bytes = self.pages.bytes();
        let mut out = BytesMut::with_capacity(HEAD_BYTES + bytes.len());
        out.put_u8(if self.pages.is_encrypted() { FORMAT_ENCRYPTED } else { FORMAT });
        out.put_u64(self.written);
        out.put_u64(self.cleared);
        out.put_slice(bytes);
        out.freeze()
    }

    pub(super) fn decode(record: &Bytes) -> Result<Self> {
        let unreadable = || corrupt("a segment of pages");
        let word = |at: usize| -> Result<u64> {
            let bytes = record.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).ok_or_else(unreadable)?;
            Ok(u64::from_be_bytes(bytes))
        };
        let (written, cleared) = (word(1)?, word(9)?);
        let bytes = record.slice(HEAD_BYTES.min(record.len())..);
        let pages = match record[0] {
            FORMAT => StoredPages::plain(bytes),
            FORMAT_ENCRYPTED => StoredPages::encrypted(bytes),
            _ => return Err(unreadable()),
        };
        let is_whole = pages.has(written.count_ones());
        if is_whole && written & cleared == 0 { Ok(Self { written, cleared, pages }) } else { Err(unreadable()) }
    }
}

/// The places of the bits that are set.
fn pages(mask: u64) -> impl Iterator<Item = u64> {
    (0..SEGMENT_PAGES).filter(move |page| mask >> page & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blob::encryption::ENCRYPTED_PAGE_BYTES;

    fn filled(mask: u64, byte: u8) -> Segment {
        Segment::writing(mask, StoredPages::plain(vec![byte; mask.count_ones() as usize * PAGE].into()))
    }

    fn encrypted(mask: u64, byte: u8) -> Segment {
        let bytes = vec![byte; mask.count_ones() as usize * ENCRYPTED_PAGE_BYTES];
        Segment::writing(mask, StoredPages::encrypted(bytes.into()))
    }

    #[test]
    fn newer_pages_hide_older_ones() {
        let newer = Segment { cleared: 0b100, ..filled(0b1, 1) };
        let older = filled(0b1111, 2);
        let merged = newer.over(&older).unwrap();
        assert_eq!((merged.written, merged.cleared), (0b1011, 0b100));
        assert_eq!(merged.page(0).unwrap()[0], 1);
        assert_eq!(merged.page(3).unwrap()[0], 2);
        assert_eq!(merged.page(2), None);
        assert_eq!(merged.without(0b1011), Segment::clearing(0b100));
        let runs: Vec<_> = merged.runs().into_iter().map(|(first, bytes)| (first, bytes.len(), bytes[0])).collect();
        assert_eq!(runs, [(0, 1024, 1), (3, 512, 2)]);
    }

    #[test]
    fn encrypted_pages_are_merged_with_each_other_only() {
        let merged = encrypted(0b1, 1).over(&encrypted(0b11, 2)).unwrap();
        assert_eq!((merged.page(0).unwrap()[0], merged.page(1).unwrap()[0]), (1, 2));
        assert_eq!(merged.page(1).unwrap().len(), ENCRYPTED_PAGE_BYTES);
        assert_eq!(merged.without(0b1), encrypted(0b10, 2));
        assert_eq!(Segment::clearing(0b1).over(&encrypted(0b11, 2)).unwrap().page(1).unwrap()[0], 2);
        assert_eq!(encrypted(0b11, 2).without(0b11), Segment::default());
        assert!(filled(0b1, 1).over(&encrypted(0b10, 2)).is_err());
    }

    #[test]
    fn a_segment_comes_back_as_it_was() {
        for segment in [filled(1 << 63 | 1, 7), Segment::clearing(5), filled(u64::MAX, 3), encrypted(5, 1)] {
            let record = segment.encode();
            assert_eq!(Segment::decode(&record).unwrap(), segment);
            assert!(Segment::decode(&record.slice(..record.len() - 1)).is_err());
        }
        assert!(Segment::decode(&Bytes::new()).is_err());
    }
}
