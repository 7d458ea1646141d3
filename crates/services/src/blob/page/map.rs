//! Which pages of a region a layer has and which it clears, without their bytes: Get Page Ranges reads these alone.

use tablerock_kv::{Bytes, Result};

use super::segment::Segment;
use super::span::Span;
use super::{REGION_SEGMENTS, SEGMENT_PAGES};
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

    /// Adds what an older layer has where this one has nothing. `hidden` pages of it do not count.
    pub(super) fn put_under(&mut self, region: u64, older: &Self, hidden: &[Span]) {
        for at in 0..WORDS {
            let segment = region * REGION_SEGMENTS + at as u64;
            let free = !(self.written[at] | self.cleared[at] | super::span::mask_of(hidden, segment));
            self.written[at] |= older.written[at] & free;
            self.cleared[at] |= older.cleared[at] & free;
        }
    }

    /// Marks pages as cleared where nothing is known of them.
    pub(super) fn clear_under(&mut self, region: u64, spans: &[Span]) {
        for at in 0..WORDS {
            let mask = super::span::mask_of(spans, region * REGION_SEGMENTS + at as u64);
            self.cleared[at] |= mask & !self.written[at];
        }
    }

    /// The state of each page from one on, as runs: `Some(true)` is written, `Some(false)` cleared.
    pub(super) fn runs(&self, region: u64) -> impl Iterator<Item = (Span, bool)> {
        let first = region * REGION_SEGMENTS * SEGMENT_PAGES;
        let state = |page: u64| {
            let (word, bit) = ((page / SEGMENT_PAGES) as usize, page % SEGMENT_PAGES);
            match (self.written[word] >> bit & 1, self.cleared[word] >> bit & 1) {
                (1, _) => Some(true),
                (_, 1) => Some(false),
                _ => None,
            }
        };
        let mut page = 0;
        std::iter::from_fn(move || {
            let end = REGION_SEGMENTS * SEGMENT_PAGES;
            while page < end {
                let word = (page / SEGMENT_PAGES) as usize;
                if page % SEGMENT_PAGES == 0 && self.written[word] | self.cleared[word] == 0 {
                    page += SEGMENT_PAGES;
                    continue;
                }
                let Some(found) = state(page) else {
                    page += 1;
                    continue;
                };
                let start = page;
                while page < end && state(page) == Some(found) {
                    page += 1;
                }
                return Some((Span { first: first + start, end: first + page }, found));
            }
            None
        })
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
    }

    #[test]
    fn what_is_above_hides_what_is_below() {
        let mut above = map(&[(0, 0b1, 0b10)]);
        above.put_under(0, &map(&[(0, 0b1111, 0)]), &[Span { first: 2, end: 3 }]);
        assert_eq!(above.get(0), (0b1001, 0b10));
        above.clear_under(0, &[Span { first: 0, end: 5 }]);
        assert_eq!(above.get(0), (0b1001, 0b10110));
    }
}
