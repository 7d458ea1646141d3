//! Pages by primary key.
//!
//! A page is mostly one statement, and so one snapshot: the rows of the page and one more, whose key starts the next page.
//! The database omits values after the byte limit of the page. Only a page of more than [`ROWS_MAX`] rows needs several
//! statements.

use std::sync::Arc;

use tablerock_kv::{Bytes, Page, PageBuilder, Position, Range, Record, Result, ScanLimits};
use tokio_postgres::Row;

use crate::pool::Pool;

/// The rows that one statement fetches at most, which is more than any page of the services has.
const ROWS_MAX: usize = 1_024;

/// The first deadline check of a page comes no later than this: see [`PageBuilder`].
const BYTES_UNLIMITED: i64 = i64::MAX;

pub(crate) async fn scan(pool: &Arc<Pool>, range: &Range, limits: ScanLimits) -> Result<Page> {
    let mut page = PageBuilder::new(limits);
    let mut rest = range.clone();
    while !rest.is_empty() {
        let rows_max = ROWS_MAX.min(limits.records_max.max(1).saturating_sub(page.len()).saturating_add(1));
        let bytes_left = limits.bytes_max.saturating_sub(page.bytes());
        let rows = fetch(pool, &rest, rows_max, bytes_left).await?;
        for row in &rows {
            let position = Position::new(copy(row, 0), copy(row, 1));
            match row.get::<_, Option<&[u8]>>(2) {
                Some(value) if !page.is_full() => {
                    let Position { partition, key } = position.clone();
                    page.push(Record { partition, key, value: Bytes::copy_from_slice(value) });
                    rest.start = position.successor();
                }
                // The page is full, or the value exceeds its byte limit.
                _ if !page.is_empty() => return Ok(page.finish(Some(position))),
                _ => break,
            }
        }
        if rows.len() < rows_max {
            break;
        }
    }
    Ok(page.finish(None))
}

/// Returns the first rows of a range. The first of them always has its value.
async fn fetch(pool: &Arc<Pool>, range: &Range, rows_max: usize, bytes_max: usize) -> Result<Vec<Row>> {
    let rows_max = rows_max as i64;
    let bytes_max = i64::try_from(bytes_max.max(1)).unwrap_or(BYTES_UNLIMITED);
    let (partition, key) = (&range.start.partition[..], &range.start.key[..]);
    let Some(end) = &range.end else {
        return pool.query(|statements| &statements.scan_to_end, &[&rows_max, &bytes_max, &partition, &key]).await;
    };
    let (end_partition, end_key) = (&end.partition[..], &end.key[..]);
    if *end == Position::end_of(partition) {
        return pool.query(|statements| &statements.scan_partition, &[&rows_max, &bytes_max, &partition, &key]).await;
    }
    if end_partition == partition {
        let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 5] =
            [&rows_max, &bytes_max, &partition, &key, &end_key];
        return pool.query(|statements| &statements.scan_within_partition, &parameters).await;
    }
    let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
        [&rows_max, &bytes_max, &partition, &key, &end_partition, &end_key];
    pool.query(|statements| &statements.scan, &parameters).await
}

fn copy(row: &Row, column: usize) -> Bytes {
    Bytes::copy_from_slice(row.get(column))
}
