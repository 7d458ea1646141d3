//! A record of up to 64 pages of one layer: which of them it has, which of them it clears, and their bytes.

use bytes::{BufMut, BytesMut};
use tablerock_kv::{Bytes, Result};

use super::{PAGE_BYTES, SEGMENT_BYTES, SEGMENT_PAGES};
use crate::fields::corrupt;

const FORMAT: u8 = 1;

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
    /// The bytes of the pages that it has, in their order.
    bytes: Bytes,
}

impl Segment {
    /// All pages of a segment.
    pub(super) fn full(bytes: Bytes) -> Self {
        debug_assert_eq!(bytes.len() as u64, SEGMENT_BYTES);
        Self { written: u64::MAX, cleared: 0, bytes }
    }

    /// Pages in a row, from one on.
    pub(super) fn run(written: u64, bytes: Bytes) -> Self {
        debug_assert_eq!(bytes.len(), written.count_ones() as usize * PAGE);
        Self { written, cleared: 0, bytes }
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

    /// This segment above that of an older layer.
    pub(super) fn over(&self, older: &Self) -> Self {
        let below = older.without(self.touched());
        if below.is_empty() {
            return self.clone();
        }
        if self.is_empty() {
            return below;
        }
        let written = self.written | below.written;
        let mut bytes = BytesMut::with_capacity(written.count_ones() as usize * PAGE);
        for page in pages(written) {
            let source = if self.written >> page & 1 == 1 { self } else { &below };
            bytes.put_slice(source.page(page).expect("the page is in one of the two"));
        }
        Self { written, cleared: self.cleared | below.cleared, bytes: bytes.freeze() }
    }

    /// Without some pages, neither written nor cleared.
    pub(super) fn without(&self, mask: u64) -> Self {
        let (written, cleared) = (self.written & !mask, self.cleared & !mask);
        if written == self.written {
            return Self { cleared, ..self.clone() };
        }
        let mut bytes = BytesMut::with_capacity(written.count_ones() as usize * PAGE);
        pages(written).for_each(|page| bytes.put_slice(self.page(page).expect("it was written")));
        Self { written, cleared, bytes: bytes.freeze() }
    }

    /// Without the marks of cleared pages, which only hide something if there is something below.
    pub(super) fn without_cleared(&self) -> Self {
        Self { cleared: 0, ..self.clone() }
    }

    /// The bytes of a page that it has.
    pub(super) fn page(&self, page: u64) -> Option<&[u8]> {
        if self.written >> page & 1 == 0 {
            return None;
        }
        let at = (self.written & ((1 << page) - 1)).count_ones() as usize * PAGE;
        self.bytes.get(at..at + PAGE)
    }

    /// Runs of pages that it has: the first of each, and its bytes.
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
            at += count as usize * PAGE;
            (first, self.bytes.slice(start..at))
        };
        runs.into_iter().map(cut).collect()
    }

    /// Copies the pages that it has to their places in a segment.
    pub(super) fn copy_to(&self, segment: &mut [u8]) {
        if self.written == u64::MAX {
            segment.copy_from_slice(&self.bytes);
            return;
        }
        for page in pages(self.written) {
            let at = page as usize * PAGE;
            segment[at..at + PAGE].copy_from_slice(self.page(page).expect("it is written"));
        }
    }

    pub(super) fn encode(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(HEAD_BYTES + self.bytes.len());
        out.put_u8(FORMAT);
        out.put_u64(self.written);
        out.put_u64(self.cleared);
        out.put_slice(&self.bytes);
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
        let is_whole = bytes.len() == written.count_ones() as usize * PAGE;
        if record[0] == FORMAT && is_whole && written & cleared == 0 {
            Ok(Self { written, cleared, bytes })
        } else {
            Err(unreadable())
        }
    }
}

/// The places of the bits that are set.
fn pages(mask: u64) -> impl Iterator<Item = u64> {
    (0..SEGMENT_PAGES).filter(move |page| mask >> page & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(mask: u64, byte: u8) -> Segment {
        Segment::run(mask, vec![byte; mask.count_ones() as usize * PAGE].into())
    }

    #[test]
    fn newer_pages_hide_older_ones() {
        let newer = Segment { cleared: 0b100, ..filled(0b1, 1) };
        let older = filled(0b1111, 2);
        let merged = newer.over(&older);
        assert_eq!((merged.written, merged.cleared), (0b1011, 0b100));
        assert_eq!(merged.page(0).unwrap()[0], 1);
        assert_eq!(merged.page(3).unwrap()[0], 2);
        assert_eq!(merged.page(2), None);
        assert_eq!(merged.without(0b1011), Segment::clearing(0b100));
        let runs: Vec<_> = merged.runs().into_iter().map(|(first, bytes)| (first, bytes.len(), bytes[0])).collect();
        assert_eq!(runs, [(0, 1024, 1), (3, 512, 2)]);
    }

    #[test]
    fn a_segment_comes_back_as_it_was() {
        for segment in [filled(1 << 63 | 1, 7), Segment::clearing(5), filled(u64::MAX, 3)] {
            let record = segment.encode();
            assert_eq!(Segment::decode(&record).unwrap(), segment);
            assert!(Segment::decode(&record.slice(..record.len() - 1)).is_err());
        }
        assert!(Segment::decode(&Bytes::new()).is_err());
    }
}
