//! Reads by primary key: a statement for each partition, and all of them in one round trip.

use std::collections::HashMap;
use std::sync::Arc;

use tablerock_kv::{Bytes, Result, Wanted};
use tokio_postgres::Row;

use crate::pool::{Pool, Query};
use crate::read_connections::RecordKey;

pub(crate) async fn one(pool: &Arc<Pool>, partition: &[u8], key: &[u8]) -> Result<Option<Bytes>> {
    if let Some(connections) = &pool.read_connections {
        return Ok(connections.read(pool, &[(partition, key)]).await?.pop().flatten());
    }
    let rows = pool.query(|statements| &statements.get, &[&partition, &key]).await?;
    Ok(only(&rows))
}

pub(crate) async fn some(pool: &Arc<Pool>, partition: &[u8], keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
    if let [key] = keys {
        return Ok(vec![one(pool, partition, key).await?]);
    }
    let keys = slices(keys);
    let rows = pool.query(|statements| &statements.read, &[&partition, &keys]).await?;
    Ok(in_order(&rows, &keys))
}

pub(crate) async fn many(pool: &Arc<Pool>, wanted: &[Wanted]) -> Result<Vec<Vec<Option<Bytes>>>> {
    if let (Some(connections), Some(keys)) = (&pool.read_connections, single_keys(wanted)) {
        let values = connections.read(pool, &keys).await?;
        return Ok(values.into_iter().map(|value| vec![value]).collect());
    }
    let wanted: Vec<(&[u8], Vec<&[u8]>)> =
        wanted.iter().map(|wanted| (&wanted.partition[..], slices(&wanted.keys))).collect();
    let queries: Vec<Query<'_>> = wanted.iter().map(query).collect();
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
fn query<'a>((partition, keys): &'a (&'a [u8], Vec<&'a [u8]>)) -> Query<'a> {
    match &keys[..] {
        [key] => Query { pick: |statements| &statements.get, parameters: [partition, key] },
        _ => Query { pick: |statements| &statements.read, parameters: [partition, keys] },
    }
}

fn values(rows: &[Row], keys: &[&[u8]]) -> Vec<Option<Bytes>> {
    if keys.len() == 1 { vec![only(rows)] } else { in_order(rows, keys) }
}

fn only(rows: &[Row]) -> Option<Bytes> {
    rows.first().map(|row| Bytes::copy_from_slice(row.get(0)))
}

fn in_order(rows: &[Row], keys: &[&[u8]]) -> Vec<Option<Bytes>> {
    let found: HashMap<&[u8], &[u8]> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    keys.iter().map(|key| found.get(key).map(|value| Bytes::copy_from_slice(value))).collect()
}

fn slices(keys: &[Bytes]) -> Vec<&[u8]> {
    keys.iter().map(|key| &key[..]).collect()
}
