//! Commits: one statement, or one short transaction.
//!
//! A commit waits only for commits that name the same rows of its partition. A change of one record is one statement, which
//! compares and writes in one step. A larger commit is a transaction of two round trips, whatever its size. The first locks
//! the existing rows in the order of their keys. If every expectation holds, the second inserts the rows that must be
//! absent, writes the rest and commits. A row that another commit inserted in between fails the insert and all that
//! follows. No change is sent before the database has confirmed the begin of the transaction: the statements of a round
//! trip are sent together, and if `BEGIN` failed the others would be transactions of their own.
//!
//! A commit with a witness is always a transaction. It locks the witness before its own rows, for sharing: commits with the
//! same witness do not wait for each other, and a change of the witness waits for them or is seen by them.
//!
//! A change of a [directory](crate::place) on Citus is always a transaction, which [`directory_marks`] confirms on every node.
//!
//! This is correct at READ COMMITTED, where each statement sees all earlier commits and reads a row again after it has
//! waited for its lock. It is correct at any stricter level too: there the database rejects transactions that it cannot
//! serialize, and the error is a `Conflict`.

use std::collections::BTreeMap;
use std::sync::Arc;

use tablerock_kv::{Bytes, Commit, Error, Result, Witness};
use tokio::time::timeout;
use tokio_postgres::{Row, Statement};

use crate::digest::{self, Digest};
use crate::directory_marks;
use crate::place::Place;
use crate::pool::{Pool, PooledConnection};

