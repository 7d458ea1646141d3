//! Pages by primary key.
//!
//! A page is mostly one statement, and so one snapshot: the rows of the page and one more, whose key starts the next page.
//! The database omits values after the byte limit of the page. Only a page of more than [`ROWS_MAX`] rows needs several
//! statements.
//!
//! On Citus, a page over partitions is [two statements](crate::scan_shards).

use std::sync::Arc;

use tablerock_kv::{Bytes, Page, PageBuilder, Position, Range, Record, Result, ScanLimits};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::kind::Kind;
use crate::place::{Place, split_first};
use crate::pool::{Pick, Pool, Query};
use crate::read_connections::RecordKey;
use crate::{read, scan_shards};

/// The rows that one statement fetches at most, which is more than any page of the services has.
const ROWS_MAX: usize = 1_024;

/// The first deadline check of a page comes no later than this: see [`PageBuilder`].
const BYTES_UNLIMITED: i64 = i64::MAX;

/// The first records of a range.
pub(crate) struct FirstRecords {
    pub(crate) records: Vec<Record>,
    pub(crate) rest: Rest,
}

/// The rest of a range after its first records.
pub(crate) enum Rest {
    Empty,
    /// The position of the first record of the rest.
    At(Position),
    /// The position from which there may be more records.
    From(Position),
}

/// A record that is read behind the rows of a page, in the same round trip.
struct RowBehind<'a> {
    key: RecordKey<'a>,
    /// The record; `None` if it was not read yet.
    found: Option<Option<Bytes>>,
}

pub(crate) async fn scan(pool: &Arc<Pool>, range: &Range, limits: ScanLimits) -> Result<Page> {
    scan_with(pool, range, limits, None).await
}

/// Reads a page, and a record behind it.
pub(crate) async fn scan_then_get(
    pool: &Arc<Pool>,
    range: &Range,
    limits: ScanLimits,
    key: RecordKey<'_>,
) -> Result<(Page, Option<Bytes>)> {
    let mut row = RowBehind { key, found: None };
    let page = scan_with(pool, range, limits, Some(&mut row)).await?;
    let found = match row.found {
        Some(found) => found,
        None => read::one(pool, key.0, key.1).await?,
    };
    Ok((page, found))
}

async fn scan_with(
    pool: &Arc<Pool>,
    range: &Range,
    limits: ScanLimits,
    mut row: Option<&mut RowBehind<'_>>,
) -> Result<Page> {
    let mut page = PageBuilder::new(limits);
    let mut rest = range.clone();
    while !rest.is_empty() {
        let rows_max = ROWS_MAX.min(limits.records_max.max(1).saturating_sub(page.len()).saturating_add(1));
        let bytes_left = limits.bytes_max.saturating_sub(page.bytes()).max(1);
        let FirstRecords { records, rest: after } =
            fetch(pool, &rest, rows_max, bytes_left, row.as_deref_mut()).await?;
        for record in records {
            if page.is_full() {
                return Ok(page.finish(Some(Position::new(record.partition, record.key))));
            }
            page.push(record);
        }
        match after {
            Rest::Empty => break,
            Rest::At(next) if page.is_full() => return Ok(page.finish(Some(next))),
            Rest::At(next) | Rest::From(next) => rest.start = next,
        }
    }
    Ok(page.finish(None))
}

/// Returns the first records of a range; none if the first table of the range has none.
async fn fetch(
    pool: &Arc<Pool>,
    range: &Range,
    rows_max: usize,
    bytes_max: usize,
    row: Option<&mut RowBehind<'_>>,
) -> Result<FirstRecords> {
    let (place, range, after) = split_first(pool.kind, range);
    let mut found = fetch_at(pool, place, &range, rows_max, bytes_max, row).await?;
    if let (Rest::Empty, Some(after)) = (&found.rest, after) {
        found.rest = Rest::From(after.start);
    }
    Ok(found)
}

/// Does the same for a range that is in one table.
async fn fetch_at(
    pool: &Arc<Pool>,
    place: Place,
    range: &Range,
    rows_max: usize,
    bytes_max: usize,
    row: Option<&mut RowBehind<'_>>,
) -> Result<FirstRecords> {
    let is_in_one_partition = range
        .end
        .as_ref()
        .is_some_and(|end| *end == Position::end_of(&range.start.partition) || end.partition == range.start.partition);
    if pool.kind == Kind::Citus && place == Place::Records && !is_in_one_partition {
        // What was read behind an earlier part is too old for this one.
        row.into_iter().for_each(|row| row.found = None);
        return scan_shards::fetch(pool, range, rows_max, bytes_max).await;
    }
    let rows = fetch_rows(pool, place, range, rows_max, bytes_max, row).await?;
    let mut records = Vec::with_capacity(rows.len());
    for row in &rows {
        let Some(value) = row.get::<_, Option<&[u8]>>(2) else {
            // The value exceeds the byte limit.
            return Ok(FirstRecords { records, rest: Rest::At(position(row)) });
        };
        records.push(Record { partition: copy(row, 0), key: copy(row, 1), value: Bytes::copy_from_slice(value) });
    }
    let last = rows.last().filter(|_| rows.len() == rows_max);
    Ok(FirstRecords { records, rest: last.map_or(Rest::Empty, |row| Rest::From(position(row).successor())) })
}

/// Returns the first rows of a range. The first of them always has its value.
async fn fetch_rows(
    pool: &Arc<Pool>,
    place: Place,
    range: &Range,
    rows_max: usize,
    bytes_max: usize,
    row: Option<&mut RowBehind<'_>>,
) -> Result<Vec<Row>> {
    let rows_max = rows_max as i64;
    let bytes_max = i64::try_from(bytes_max).unwrap_or(BYTES_UNLIMITED);
    let (partition, key) = (&range.start.partition[..], &range.start.key[..]);
    let end = range.end.as_ref().map(|end| (&end.partition[..], &end.key[..]));
    let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&rows_max, &bytes_max, &partition, &key];
    let pick: Pick = match (&range.end, &end) {
        (Some(end), _) if *end == Position::end_of(partition) => |statements| &statements.scan_partition,
        (_, Some((end_partition, end_key))) if *end_partition == partition => {
            parameters.push(end_key);
            |statements| &statements.scan_within_partition
        }
        (_, Some((end_partition, end_key))) => {
            parameters.extend([end_partition as &(dyn ToSql + Sync), end_key]);
            |statements| &statements.scan
        }
        (_, None) => |statements| &statements.scan_to_end,
    };
    let Some(row) = row else { return pool.query(place, pick, &parameters).await };
    let (row_partition, row_key) = row.key;
    let queries = [
        Query { place, pick, parameters },
        Query {
            place: Place::of(pool.kind, row_partition),
            pick: |statements| &statements.get,
            parameters: vec![&row_partition, &row_key],
        },
    ];
    let mut found = pool.query_all(&queries).await?.into_iter();
    let rows = found.next().unwrap_or_default();
    row.found = Some(found.next().and_then(|rows| rows.first().map(|row| copy(row, 0))));
    Ok(rows)
}

pub(crate) fn position(row: &Row) -> Position {
    Position::new(copy(row, 0), copy(row, 1))
}

pub(crate) fn copy(row: &Row, column: usize) -> Bytes {
    Bytes::copy_from_slice(row.get(column))
}
