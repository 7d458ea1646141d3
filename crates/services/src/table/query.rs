//! Running a query: ranges from the plan, pages bounded by items, bytes and time.

use std::cell::Cell;
use std::time::{Duration, Instant};

use tablerock_kv::key::key_bytes_to_text;
use tablerock_kv::{Bytes, Position, Range, ScanLimits};
use tablerock_protocol::signing::{KeyBound, KeyRange};
use tablerock_protocol::{Filter, limits};

use super::plan::Plan;
use super::skip_index::{RangeMatch, SkipSearch};
use super::stored_entity::{EntityRow, corrupt};
use super::{StoredEntity, TableService, keys};
use crate::Result;

/// Records that are fetched in one go. A filter may discard most of them, so it is not the page size: a query
/// starts small, since it may want one entity only, and takes more each time.
const CHUNK_RECORDS_MIN: usize = 64;
const CHUNK_RECORDS_MAX: usize = 512;
const CHUNK_BYTES: usize = 1024 * 1024;

/// What Query Entities asks for.
#[derive(Debug, Clone, Default)]
pub struct EntityQuery {
    pub filter: Option<Filter>,
    /// At most this many; `None` is as many as a page holds.
    pub top: Option<usize>,
    /// Keys of the first entity to return, from a continuation token.
    pub from: Option<(String, String)>,
    /// The part of the table that the caller may see.
    pub within: Option<KeyRange>,
}

/// An entity with its keys.
#[derive(Debug, Clone)]
pub struct FoundEntity {
    pub partition_key: String,
    pub row_key: String,
    pub entity: StoredEntity,
}

/// A page of entities, and the keys that the next page starts with.
#[derive(Debug, Default)]
pub struct EntityPage {
    pub entities: Vec<FoundEntity>,
    pub next: Option<(String, String)>,
    /// How many stored entities were looked at to find these.
    pub entities_read: u64,
}

impl TableService {
    pub async fn query_entities(&self, account: &str, table: &str, query: &EntityQuery) -> Result<EntityPage> {
        self.throttle.check_account(account)?;
        let table_id = self.table_id(account, table).await?;
        let deadline = self.clock.instant() + Duration::from_secs(limits::QUERY_SECONDS_MAX);
        let plan = Plan::new(table_id, query.filter.as_ref());
        let filter = query.filter.as_ref().filter(|_| !plan.is_exact);
        let mut run = Run {
            service: self,
            filter,
            search: filter.zip(self.skip_index.as_ref()).and_then(|(filter, skip_index)| skip_index.search(filter)),
            items_max: query.top.unwrap_or(limits::PAGE_ITEMS_MAX),
            deadline,
            page: EntityPage::default(),
            page_bytes: 0,
            chunk_records: CHUNK_RECORDS_MIN,
            read_from: ReadFrom::Nowhere,
        };
        if run.items_max == 0 {
            return Ok(run.page);
        }
        for range in cut(plan.ranges, table_id, query) {
            if run.read(range).await? {
                break;
            }
        }
        let Run { page, read_from, .. } = run;
        self.count_read(account, table, &read_from, page.entities_read)?;
        Ok(page)
    }

    /// What a query reads of one partition is that one's load; what it reads of several is the table's.
    fn count_read(&self, account: &str, table: &str, read_from: &ReadFrom, entities: u64) -> Result<()> {
        // To find nothing takes a look as well.
        let entities = entities.max(1);
        match read_from {
            ReadFrom::One(partition) => {
                let partition_key = key_bytes_to_text(keys::partition_key_of(partition)?)?;
                self.load.read(account, table, &partition_key, entities);
            }
            ReadFrom::Nowhere | ReadFrom::Several => self.load.read_across(account, table, entities),
        }
        Ok(())
    }
}

/// The plan, cut to what the caller may see and to what earlier pages have left.
fn cut(mut ranges: Vec<Range>, table_id: u64, query: &EntityQuery) -> Vec<Range> {
    let allowed = query.within.as_ref().map(|within| range_of(within, table_id));
    let from = query.from.as_ref().map(|(partition_key, row_key)| position(table_id, partition_key, row_key));
    for range in &mut ranges {
        if let Some(allowed) = &allowed {
            range.start = (&range.start).max(&allowed.start).clone();
            range.end = match (range.end.take(), &allowed.end) {
                (Some(end), Some(bound)) => Some(end.min(bound.clone())),
                (one, None) => one,
                (None, bound) => bound.clone(),
            };
        }
        if let Some(from) = &from {
            range.start = (&range.start).max(from).clone();
        }
    }
    ranges.retain(|range| !range.is_empty());
    ranges
}

fn position(table_id: u64, partition_key: &str, row_key: &str) -> Position {
    Position::new(keys::entity_partition(table_id, partition_key), keys::entity_key(row_key))
}

/// The part of a table that a SAS covers.
fn range_of(keys: &KeyRange, table_id: u64) -> Range {
    let whole = keys::table_range(table_id);
    let start = match &keys.start {
        None => whole.start,
        Some(KeyBound { partition_key, row_key }) => {
            position(table_id, partition_key, row_key.as_deref().unwrap_or_default())
        }
    };
    let end = match &keys.end {
        None => whole.end,
        Some(KeyBound { partition_key, row_key: Some(row_key) }) => {
            Some(position(table_id, partition_key, row_key).successor())
        }
        Some(KeyBound { partition_key, row_key: None }) => {
            Some(Position::end_of(&keys::entity_partition(table_id, partition_key)))
        }
    };
    Range { start, end }
}

