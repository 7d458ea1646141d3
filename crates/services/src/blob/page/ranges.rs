//! Get Page Ranges: the pages that a blob has, or those that changed since a snapshot.

use tablerock_kv::Error as StoreError;
use tablerock_protocol::blob::RangeAsked;
use tablerock_protocol::{DateTime, ErrorCode};

use super::PAGE_BYTES;
use super::joined_maps::JoinedMaps;
use super::reader::PageSource;
use super::span::Span;
use crate::Result;
use crate::blob::address::{BlobAddress, BlobLocation, ReadTerms};
use crate::blob::attempts::pause_before;
use crate::blob::stored_blob::Blob;
use crate::blob::{BlobService, keys};

/// How often a list begins again because the blob was written to meanwhile.
const ATTEMPTS_MAX: u32 = 16;

/// The parameters of Get Page Ranges.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageRangeQuery {
    pub snapshot: Option<DateTime>,
    /// Only what changed since this snapshot.
    pub previous: Option<DateTime>,
    pub range: Option<RangeAsked>,
    /// Where the last page of the list ended.
    pub from: Option<u64>,
    pub ranges_max: usize,
}

/// Pages that follow each other, first and last byte included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRange {
    pub first: u64,
    pub last: u64,
    /// Whether they were cleared since the previous snapshot.
    pub is_cleared: bool,
}

/// Some ranges, and where the next ones begin.
#[derive(Debug, Clone)]
pub struct PageRanges {
    pub blob: Blob,
    pub ranges: Vec<PageRange>,
    pub next: Option<u64>,
}

impl BlobService {
    pub async fn page_ranges(
        &self,
        at: BlobAddress<'_>,
        terms: &ReadTerms,
        query: &PageRangeQuery,
    ) -> Result<PageRanges> {
        let place = self.place_to_read(at).await?;
        for attempt in 0..ATTEMPTS_MAX {
            pause_before(attempt).await;
            let blob = self.find(&place, query.snapshot, terms).await?;
            blob.pages()?;
            let span = asked(&blob, query)?;
            let since = match query.previous {
                Some(previous) => Some(self.previous(&place, &blob, query.snapshot, previous).await?),
                None => None,
            };
            let Some((ranges, next)) = self.ranges_of(&place, &blob, query, span, since).await? else { continue };
            // Without its snapshot a layer may be merged with those above it, and the difference is not what it was.
            let still = match query.previous {
                Some(previous) => Some(self.previous(&place, &blob, query.snapshot, previous).await?),
                None => None,
            };
            if still == since {
                return Ok(PageRanges { blob, ranges, next });
            }
        }
        Err(StoreError::unavailable("a blob is written to too often to list its pages; retry later").into())
    }

    /// The newest layer of a previous snapshot, which must be of the same blob and older.
    async fn previous(
        &self,
        place: &BlobLocation,
        blob: &Blob,
        snapshot: Option<DateTime>,
        previous: DateTime,
    ) -> Result<u64> {
        if snapshot.is_some_and(|snapshot| previous > snapshot) {
            return Err(ErrorCode::PreviousSnapshotCannotBeNewer.into());
        }
        let found = self.stored_blob(place, Some(previous)).await?.ok_or(ErrorCode::PreviousSnapshotNotFound)?;
        match found.pages() {
            Ok(body) if body.generation == blob.pages()?.generation => Ok(body.top),
            _ => Err(ErrorCode::BlobOverwritten.into()),
        }
    }

    /// `None` if the blob has changed while this read it.
    async fn ranges_of(
        &self,
        place: &BlobLocation,
        blob: &Blob,
        query: &PageRangeQuery,
        span: Span,
        since: Option<u64>,
    ) -> Result<Option<(Vec<PageRange>, Option<u64>)>> {
        let key = keys::record_key(query.snapshot);
        let opened = PageSource::open(&self.store, &place.partition, key, blob.pages()?).await?;
        let Some(source) = opened else { return Ok(None) };
        let chain = source.chain();
        let layers = match since {
            None => chain,
            Some(0) => chain,
            Some(top) => match chain.iter().position(|(layer, _)| *layer == top) {
                Some(above) => &chain[..above],
                // The layer of the snapshot was merged between the two reads.
                None => return Ok(None),
            },
        };
        let mut list =
            List { ranges: vec![], ranges_max: query.ranges_max, span, is_diff: since.is_some(), next: None };
        let mut maps = JoinedMaps::new(&self.store, &place.partition, layers, span);
        while maps.next(|run, is_written| list.add(run, is_written)).await? {}
        Ok(source.is_steady().await?.then_some((list.ranges, list.next)))
    }
}

/// The pages that are asked for.
fn asked(blob: &Blob, query: &PageRangeQuery) -> Result<Span> {
    let whole = Span { first: 0, end: blob.length / PAGE_BYTES };
    let mut span = match query.range {
        None => whole,
        Some(range) => {
            let range = range.within(blob.length)?;
            Span::of_bytes(range.offset / PAGE_BYTES * PAGE_BYTES, range.length + range.offset % PAGE_BYTES)
        }
    };
    if let Some(from) = query.from {
        span.first = span.first.max(from / PAGE_BYTES);
    }
    Ok(Span { first: span.first.min(whole.end), end: span.end.min(whole.end) })
}

/// The list while it grows.
struct List {
    ranges: Vec<PageRange>,
    ranges_max: usize,
    span: Span,
    is_diff: bool,
    next: Option<u64>,
}

impl List {
    /// Adds the next run; `false` when the list is full.
    fn add(&mut self, run: Span, is_written: bool) -> bool {
        let run = run.within(self.span);
        if run.is_empty() || !is_written && !self.is_diff {
            return true;
        }
        let range =
            PageRange { first: run.first * PAGE_BYTES, last: run.end * PAGE_BYTES - 1, is_cleared: !is_written };
        let is_full = self.ranges.len() == self.ranges_max;
        match self.ranges.last_mut() {
            Some(last) if last.last + 1 == range.first && last.is_cleared == range.is_cleared => last.last = range.last,
            _ if is_full => {
                self.next = Some(range.first);
                return false;
            }
            _ => self.ranges.push(range),
        }
        true
    }
}