/// The expectation and the write of one record.
#[derive(Debug, Clone, PartialEq)]
struct RecordChange {
    expected: Expected,
    /// A value to put, or `Some(None)` to delete; `None` if the record is only expected to be unchanged.
    write: Option<Option<Bytes>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Expected {
    Anything,
    Absent,
    Value(Digest),
}

/// The changes of a commit, by key.
type RecordChanges = BTreeMap<Bytes, RecordChange>;

pub(crate) async fn commit(pool: &Arc<Pool>, commit: Commit, witness: Option<&Witness>) -> Result<()> {
    let partition = commit.partition.clone();
    let place = Place::of(pool.kind, &partition);
    let changes = gather(commit)?;
    let writes = changes.values().filter(|change| change.write.is_some()).count();
    match changes.first_key_value() {
        None => Ok(()),
        Some(_) if writes == 0 => check(pool, &partition, &changes).await,
        Some((key, change)) if changes.len() == 1 && place == Place::Records && witness.is_none() => {
            change_one(pool, &partition, key, change).await
        }
        _ if place == Place::Records
            && witness.is_none()
            && changes.values().all(|change| change.expected == Expected::Anything && is_put(change)) =>
        {
            put_all(pool, &partition, &changes).await
        }
        _ => {
            let mut connection = pool.acquire().await?;
            let outcome = transact(&mut connection, place, &partition, &changes, witness).await;
            if outcome.is_err() && !connection.is_broken() {
                roll_back(&mut connection).await?;
            }
            connection.end_transaction();
            outcome?;
            match place {
                Place::Records => Ok(()),
                Place::Directory => directory_marks::confirm(&mut connection, &partition).await,
            }
        }
    }
}

/// Groups expectations and writes by record.
fn gather(commit: Commit) -> Result<RecordChanges> {
    let mut changes = RecordChanges::new();
    for (key, value) in commit.expected {
        let expected = value.map_or(Expected::Absent, |value| Expected::Value(digest::of(&value)));
        let change = changes.entry(key).or_insert(RecordChange { expected, write: None });
        if change.expected != expected {
            return Err(conflict());
        }
    }
    for (key, value) in commit.writes {
        let change = changes.entry(key).or_insert(RecordChange { expected: Expected::Anything, write: None });
        change.write = Some(value);
    }
    Ok(changes)
}

fn is_put(change: &RecordChange) -> bool {
    matches!(change.write, Some(Some(_)))
}

/// Checks the expectations of a commit without writes with one statement.
async fn check(pool: &Arc<Pool>, partition: &[u8], changes: &RecordChanges) -> Result<()> {
    let keys: Vec<&[u8]> = changes.keys().map(|key| &key[..]).collect();
    let place = Place::of(pool.kind, partition);
    let rows = pool.query(place, |statements| &statements.check, &[&partition, &keys]).await?;
    let found = digests(&rows);
    compare(changes.iter().filter(|(_, change)| change.expected != Expected::Anything), &found)
}

/// Changes one record; the number of changed rows shows whether the expectation holds.
async fn change_one(pool: &Arc<Pool>, partition: &[u8], key: &Bytes, change: &RecordChange) -> Result<()> {
    let key = &key[..];
    let write = change.write.as_ref().expect("a commit of one record without a write has been checked already");
    let changed = match (change.expected, write) {
        (Expected::Absent, Some(value)) => {
            let (value, digest) = (&value[..], &digest::of(value)[..]);
            pool.execute(Place::Records, |statements| &statements.insert, &[&partition, &key, &digest, &value]).await?
        }
        (Expected::Value(seen), Some(value)) => {
            let (value, digest, seen) = (&value[..], &digest::of(value)[..], &seen[..]);
            pool.execute(Place::Records, |statements| &statements.replace, &[&partition, &key, &digest, &value, &seen])
                .await?
        }
        (Expected::Value(seen), None) => {
            pool.execute(Place::Records, |statements| &statements.remove, &[&partition, &key, &&seen[..]]).await?
        }
        (Expected::Anything, Some(value)) => {
            let (value, digest) = (&value[..], &digest::of(value)[..]);
            pool.execute(Place::Records, |statements| &statements.put, &[&partition, &key, &digest, &value]).await?
        }
        (Expected::Anything, None) => {
            pool.execute(Place::Records, |statements| &statements.delete_many, &[&partition, &vec![key]]).await?;
            return Ok(());
        }
        // Deleting an absent record is a check that it is absent.
        (Expected::Absent, None) => {
            return check(pool, partition, &RecordChanges::from([(Bytes::copy_from_slice(key), change.clone())])).await;
        }
    };
    if changed == 1 { Ok(()) } else { Err(conflict()) }
}

/// Puts many records without expectations, in one statement.
async fn put_all(pool: &Arc<Pool>, partition: &[u8], changes: &RecordChanges) -> Result<()> {
    let rows = NewRows::of(changes.iter());
    pool.execute(
        Place::Records,
        |statements| &statements.put_many,
        &[&partition, &rows.keys, &rows.digests(), &rows.values],
    )
    .await?;
    Ok(())
}

async fn transact(
    pooled: &mut PooledConnection,
    place: Place,
    partition: &[u8],
    changes: &RecordChanges,
    witness: Option<&Witness>,
) -> Result<()> {
    let found = lock(pooled, place, partition, changes, witness).await?;
    compare(changes.iter(), &found)?;

    let absent = NewRows::of(changes.iter().filter(|(_, change)| change.expected == Expected::Absent));
    let puts = changes.iter().filter(|(_, change)| change.expected != Expected::Absent && is_put(change));
    let puts = NewRows::of(puts);
    // Rows that were inserted only to block others are deleted again.
    let is_delete = |change: &RecordChange| match change.expected {
        Expected::Absent => !is_put(change),
        _ => change.write == Some(None),
    };
    let deletes: Vec<&[u8]> = changes.iter().filter(|(_, change)| is_delete(change)).map(|(key, _)| &key[..]).collect();
    write(pooled, place, partition, &absent, &puts, &deletes).await
}

/// The keys of records, with their digests.
type FoundDigests = BTreeMap<Vec<u8>, Vec<u8>>;

/// The first round trip: begins the transaction and locks the witness and the existing rows. Returns the digests of the rows,
/// if the witness admits the commit.
async fn lock(
    pooled: &mut PooledConnection,
    place: Place,
    partition: &[u8],
    changes: &RecordChanges,
    witness: Option<&Witness>,
) -> Result<FoundDigests> {
    pooled.begin_transaction();
    let keys: Vec<&[u8]> = changes.keys().map(|key| &key[..]).collect();
    let connection = pooled.connection();
    let (client, statements) = (&connection.client, connection.statements.at(place));
    let kind = pooled.kind();
    let lock_witness = async {
        let Some(witness) = witness else { return Ok(None) };
        let statements = connection.statements.at(Place::of(kind, &witness.partition));
        let is_changed = partition == &witness.partition[..] && changes.contains_key(&witness.key);
        let lock = if is_changed { &statements.lock_to_change } else { &statements.lock_to_share };
        client.query_opt(lock, &[&&witness.partition[..], &&witness.key[..]]).await
    };
    let step = async {
        tokio::try_join!(
            biased;
            client.batch_execute("BEGIN"),
            lock_witness,
            async { client.query(&statements.lock, &[&partition, &keys]).await },
        )
    };
    let outcome = timeout(pooled.response_timeout(), step).await;
    let ((), row, rows) = pooled.judge("a transaction failed", outcome.ok())?;
    if let Some(witness) = witness {
        witness.check(row.as_ref().map(|row| row.get(0)))?;
    }
    Ok(digests(&rows))
}

/// The second round trip: inserts the rows that must be absent, writes the rest and commits. The first error aborts the
/// transaction, so that later statements change nothing.
async fn write(
    pooled: &mut PooledConnection,
    place: Place,
    partition: &[u8],
    absent: &NewRows<'_>,
    puts: &NewRows<'_>,
    deletes: &[&[u8]],
) -> Result<()> {
    let connection = pooled.connection();
    let (client, statements) = (&connection.client, connection.statements.at(place));
    let write_rows = async |statement: &Statement, rows: &NewRows<'_>| {
        if rows.keys.is_empty() {
            return Ok(0);
        }
        client.execute(statement, &[&partition, &rows.keys, &rows.digests(), &rows.values]).await
    };
    let step = async {
        tokio::try_join!(
            biased;
            write_rows(&statements.insert_many, absent),
            write_rows(&statements.put_many, puts),
            async {
                if deletes.is_empty() {
                    return Ok(0);
                }
                client.execute(&statements.delete_many, &[&partition, &deletes]).await
            },
            async {
                match place {
                    Place::Records => Ok(0),
                    Place::Directory => directory_marks::mark(connection, partition).await,
                }
            },
            client.batch_execute("COMMIT"),
        )
    };
    let outcome = timeout(pooled.response_timeout(), step).await;
    pooled.judge("a transaction failed, or its outcome is unknown", outcome.ok()).map(drop)
}

