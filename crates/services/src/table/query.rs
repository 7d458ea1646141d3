//! Running a query: ranges from the plan, pages bounded by items, bytes and time.
//!
//! `query_run.rs` reads the ranges, `query_page.rs` filters what was read.

use std::time::Duration;

use tablerock_kv::key::key_bytes_to_text;
use tablerock_kv::{Position, Range};
use tablerock_protocol::signing::{KeyBound, KeyRange};
use tablerock_protocol::{Filter, limits};

use super::plan::Plan;
use super::query_run::{PartitionsRead, QueryRun};
use super::{StoredEntity, TableService, keys};
use crate::Result;
use crate::namespace::{LOOKS_MAX, again_and_again};

/// The parameters of Query Entities.
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
    /// The number of stored entities that were read to find these.
    pub entities_read: u64,
}

impl TableService {
    pub async fn query_entities(&self, account: &str, table: &str, query: &EntityQuery) -> Result<EntityPage> {
        self.throttle.check_account(account)?;
        for _ in 0..LOOKS_MAX {
            let table_id = self.first_id(account, table).await?;
            let (page, partitions_read) = self.run_query(table_id, query).await?;
            if self.confirm_id(account, table, table_id).await? {
                self.count_read(account, table, &partitions_read, page.entities_read)?;
                return Ok(page);
            }
        }
        Err(again_and_again())
    }

    async fn run_query(&self, table_id: u64, query: &EntityQuery) -> Result<(EntityPage, PartitionsRead)> {
        let deadline = self.clock.instant() + Duration::from_secs(limits::QUERY_SECONDS_MAX);
        let plan = Plan::new(table_id, query.filter.as_ref());
        let filter = query.filter.as_ref().filter(|_| !plan.is_exact);
        let items_max = query.top.unwrap_or(limits::PAGE_ITEMS_MAX);
        if items_max == 0 {
            return Ok((EntityPage::default(), PartitionsRead::None));
        }
        let mut run = QueryRun::new(self, filter, items_max, deadline);
        for range in cut(plan.ranges, table_id, query) {
            if run.read(range).await? {
                break;
            }
        }
        Ok(run.finish())
    }

    /// Counts what a query read of one partition as that partition's load, and anything else as the table's.
    fn count_read(&self, account: &str, table: &str, read: &PartitionsRead, entities: u64) -> Result<()> {
        // A query that finds nothing is a read as well.
        let entities = entities.max(1);
        match read {
            PartitionsRead::One(partition) => {
                let partition_key = key_bytes_to_text(keys::partition_key_of(partition)?)?;
                self.load.read(account, table, &partition_key, entities);
            }
            PartitionsRead::None | PartitionsRead::Several => self.load.read_across(account, table, entities),
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
