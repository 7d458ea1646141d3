//! Runs of pages.

use super::{PAGE_BYTES, REGION_PAGES, SEGMENT_PAGES};

/// Pages from `first` up to `end`, which is not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    pub(super) first: u64,
    pub(super) end: u64,
}

impl Span {
    /// The pages of some bytes, which are whole pages.
    pub(super) fn of_bytes(offset: u64, length: u64) -> Self {
        Self { first: offset / PAGE_BYTES, end: (offset + length).div_ceil(PAGE_BYTES) }
    }

    pub(super) fn is_empty(self) -> bool {
        self.first >= self.end
    }

    pub(super) fn pages(self) -> u64 {
        self.end.saturating_sub(self.first)
    }

    /// The pages of these that are among others.
    pub(super) fn within(self, other: Self) -> Self {
        Self { first: self.first.max(other.first), end: self.end.min(other.end) }
    }

    /// The segments that have any of these pages.
    pub(super) fn segments(self) -> std::ops::Range<u64> {
        self.first / SEGMENT_PAGES..self.end.div_ceil(SEGMENT_PAGES)
    }

    /// The regions that have any of these pages.
    pub(super) fn regions(self) -> std::ops::Range<u64> {
        self.first / REGION_PAGES..self.end.div_ceil(REGION_PAGES)
    }

    /// The pages of a segment that are among these, as bits.
    pub(super) fn mask(self, segment: u64) -> u64 {
        let start = segment * SEGMENT_PAGES;
        let low = self.first.max(start).min(start + SEGMENT_PAGES) - start;
        let high = self.end.max(start).min(start + SEGMENT_PAGES) - start;
        bits(low, high)
    }
}

/// The bits from one up to another, which is not included.
fn bits(low: u64, high: u64) -> u64 {
    let below = |end: u64| if end >= SEGMENT_PAGES { u64::MAX } else { (1 << end) - 1 };
    if low >= high { 0 } else { below(high) & !below(low) }
}

/// Sorted runs without gaps or overlaps between neighbours.
pub(super) fn union(a: &[Span], b: &[Span]) -> Vec<Span> {
    let mut all: Vec<Span> = a.iter().chain(b).copied().filter(|span| !span.is_empty()).collect();
    all.sort_unstable();
    let mut joined: Vec<Span> = Vec::with_capacity(all.len());
    for span in all {
        match joined.last_mut() {
            Some(last) if span.first <= last.end => last.end = last.end.max(span.end),
            _ => joined.push(span),
        }
    }
    joined
}

/// Those of sorted runs that have any of these pages. The search does not pass over the others one by one.
pub(super) fn overlaps(spans: &[Span], pages: Span) -> &[Span] {
    let from = &spans[spans.partition_point(|span| span.end <= pages.first)..];
    &from[..from.partition_point(|span| span.first < pages.end)]
}

/// The pages of a segment that are in any of the sorted runs, as bits.
pub(super) fn mask_of(spans: &[Span], segment: u64) -> u64 {
    let pages = Span { first: segment * SEGMENT_PAGES, end: (segment + 1) * SEGMENT_PAGES };
    overlaps(spans, pages).iter().fold(0, |mask, span| mask | span.mask(segment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_the_pages_of_a_segment() {
        let span = Span { first: 1, end: 130 };
        assert_eq!((span.mask(0), span.mask(1), span.mask(2), span.mask(3)), (u64::MAX << 1, u64::MAX, 0b11, 0));
        assert_eq!(span.segments(), 0..3);
        assert_eq!(Span::of_bytes(512, 1024), Span { first: 1, end: 3 });
    }

    #[test]
    fn runs_are_joined_where_they_touch() {
        let span = |first, end| Span { first, end };
        assert_eq!(union(&[span(5, 7), span(0, 2)], &[span(2, 3), span(6, 9)]), [span(0, 3), span(5, 9)]);
        assert_eq!(mask_of(&[span(0, 3), span(5, 9)], 0), 0b1_1110_0111);
        assert_eq!(mask_of(&[span(0, 3), span(63, 65), span(128, 130)], 1), 0b1);
        assert_eq!(overlaps(&[span(0, 3), span(5, 9), span(20, 30)], span(3, 20)), [span(5, 9)]);
        assert_eq!(overlaps(&[span(0, 3)], span(3, 20)), []);
    }
}
