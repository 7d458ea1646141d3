//! Reading the ranges of a query: in chunks, past the blocks that the skip index rules out.

use std::time::Instant;

use tablerock_kv::{Bytes, Position, Range, ScanLimits};
use tablerock_protocol::Filter;

use super::TableService;
use super::query::EntityPage;
use super::query_page::PageFiller;
use super::skip_index::{RangeMatch, SkipSearch};
use crate::Result;
use crate::sharing::Sharing;

/// Records that one scan reads. A filter may discard most of them, so it is not the page size: a query starts small,
/// since it may want one entity only, and doubles each time.
const CHUNK_RECORDS_MIN: usize = 64;
const CHUNK_RECORDS_MAX: usize = 512;
const CHUNK_BYTES: usize = 1024 * 1024;

/// One query in progress.
pub(super) struct QueryRun<'a> {
    service: &'a TableService,
    /// Rules out blocks, if the filter allows that.
    search: Option<SkipSearch>,
    deadline: Instant,
    chunk_records: usize,
    partitions_read: PartitionsRead,
    filler: PageFiller<'a>,
}

/// The partitions that a query has read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PartitionsRead {
    None,
    One(Bytes),
    Several,
}

impl PartitionsRead {
    fn add(&mut self, partition: &Bytes) {
        match self {
            Self::None => *self = Self::One(partition.clone()),
            Self::One(before) if before == partition => {}
            Self::One(_) | Self::Several => *self = Self::Several,
        }
    }
}

impl<'a> QueryRun<'a> {
    pub(super) fn new(
        service: &'a TableService,
        filter: Option<&'a Filter>,
        items_max: usize,
        deadline: Instant,
    ) -> Self {
        let search = filter.zip(service.skip_index.as_ref()).and_then(|(filter, index)| index.search(filter));
        let (chunk_records, partitions_read) = (CHUNK_RECORDS_MIN, PartitionsRead::None);
        let filler = PageFiller::new(filter, items_max);
        Self { service, search, deadline, chunk_records, partitions_read, filler }
    }

    pub(super) fn finish(self) -> (EntityPage, PartitionsRead) {
        (self.filler.page, self.partitions_read)
    }

    /// Reads a range into the page; true if the page ended before the range did.
    pub(super) async fn read(&mut self, mut range: Range) -> Result<bool> {
        if range.end.as_ref() == Some(&range.start.successor()) {
            return self.read_point(range.start).await;
        }
        loop {
            // Skip what cannot match. What has no index yet gets one, which is registered before the scan: a write
            // between the two would make it wrong.
            let (stretch, build) = match self.match_index(&range) {
                RangeMatch::None => return Ok(false),
                RangeMatch::NoneBefore(position) => {
                    range.start = position;
                    continue;
                }
                RangeMatch::Possible(stretch) => (stretch, None),
                RangeMatch::Unindexed(stretch) => {
                    let build = self.search.as_ref().map(|search| search.build(stretch.clone()));
                    (stretch, build)
                }
            };
            let chunk = self.service.store.scan(&stretch, self.chunk_limits()).await?;
            // The whole chunk is indexed, also if the page ends within it.
            if let Some(build) = build {
                build.keep(&chunk);
            }
            self.filler.page.entities_read += chunk.records.len() as u64;
            // Records are in order: if the first and the last have one partition, so do all.
            for record in chunk.records.first().into_iter().chain(chunk.records.last()) {
                self.partitions_read.add(&record.partition);
            }
            for record in chunk.records {
                if self.filler.take(&record.partition, &record.key, record.value)? {
                    return Ok(true);
                }
            }
            range.start = match (chunk.next, stretch.end) {
                // A late page ends between chunks, so that every request makes progress.
                (Some(next), _) if self.is_late() => {
                    self.filler.stop_at(&next.partition, &next.key)?;
                    return Ok(true);
                }
                (Some(next), _) => next,
                // The stretch is done, and the range goes on behind it.
                (None, Some(end)) if range.end.as_ref() != Some(&end) => end,
                (None, _) => return Ok(false),
            };
        }
    }

    /// Returns what the index has about the beginning of a range. After the deadline nothing is skipped: the next page
    /// begins at an entity, so one has to be found.
    fn match_index(&self, range: &Range) -> RangeMatch {
        match &self.search {
            Some(search) if !self.is_late() => search.look(range),
            _ => RangeMatch::Unindexed(range.clone()),
        }
    }

    fn is_late(&self) -> bool {
        self.service.clock.instant() >= self.deadline
    }

    async fn read_point(&mut self, Position { partition, key }: Position) -> Result<bool> {
        self.service.throttle.check_partition(&partition, 1)?;
        self.partitions_read.add(&partition);
        let Some(value) = self.service.store.get(&partition, &key).await? else { return Ok(false) };
        self.filler.page.entities_read += 1;
        self.filler.take(&partition, &key, value)
    }

    fn chunk_limits(&mut self) -> ScanLimits {
        // Without a filter every record counts; one more shows whether anything follows a full page.
        let missing = self.filler.missing() + 1;
        let is_filtered = self.filler.filter.is_some();
        let (chunk_max, bytes_max) =
            Sharing::of(&self.service.store).chunk_limits((CHUNK_RECORDS_MAX, CHUNK_BYTES), is_filtered);
        let records_max = if is_filtered { self.chunk_records } else { missing.min(chunk_max) };
        self.chunk_records = CHUNK_RECORDS_MAX.min(self.chunk_records * 2);
        ScanLimits { records_max, bytes_max, deadline: Some(self.deadline) }
    }
}
