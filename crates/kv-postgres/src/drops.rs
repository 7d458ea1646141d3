//! Dropped ranges, swept by one server at a time.
//!
//! A range over partitions is swept twice, the second time a day later: a write of a server that was frozen may land under a
//! dropped id after the first sweep, where nothing can reach it. On Citus, a sweep begins when all earlier changes of
//! directories are visible on all nodes: a node that still shows a dropped table would show a part of it.
//!
//! A drop is a row with a range and a due time. Every server looks for such rows; the one that claims a row deletes the
//! range in small steps and then the row. A claim expires, by the database's clock, unless it is renewed with each step, so
//! another server continues if the first one dies. Two servers that sweep the same range do no harm. All times are those of
//! the clock that the servers share: `now()` would be that of the node.

use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::{Bytes, Position, Range, Result, Rng};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row};

use crate::DatabaseClock;
use crate::directory_marks;
use crate::place::{Place, split_first};
use crate::pool::{Pool, PooledConnection};
use crate::schema::RECORDS;

/// The rows that one step deletes: few enough to delay other statements no more than a large request does.
const STEP_ROWS: i64 = 500;
/// The time for which a server that sweeps a range has it for itself, from each step on.
const CLAIM_TIME: Duration = Duration::from_secs(60);
/// The pause between two steps.
const STEP_PAUSE: Duration = Duration::from_millis(2);

const RECORD: &str = "INSERT INTO tablerock_drops \
     (id, start_partition, start_key, end_partition, end_key, due, claimed_until) \
     VALUES ($1, $2, $3, $4, $5, $6, $7)";

/// The same range twice, the second time with another id and delay.
const RECORD_TWICE: &str = "INSERT INTO tablerock_drops \
     (id, start_partition, start_key, end_partition, end_key, due, claimed_until) \
     VALUES ($1, $2, $3, $4, $5, $6, $7), ($8, $2, $3, $4, $5, $9, $7)";

const FIND: &str = "SELECT id, start_partition, start_key, end_partition, end_key FROM tablerock_drops \
     WHERE due <= $1 AND claimed_until <= $1 ORDER BY due LIMIT 100";

const CLAIM: &str = "UPDATE tablerock_drops SET claimed_until = $2 WHERE id = $1 AND claimed_until <= $3";

const RENEW: &str = "UPDATE tablerock_drops SET claimed_until = $2 WHERE id = $1";

const FORGET: &str = "DELETE FROM tablerock_drops WHERE id = $1";

pub(crate) const NEXT_ROWS: &str = "SELECT partition, key FROM tablerock_records WHERE (partition, key) >= ($1, $2) \
     AND (partition, key) < ($3, $4) ORDER BY partition, key LIMIT $5";

pub(crate) const NEXT_ROWS_TO_END: &str = "SELECT partition, key FROM tablerock_records WHERE (partition, key) >= ($1, $2) \
     ORDER BY partition, key LIMIT $3";

pub(crate) const REMOVE: &str = "DELETE FROM tablerock_records \
     WHERE (partition, key) >= ($1, $2) AND (partition, key) <= ($3, $4)";

/// Records a range to sweep.
pub(crate) async fn record(pool: &Arc<Pool>, clock: &DatabaseClock, rng: &Rng, range: &Range) -> Result<()> {
    let mut pooled = pool.acquire().await?;
    if range.is_empty() {
        return Ok(());
    }
    let new_id = || [rng.number(), rng.number()].map(u64::to_be_bytes).concat();
    let id = new_id();
    let (start, end) = (&range.start, range.end.as_ref());
    let end_partition = end.map(|end| &end.partition[..]);
    let end_key = end.map(|end| &end.key[..]);
    let now = clock.time();
    let due = now + pool.options.sweep_delay;
    let parameters: [&(dyn ToSql + Sync); 7] =
        [&id, &&start.partition[..], &&start.key[..], &end_partition, &end_key, &due, &now];
    if *range == Range::partition(&start.partition) {
        return run(&mut pooled, RECORD, &parameters).await.map(drop);
    }
    let (second_id, second_due) = (new_id(), now + pool.options.second_sweep_delay);
    let second: [&(dyn ToSql + Sync); 2] = [&second_id, &second_due];
    let parameters: Vec<_> = parameters.into_iter().chain(second).collect();
    run(&mut pooled, RECORD_TWICE, &parameters).await.map(drop)
}

