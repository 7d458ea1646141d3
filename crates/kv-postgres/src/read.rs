//! Reads by primary key: a statement for each partition, and all of them in one round trip.

use std::collections::HashMap;
use std::sync::Arc;

use tablerock_kv::{Bytes, Result, Wanted};
use tokio_postgres::Row;

use crate::kind::Kind;
use crate::place::Place;
use crate::pool::{Pool, Query};
use crate::read_connections::RecordKey;

pub(crate) async fn one(pool: &Arc<Pool>, partition: &[u8], key: &[u8]) -> Result<Option<Bytes>> {
    if let Some(connections) = &pool.read_connections {
        return Ok(connections.read(pool, &[(partition, key)]).await?.pop().flatten());
    }
    let rows = pool.query(Place::of(pool.kind, partition), |statements| &statements.get, &[&partition, &key]).await?;
    Ok(only(&rows))
}

pub(crate) async fn some(pool: &Arc<Pool>, partition: &[u8], keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
    if let [key] = keys {
        return Ok(vec![one(pool, partition, key).await?]);
    }
    let keys = slices(keys);
    let rows = pool.query(Place::of(pool.kind, partition), |statements| &statements.read, &[&partition, &keys]).await?;
    Ok(in_order(&rows, &keys))
}

pub(crate) async fn many(pool: &Arc<Pool>, wanted: &[Wanted]) -> Result<Vec<Vec<Option<Bytes>>>> {
    if let (Some(connections), Some(keys)) = (&pool.read_connections, single_keys(wanted)) {
        let values = connections.read(pool, &keys).await?;
        return Ok(values.into_iter().map(|value| vec![value]).collect());
    }
    if let [one, some] = wanted
        && let [key] = &one.keys[..]
        && are_read_together(pool.kind, &one.partition, &some.partition)
    {
        return one_and_some(pool, (&one.partition, key), some).await;
    }
    let wanted: Vec<(&[u8], Vec<&[u8]>)> =
        wanted.iter().map(|wanted| (&wanted.partition[..], slices(&wanted.keys))).collect();
    let queries: Vec<Query<'_>> = wanted.iter().map(|wanted| query(pool.kind, wanted)).collect();
    let found = pool.query_all(&queries).await?;
    Ok(found.iter().zip(&wanted).map(|(rows, (_, keys))| values(rows, keys)).collect())
}

/// Returns the keys if there is one of each partition: the response to several may be long.
fn single_keys(wanted: &[Wanted]) -> Option<Vec<RecordKey<'_>>> {
    let keys = wanted.iter().map(|wanted| match &wanted.keys[..] {
        [key] => Some((&wanted.partition[..], &key[..])),
        _ => None,
    });
    keys.collect()
}

/// A single record has a statement of its own, which is cheaper.
fn query<'a>(kind: Kind, (partition, keys): &'a (&'a [u8], Vec<&'a [u8]>)) -> Query<'a> {
    let place = Place::of(kind, partition);
    match &keys[..] {
        [key] => Query { place, pick: |statements| &statements.get, parameters: vec![partition, key] },
        _ => Query { place, pick: |statements| &statements.read, parameters: vec![partition, keys] },
    }
}

/// Returns whether one statement reads records of both partitions. On Citus it runs on the node of the second one, so the
/// first must be one that every node has.
pub(crate) fn are_read_together(kind: Kind, first: &[u8], second: &[u8]) -> bool {
    kind != Kind::Citus || (Place::of(kind, first), Place::of(kind, second)) == (Place::Directory, Place::Records)
}

/// Reads a record and some of another partition, with one statement and so in one snapshot.
async fn one_and_some(
    pool: &Arc<Pool>,
    (partition, key): RecordKey<'_>,
    some: &Wanted,
) -> Result<Vec<Vec<Option<Bytes>>>> {
    let (second, keys) = (&some.partition[..], slices(&some.keys));
    let rows = pool.query_one_and_some(&[&partition, &key, &second, &keys]).await?;
    let (some, one): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.get(0));
    let one = one.first().map(|row| Bytes::copy_from_slice(row.get(2)));
    let some: HashMap<&[u8], &[u8]> = some.iter().map(|row| (row.get(1), row.get(2))).collect();
    Ok(vec![vec![one], values_of(&some, &keys)])
}

fn values(rows: &[Row], keys: &[&[u8]]) -> Vec<Option<Bytes>> {
    if keys.len() == 1 { vec![only(rows)] } else { in_order(rows, keys) }
}

fn only(rows: &[Row]) -> Option<Bytes> {
    rows.first().map(|row| Bytes::copy_from_slice(row.get(0)))
}

fn in_order(rows: &[Row], keys: &[&[u8]]) -> Vec<Option<Bytes>> {
    values_of(&rows.iter().map(|row| (row.get(0), row.get(1))).collect(), keys)
}

fn values_of(found: &HashMap<&[u8], &[u8]>, keys: &[&[u8]]) -> Vec<Option<Bytes>> {
    keys.iter().map(|key| found.get(key).map(|value| Bytes::copy_from_slice(value))).collect()
}

fn slices(keys: &[Bytes]) -> Vec<&[u8]> {
    keys.iter().map(|key| &key[..]).collect()
}
