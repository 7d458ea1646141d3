//! How a commit becomes one statement or one short transaction.
//!
//! Nothing but the rows of its own partition serialises a commit, and of these only the ones that it names. A change of
//! one record is one statement, which compares and writes in one step. Anything larger is a transaction of two round
//! trips: the first locks all rows that are there, in the order of their keys; when that shows that every expectation
//! holds, the second inserts those that must be absent, writes the rest and commits. A row that somebody else inserted in
//! between fails the insert, and with it all that follows. The number of round trips does not depend on the number of
//! records. Nothing that changes a row is sent before the answer is here that the transaction has begun: the statements of
//! a round trip go out together, and if the first of them failed the others would be transactions of their own.
//!
//! This is right at READ COMMITTED, where each statement sees what was committed before it began, and a row that is
//! locked is looked at again as it is then. It is right at any stricter level too: there the database refuses what it
//! cannot put in order, and the refusal is a `Conflict` like any other.

use std::collections::BTreeMap;
use std::sync::Arc;

use tablerock_kv::{Bytes, Commit, Error, Result};
use tokio::time::timeout;
use tokio_postgres::{Row, Statement};

use crate::digest::{self, Digest};
use crate::pool::{Lease, Pool};

/// What a commit says about one record.
#[derive(Debug, Clone, PartialEq)]
struct Change {
    expected: Expected,
    /// A value to put, or `None` to delete; nothing if the record is only expected to be as it was.
    write: Option<Option<Bytes>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Expected {
    Anything,
    Absent,
    Value(Digest),
}

/// What a commit says about its records, by key.
type Changes = BTreeMap<Bytes, Change>;

pub(crate) async fn commit(pool: &Arc<Pool>, commit: Commit) -> Result<()> {
    let partition = commit.partition.clone();
    let changes = gather(commit)?;
    let writes = changes.values().filter(|change| change.write.is_some()).count();
    match changes.first_key_value() {
        None => Ok(()),
        Some(_) if writes == 0 => check(pool, &partition, &changes).await,
        Some((key, change)) if changes.len() == 1 => change_one(pool, &partition, key, change).await,
        _ if changes.values().all(|change| change.expected == Expected::Anything && is_put(change)) => {
            put_all(pool, &partition, &changes).await
        }
        _ => {
            let mut lease = pool.lease().await?;
            let outcome = transact(&mut lease, &partition, &changes).await;
            if outcome.is_err() && !lease.is_broken() {
                roll_back(&mut lease).await?;
            }
            lease.ended();
            outcome
        }
    }
}

/// Expectations and writes of the same record, together.
fn gather(commit: Commit) -> Result<Changes> {
    let mut changes = Changes::new();
    for (key, value) in commit.expected {
        let expected = value.map_or(Expected::Absent, |value| Expected::Value(digest::of(&value)));
        let change = changes.entry(key).or_insert(Change { expected, write: None });
        if change.expected != expected {
            return Err(conflict());
        }
    }
    for (key, value) in commit.writes {
        let change = changes.entry(key).or_insert(Change { expected: Expected::Anything, write: None });
        change.write = Some(value);
    }
    Ok(changes)
}

fn is_put(change: &Change) -> bool {
    matches!(change.write, Some(Some(_)))
}

/// A commit without writes holds if one look at the records finds them as expected.
async fn check(pool: &Arc<Pool>, partition: &[u8], changes: &Changes) -> Result<()> {
    let keys: Vec<&[u8]> = changes.keys().map(|key| &key[..]).collect();
    let rows = pool.query(|statements| &statements.check, &[&partition, &keys]).await?;
    let found = digests(&rows);
    compare(changes.iter().filter(|(_, change)| change.expected != Expected::Anything), &found)
}

/// One record: the statement itself says whether the expectation held.
async fn change_one(pool: &Arc<Pool>, partition: &[u8], key: &Bytes, change: &Change) -> Result<()> {
    let key = &key[..];
    let write = change.write.as_ref().expect("a commit of one record without a write has been checked already");
    let changed = match (change.expected, write) {
        (Expected::Absent, Some(value)) => {
            let (value, digest) = (&value[..], &digest::of(value)[..]);
            pool.execute(|statements| &statements.insert, &[&partition, &key, &digest, &value]).await?
        }
        (Expected::Value(seen), Some(value)) => {
            let (value, digest, seen) = (&value[..], &digest::of(value)[..], &seen[..]);
            pool.execute(|statements| &statements.replace, &[&partition, &key, &digest, &value, &seen]).await?
        }
        (Expected::Value(seen), None) => {
            pool.execute(|statements| &statements.remove, &[&partition, &key, &&seen[..]]).await?
        }
        (Expected::Anything, Some(value)) => {
            let (value, digest) = (&value[..], &digest::of(value)[..]);
            pool.execute(|statements| &statements.put, &[&partition, &key, &digest, &value]).await?
        }
        (Expected::Anything, None) => {
            pool.execute(|statements| &statements.delete_many, &[&partition, &vec![key]]).await?;
            return Ok(());
        }
        // To delete what is not there is to look whether it is there.
        (Expected::Absent, None) => {
            return check(pool, partition, &Changes::from([(Bytes::copy_from_slice(key), change.clone())])).await;
        }
    };
    if changed == 1 { Ok(()) } else { Err(conflict()) }
}

/// Many records of which nothing is expected: one statement.
async fn put_all(pool: &Arc<Pool>, partition: &[u8], changes: &Changes) -> Result<()> {
    let rows = NewRows::of(changes.iter());
    pool.execute(|statements| &statements.put_many, &[&partition, &rows.keys, &rows.digests(), &rows.values]).await?;
    Ok(())
}

async fn transact(lease: &mut Lease, partition: &[u8], changes: &Changes) -> Result<()> {
    let found = lock(lease, partition, changes).await?;
    compare(changes.iter(), &found)?;

    let absent = NewRows::of(changes.iter().filter(|(_, change)| change.expected == Expected::Absent));
    let puts = changes.iter().filter(|(_, change)| change.expected != Expected::Absent && is_put(change));
    let puts = NewRows::of(puts);
    // What was inserted only to keep others from doing so goes again.
    let is_delete = |change: &Change| match change.expected {
        Expected::Absent => !is_put(change),
        _ => change.write == Some(None),
    };
    let deletes: Vec<&[u8]> = changes.iter().filter(|(_, change)| is_delete(change)).map(|(key, _)| &key[..]).collect();
    write(lease, partition, &absent, &puts, &deletes).await
}

/// The first round trip: begins, and locks what is there.
async fn lock(lease: &mut Lease, partition: &[u8], changes: &Changes) -> Result<BTreeMap<Vec<u8>, Vec<u8>>> {
    lease.begins();
    let keys: Vec<&[u8]> = changes.keys().map(|key| &key[..]).collect();
    let connection = lease.connection();
    let (client, statements) = (&connection.client, &connection.statements);
    let step = async {
        tokio::try_join!(
            biased;
            client.batch_execute("BEGIN"),
            async { client.query(&statements.lock, &[&partition, &keys]).await },
        )
    };
    let outcome = timeout(lease.patience(), step).await;
    let ((), rows) = lease.judge("a transaction failed", outcome.ok())?;
    Ok(digests(&rows))
}

/// The second round trip: inserts what must be absent, writes the rest and commits. The first that fails ends the
/// transaction, so that what comes after it changes nothing.
async fn write(
    lease: &mut Lease,
    partition: &[u8],
    absent: &NewRows<'_>,
    puts: &NewRows<'_>,
    deletes: &[&[u8]],
) -> Result<()> {
    let connection = lease.connection();
    let (client, statements) = (&connection.client, &connection.statements);
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
            client.batch_execute("COMMIT"),
        )
    };
    let outcome = timeout(lease.patience(), step).await;
    lease.judge("a transaction failed, or nobody knows whether it did", outcome.ok()).map(drop)
}

async fn roll_back(lease: &mut Lease) -> Result<()> {
    let rolled_back = timeout(lease.patience(), lease.connection().client.batch_execute("ROLLBACK")).await;
    lease.judge("a transaction could not be rolled back", rolled_back.ok())
}

/// Rows to write, as the arrays that a statement takes. What has no value of its own gets an empty one.
struct NewRows<'a> {
    keys: Vec<&'a [u8]>,
    digests: Vec<Digest>,
    values: Vec<&'a [u8]>,
}

impl<'a> NewRows<'a> {
    fn of(changes: impl Iterator<Item = (&'a Bytes, &'a Change)>) -> Self {
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

/// Keys and digests that a statement found.
fn digests(rows: &[Row]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

fn compare<'a>(
    mut changes: impl Iterator<Item = (&'a Bytes, &'a Change)>,
    found: &BTreeMap<Vec<u8>, Vec<u8>>,
) -> Result<()> {
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