/// Sweeps due ranges, forever.
pub(crate) async fn keep_sweeping(pool: Arc<Pool>, clock: Arc<DatabaseClock>) {
    loop {
        tokio::time::sleep(pool.options.sweep_pause).await;
        loop {
            match sweep_some(&pool, &clock).await {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    tracing::warn!(%error, "sweep of a dropped range failed, will retry");
                    break;
                }
            }
        }
    }
}

/// Sweeps some due ranges that no other server has claimed. Returns whether there were any.
pub(crate) async fn sweep_some(pool: &Arc<Pool>, clock: &DatabaseClock) -> Result<bool> {
    let found = query(&mut pool.acquire().await?, FIND, &[&clock.time()]).await?;
    if found.is_empty() {
        return Ok(false);
    }
    // After the ranges were found: so it is after their drops, whatever the clocks of the nodes show.
    directory_marks::confirm_all(&mut pool.acquire().await?).await?;
    for row in &found {
        sweep(pool, clock, row).await?;
    }
    Ok(true)
}

/// Sweeps a range, unless another server has claimed it.
async fn sweep(pool: &Arc<Pool>, clock: &DatabaseClock, row: &Row) -> Result<()> {
    let id: &[u8] = row.get(0);
    let now = clock.time();
    if run(&mut pool.acquire().await?, CLAIM, &[&id, &(now + CLAIM_TIME), &now]).await? == 0 {
        return Ok(());
    }
    let end = row.get::<_, Option<&[u8]>>(3).zip(row.get::<_, Option<&[u8]>>(4));
    let end = end.map(|(partition, key)| position(partition, key));
    let mut rest = Range { start: position(row.get(1), row.get(2)), end };
    // A connection for each step: a sweep is long, and requests need connections too.
    loop {
        let (place, first, after) = split_first(pool.kind, &rest);
        match (remove_some(&mut pool.acquire().await?, place, &first).await?, after) {
            (Some(last), _) => {
                rest.start = last.successor();
                run(&mut pool.acquire().await?, RENEW, &[&id, &(clock.time() + CLAIM_TIME)]).await?;
                tokio::time::sleep(STEP_PAUSE).await;
            }
            (None, Some(after)) => rest = after,
            (None, None) => break,
        }
    }
    run(&mut pool.acquire().await?, FORGET, &[&id]).await.map(drop)
}

/// Deletes the first rows of a range and returns the position of the last one; `None` if the range is empty.
async fn remove_some(pooled: &mut PooledConnection, place: Place, range: &Range) -> Result<Option<Position>> {
    let at = |text: &str| text.replace(RECORDS, place.table());
    let (start_partition, start_key) = (&range.start.partition[..], &range.start.key[..]);
    let rows = match &range.end {
        Some(end) => {
            let parameters: [&(dyn ToSql + Sync); 5] =
                [&start_partition, &start_key, &&end.partition[..], &&end.key[..], &STEP_ROWS];
            query(pooled, &at(NEXT_ROWS), &parameters).await?
        }
        None => query(pooled, &at(NEXT_ROWS_TO_END), &[&start_partition, &start_key, &STEP_ROWS]).await?,
    };
    let Some(last) = rows.last() else { return Ok(None) };
    let last = position(last.get(0), last.get(1));
    run(pooled, &at(REMOVE), &[&start_partition, &start_key, &&last.partition[..], &&last.key[..]]).await?;
    Ok(Some(last))
}

fn position(partition: &[u8], key: &[u8]) -> Position {
    Position::new(Bytes::copy_from_slice(partition), Bytes::copy_from_slice(key))
}

async fn query(pooled: &mut PooledConnection, text: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
    pooled.begin_statement();
    let outcome = tokio::time::timeout(pooled.response_timeout(), client(pooled).query(text, parameters)).await;
    pooled.judge("cannot read dropped ranges", outcome.ok())
}

async fn run(pooled: &mut PooledConnection, text: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<u64> {
    pooled.begin_statement();
    let outcome = tokio::time::timeout(pooled.response_timeout(), client(pooled).execute(text, parameters)).await;
    pooled.judge("cannot write dropped ranges", outcome.ok())
}

fn client(pooled: &PooledConnection) -> &Client {
    &pooled.connection().client
}