async fn roll_back(pooled: &mut PooledConnection) -> Result<()> {
    let rolled_back = timeout(pooled.response_timeout(), pooled.connection().client.batch_execute("ROLLBACK")).await;
    pooled.judge("a transaction could not be rolled back", rolled_back.ok())
}

/// Rows to write, as the array parameters of a statement. A row without a value gets an empty one.
struct NewRows<'a> {
    keys: Vec<&'a [u8]>,
    digests: Vec<Digest>,
    values: Vec<&'a [u8]>,
}

impl<'a> NewRows<'a> {
    fn of(changes: impl Iterator<Item = (&'a Bytes, &'a RecordChange)>) -> Self {
        let mut rows = Self { keys: vec![], digests: vec![], values: vec![] };
        for (key, change) in changes {
            let value = change.write.iter().flatten().next().map_or(&b""[..], |value| &value[..]);
            rows.keys.push(key);
            rows.digests.push(digest::of(value));
            rows.values.push(value);
        }
        rows
    }

    fn digests(&self) -> Vec<&[u8]> {
        self.digests.iter().map(|digest| &digest[..]).collect()
    }
}

/// The keys and digests of rows.
fn digests(rows: &[Row]) -> FoundDigests {
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

fn compare<'a>(mut changes: impl Iterator<Item = (&'a Bytes, &'a RecordChange)>, found: &FoundDigests) -> Result<()> {
    let holds = changes.all(|(key, change)| match (change.expected, found.get(&key[..])) {
        (Expected::Anything, _) | (Expected::Absent, None) => true,
        (Expected::Value(expected), Some(found)) => found[..] == expected[..],
        (Expected::Absent, Some(_)) | (Expected::Value(_), None) => false,
    });
    if holds { Ok(()) } else { Err(conflict()) }
}

fn conflict() -> Error {
    Error::conflict("a record changed since it was read")
}