/// One query under way.
struct Run<'a> {
    service: &'a TableService,
    filter: Option<&'a Filter>,
    /// Finds what need not be read, if the filter is one that allows it.
    search: Option<SkipSearch>,
    items_max: usize,
    deadline: Instant,
    page: EntityPage,
    page_bytes: usize,
    chunk_records: usize,
    read_from: ReadFrom,
}

/// Which partitions a query has read.
#[derive(Debug, PartialEq, Eq)]
enum ReadFrom {
    Nowhere,
    One(Bytes),
    Several,
}

impl ReadFrom {
    fn add(&mut self, partition: &Bytes) {
        match self {
            Self::Nowhere => *self = Self::One(partition.clone()),
            Self::One(before) if before == partition => {}
            Self::One(_) | Self::Several => *self = Self::Several,
        }
    }
}

impl Run<'_> {
    /// Reads a range into the page; true if the page ended before the range did.
    async fn read(&mut self, mut range: Range) -> Result<bool> {
        if range.end.as_ref() == Some(&range.start.successor()) {
            return self.read_point(range.start).await;
        }
        loop {
            let (stretch, building) = match self.look(&range) {
                RangeMatch::None => return Ok(false),
                RangeMatch::NoneBefore(place) => {
                    range.start = place;
                    continue;
                }
                RangeMatch::Possible(stretch) => (stretch, None),
                RangeMatch::Unindexed(stretch) => {
                    let building = self.search.as_ref().map(|search| search.build(stretch.clone()));
                    (stretch, building)
                }
            };
            let chunk = self.service.store.scan(&stretch, self.chunk_limits()).await?;
            if let Some(building) = building {
                building.keep(&chunk);
            }
            self.page.entities_read += chunk.records.len() as u64;
            // Records are in order, so these two tell whether there are others.
            for record in chunk.records.first().into_iter().chain(chunk.records.last()) {
                self.read_from.add(&record.partition);
            }
            for record in chunk.records {
                if self.take(&record.partition, &record.key, record.value)? {
                    return Ok(true);
                }
            }
            range.start = match (chunk.next, stretch.end) {
                (Some(next), _) if self.is_late() => {
                    self.stop_at(&next.partition, &next.key)?;
                    return Ok(true);
                }
                (Some(next), _) => next,
                (None, Some(end)) if range.end.as_ref() != Some(&end) => end,
                (None, _) => return Ok(false),
            };
        }
    }

    /// What has to be read of the beginning of a range. Once it is late nothing is skipped any more, since a page
    /// ends at an entity, and one has to be found for that.
    fn look(&self, range: &Range) -> RangeMatch {
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
        self.read_from.add(&partition);
        let Some(value) = self.service.store.get(&partition, &key).await? else { return Ok(false) };
        self.page.entities_read += 1;
        self.take(&partition, &key, value)
    }

    fn chunk_limits(&mut self) -> ScanLimits {
        // Without a filter it is known how many are wanted; one more shows whether anything follows a full page.
        let missing = self.items_max - self.page.entities.len() + 1;
        let records_max = if self.filter.is_none() { missing.min(CHUNK_RECORDS_MAX) } else { self.chunk_records };
        self.chunk_records = CHUNK_RECORDS_MAX.min(self.chunk_records * 2);
        ScanLimits { records_max, bytes_max: CHUNK_BYTES, deadline: Some(self.deadline) }
    }

    /// Takes one record into the page if it matches; true if the page is full and goes on with this record.
    fn take(&mut self, partition: &Bytes, key: &Bytes, value: Bytes) -> Result<bool> {
        let full = self.page.entities.len() == self.items_max
            || (self.page_bytes + value.len() > limits::PAGE_BYTES_MAX && self.page_bytes > 0);
        if full {
            self.stop_at(partition, key)?;
            return Ok(true);
        }
        let entity = StoredEntity::open(value)?;
        let (partition_key, row_key) =
            (key_bytes_to_text(keys::partition_key_of(partition)?)?, key_bytes_to_text(key)?);
        if let Some(filter) = self.filter {
            let row = EntityRow {
                partition_key: &partition_key,
                row_key: &row_key,
                entity: &entity,
                corrupt: Cell::new(false),
            };
            let matches = filter.matches(&row);
            if row.corrupt.get() {
                return Err(corrupt().into());
            }
            if !matches {
                return Ok(false);
            }
        }
        self.page_bytes += entity.bytes_len();
        let (partition_key, row_key) = (partition_key.into_owned(), row_key.into_owned());
        self.page.entities.push(FoundEntity { partition_key, row_key, entity });
        Ok(false)
    }

    fn stop_at(&mut self, partition: &[u8], key: &[u8]) -> Result<()> {
        let partition_key = key_bytes_to_text(keys::partition_key_of(partition)?)?.into_owned();
        self.page.next = Some((partition_key, key_bytes_to_text(key)?.into_owned()));
        Ok(())
    }
}
