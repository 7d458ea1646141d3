//! Puts that rest on nothing that was read: one statement that compares and writes, and one that reads a row behind it.
//!
//! Both are sent at once. The database runs the second after the first is committed, so its snapshot has the put: a row that
//! still leads to the partition then also did when the put was made.

use std::sync::Arc;

use tablerock_kv::{BlindPut, Bytes, Error, ErrorKind, Replaces, Result};
use tokio::time::timeout;

use crate::digest;
use crate::place::Place;
use crate::pool::Pool;
use crate::read;
use crate::read_connections::RecordKey;

pub(crate) async fn put(pool: &Arc<Pool>, put: &BlindPut, row: RecordKey<'_>) -> Result<(bool, Option<Bytes>)> {
    if Place::of(pool.kind, &put.partition) != Place::Records {
        return Err(Error::internal("a directory is changed by commits only"));
    }
    match put_at_once(pool, put, row).await {
        // The database aborted it in favour of others.
        Err(error) if error.kind() == ErrorKind::Conflict => Ok((false, read::one(pool, row.0, row.1).await?)),
        outcome => outcome,
    }
}

async fn put_at_once(
    pool: &Arc<Pool>,
    put: &BlindPut,
    (partition, key): RecordKey<'_>,
) -> Result<(bool, Option<Bytes>)> {
    let mut pooled = pool.acquire().await?;
    pooled.begin_statement();
    let connection = pooled.connection();
    let (client, statements) = (&connection.client, connection.statements.at(Place::Records));
    let statement = match put.replaces {
        Replaces::Nothing => &statements.insert,
        Replaces::Earlier => &statements.put_over_earlier,
    };
    let get = &connection.statements.at(Place::of(pool.kind, partition)).get;
    let digest = digest::of(&put.value);
    let (new_partition, new_key, value) = (&put.partition[..], &put.key[..], &put.value[..]);
    let both = async {
        // The driver sends a statement when it is first polled, and does not wait for the one before it.
        tokio::try_join!(
            biased;
            async { client.execute(statement, &[&new_partition, &new_key, &&digest[..], &value]).await },
            async { client.query_opt(get, &[&partition, &key]).await },
        )
    };
    let outcome = timeout(pooled.response_timeout(), both).await;
    let (put, row) = pooled.judge("a write failed, or its outcome is unknown", outcome.ok())?;
    Ok((put == 1, row.map(|row| Bytes::copy_from_slice(row.get(0)))))
}
