//! Pages over partitions that are spread by a hash.
//!
//! Each shard returns as many rows as the page may have, and the coordinator keeps the first of all. So the first statement
//! reads keys and sizes, and the second one the values of what fits the page: no shard sends values that are not part of
//! it. The second one may see changes since the first: it never returns more rows, and what it could not return is left to
//! the next page.

use std::sync::Arc;

use tablerock_kv::{Error, Position, Range, Record, Result};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::place::Place;
use crate::pool::Pool;
use crate::scan::{FirstRecords, Rest, copy, position};

/// The attempts to find a page of which not all records are deleted between the two statements.
const ATTEMPTS_MAX: u32 = 8;

pub(crate) async fn fetch(pool: &Arc<Pool>, range: &Range, rows_max: usize, bytes_max: usize) -> Result<FirstRecords> {
    for _ in 0..ATTEMPTS_MAX {
        let keys = keys(pool, range, rows_max).await?;
        let fitting = fitting(keys.iter().map(|row| row.get::<_, i64>(2)), bytes_max);
        let Some(last) = keys[..fitting].last().map(position) else {
            return Ok(FirstRecords { records: vec![], rest: Rest::Empty });
        };
        let records = values(pool, &range.start, &last, fitting).await?;
        let rest = match keys.get(fitting) {
            Some(next) => Rest::At(position(next)),
            None if keys.len() == rows_max => Rest::From(last.successor()),
            None => Rest::Empty,
        };
        match (records.last(), &rest) {
            (None, Rest::At(_) | Rest::From(_)) => {}
            // New records before the last one have taken the place of later ones.
            (Some(record), _) if records.len() == fitting && !is_at(record, &last) => {
                let end = Position::new(record.partition.clone(), record.key.clone());
                return Ok(FirstRecords { records, rest: Rest::From(end.successor()) });
            }
            _ => return Ok(FirstRecords { records, rest }),
        }
    }
    Err(Error::unavailable("a page failed: its records were deleted again and again while they were read"))
}

fn is_at(record: &Record, position: &Position) -> bool {
    record.partition == position.partition && record.key == position.key
}

/// Returns the number of rows that fit a page: at least one, and the one that reaches the limit.
fn fitting(sizes: impl Iterator<Item = i64>, bytes_max: usize) -> usize {
    let mut total = 0_usize;
    let fits = |size: i64| {
        let fits = total < bytes_max;
        total = total.saturating_add(usize::try_from(size).unwrap_or_default());
        fits
    };
    sizes.map(fits).take_while(|fits| *fits).count()
}

async fn keys(pool: &Arc<Pool>, range: &Range, rows_max: usize) -> Result<Vec<Row>> {
    let rows_max = rows_max as i64;
    let (partition, key) = (&range.start.partition[..], &range.start.key[..]);
    let Some(end) = &range.end else {
        return pool
            .query(Place::Records, |statements| &statements.scan_keys_to_end, &[&rows_max, &partition, &key])
            .await;
    };
    let (end_partition, end_key) = (&end.partition[..], &end.key[..]);
    let parameters: [&(dyn ToSql + Sync); 5] = [&rows_max, &partition, &key, &end_partition, &end_key];
    pool.query(Place::Records, |statements| &statements.scan_keys, &parameters).await
}

async fn values(pool: &Arc<Pool>, start: &Position, last: &Position, rows_max: usize) -> Result<Vec<Record>> {
    let rows_max = rows_max as i64;
    let (partition, key) = (&start.partition[..], &start.key[..]);
    let (last_partition, last_key) = (&last.partition[..], &last.key[..]);
    let parameters: [&(dyn ToSql + Sync); 5] = [&rows_max, &partition, &key, &last_partition, &last_key];
    let rows = pool.query(Place::Records, |statements| &statements.scan_values, &parameters).await?;
    Ok(rows.iter().map(|row| Record { partition: copy(row, 0), key: copy(row, 1), value: copy(row, 2) }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_at_least_one_row_and_the_one_that_reaches_its_limit() {
        for (bytes_max, count) in [(1, 1), (9, 1), (10, 1), (11, 2), (20, 2), (21, 3), (1_000, 4)] {
            assert_eq!(fitting([10, 10, 10, 10].into_iter(), bytes_max), count, "{bytes_max}");
        }
        assert_eq!(fitting([].into_iter(), 1), 0);
    }
}
