//! Which pages of a region a layer has and which it clears, without their bytes: Get Page Ranges reads these alone.

use tablerock_kv::{Bytes, Result};

use super::segment::Segment;
use super::span::{Span, mask_of, overlaps};
use super::{REGION_PAGES, REGION_SEGMENTS, SEGMENT_PAGES};
use crate::fields::{FieldReader, FieldWriter};

const FORMAT: u8 = 1;

const WORDS: usize = REGION_SEGMENTS as usize;

/// The words of all segments of a region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageMap {
    written: Vec<u64>,
    cleared: Vec<u64>,
}

impl Default for PageMap {
    fn default() -> Self {
        Self { written: vec![0; WORDS], cleared: vec![0; WORDS] }
    }
}

impl PageMap {
    /// Notes the pages of a segment, given by its place in the blob.
    pub(super) fn set(&mut self, segment: u64, pages: &Segment) {
        let at = (segment % REGION_SEGMENTS) as usize;
        (self.written[at], self.cleared[at]) = (pages.written, pages.cleared);
    }

    /// The pages of a segment: written, and cleared.
    #[cfg(test)]
    fn get(&self, segment: u64) -> (u64, u64) {
        let at = (segment % REGION_SEGMENTS) as usize;
        (self.written[at], self.cleared[at])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.written.iter().chain(&self.cleared).all(|word| *word == 0)
    }

    /// A map that clears pages and has none.
    pub(super) fn clearing(region: u64, spans: &[Span]) -> Self {
        let mut map = Self::default();
        map.clear_under(region, spans);
        map
    }

    /// Adds what an older layer has where this one has nothing.
    pub(super) fn put_under(&mut self, older: &Self) {
        for at in 0..WORDS {
            let free = !(self.written[at] | self.cleared[at]);
            self.written[at] |= older.written[at] & free;
            self.cleared[at] |= older.cleared[at] & free;
        }
    }

    /// Marks pages as cleared where nothing is known of them.
    pub(super) fn clear_under(&mut self, region: u64, spans: &[Span]) {
        let spans = overlaps(spans, Span { first: region * REGION_PAGES, end: (region + 1) * REGION_PAGES });
        for at in 0..WORDS {
            let mask = mask_of(spans, region * REGION_SEGMENTS + at as u64);
            self.cleared[at] |= mask & !self.written[at];
        }
    }

    /// Runs of pages that are written, and of pages that are cleared.
    pub(super) fn runs(&self, region: u64) -> impl Iterator<Item = (Span, bool)> {
        let first = region * REGION_PAGES;
        let mut page = 0;
        std::iter::from_fn(move || {
            // From where either is known, by whole words where nothing is.
            page = self.first_from(page, |map, at| map.written[at] | map.cleared[at])?;
            let (start, is_written) = (page, self.written[word_of(page)] >> (page % SEGMENT_PAGES) & 1 == 1);
            let same = |map: &Self, at: usize| match is_written {
                true => map.written[at],
                false => map.cleared[at] & !map.written[at],
            };
            page = self.first_from(page, |map, at| !same(map, at)).unwrap_or(REGION_PAGES);
            Some((Span { first: first + start, end: first + page }, is_written))
        })
    }

    /// The first page from one on whose bit is set in words made of this map.
    fn first_from(&self, page: u64, words: impl Fn(&Self, usize) -> u64) -> Option<u64> {
        let begun = word_of(page);
        for at in begun..WORDS {
            let seen = if at == begun { u64::MAX << (page % SEGMENT_PAGES) } else { u64::MAX };
            let found = words(self, at) & seen;
            if found != 0 {
                return Some(at as u64 * SEGMENT_PAGES + u64::from(found.trailing_zeros()));
            }
        }
        None
    }

    pub(super) fn encode(&self) -> Bytes {
        let mut out = FieldWriter::new(FORMAT);
        encode_words(&self.written, &mut out);
        encode_words(&self.cleared, &mut out);
        out.finish()
    }

    pub(super) fn decode(record: &Bytes) -> Result<Self> {
        let mut fields = FieldReader::new(record, FORMAT, "a map of pages")?;
        let map = Self { written: decode_words(&mut fields)?, cleared: decode_words(&mut fields)? };
        fields.finish()?;
        Ok(map)
    }
}

fn word_of(page: u64) -> usize {
    (page / SEGMENT_PAGES) as usize
}

// Runs of words: a kind, so many less one, and for the last kind the words themselves.
const ZEROS: u8 = 0;
const ONES: u8 = 1;
const LITERAL: u8 = 2;

fn kind_of(word: u64) -> u8 {
    match word {
        0 => ZEROS,
        u64::MAX => ONES,
        _ => LITERAL,
    }
}

fn encode_words(words: &[u64], out: &mut FieldWriter) {
    for run in words.chunk_by(|a, b| kind_of(*a) == kind_of(*b)) {
        out.byte(kind_of(run[0]));
        out.byte((run.len() - 1) as u8);
        if kind_of(run[0]) == LITERAL {
            run.iter().for_each(|word| out.ticks(*word));
        }
    }
}

fn decode_words(fields: &mut FieldReader<'_>) -> Result<Vec<u64>> {
    let mut words = Vec::with_capacity(WORDS);
    while words.len() < WORDS {
        let (kind, count) = (fields.byte()?, usize::from(fields.byte()?) + 1);
        for _ in 0..count {
            words.push(match kind {
                ZEROS => 0,
                ONES => u64::MAX,
                LITERAL => fields.ticks()?,
                _ => return Err(fields.corrupt()),
            });
        }
    }
    if words.len() == WORDS { Ok(words) } else { Err(fields.corrupt()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(words: &[(u64, u64, u64)]) -> PageMap {
        let mut map = PageMap::default();
        for (segment, written, cleared) in words {
            (map.written[*segment as usize], map.cleared[*segment as usize]) = (*written, *cleared);
        }
        map
    }

    #[test]
    fn a_map_of_one_page_is_small_and_comes_back() {
        let one = map(&[(3, 1, 0)]);
        assert!(one.encode().len() < 24);
        for map in [PageMap::default(), one, map(&[(0, u64::MAX, 0), (1, u64::MAX, 0), (255, 5, 2)])] {
            let record = map.encode();
            assert_eq!(PageMap::decode(&record).unwrap(), map);
            assert!(PageMap::decode(&record.slice(..record.len() - 1)).is_err());
        }
    }

    #[test]
    fn runs_cross_segments_and_tell_written_from_cleared() {
        let runs: Vec<_> = map(&[(0, 1 << 63, 0), (1, 0b1, 0b110)]).runs(2).collect();
        let first = 2 * REGION_SEGMENTS * SEGMENT_PAGES;
        let span = |start, end| Span { first: first + start, end: first + end };
        assert_eq!(runs, [(span(63, 65), true), (span(65, 67), false)]);
        let all: Vec<_> = PageMap::clearing(2, &[Span { first: 0, end: u64::MAX }]).runs(2).collect();
        assert_eq!(all, [(span(0, REGION_PAGES), false)]);
    }

    #[test]
    fn what_is_above_hides_what_is_below() {
        let mut above = map(&[(0, 0b1, 0b10)]);
        above.clear_under(0, &[Span { first: 2, end: 3 }]);
        above.put_under(&map(&[(0, 0b1111, 0)]));
        assert_eq!(above.get(0), (0b1001, 0b110));
        above.clear_under(0, &[Span { first: 0, end: 5 }]);
        assert_eq!(above.get(0), (0b1001, 0b10110));
    }
}
