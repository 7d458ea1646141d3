//! The engine that forgets: maps under one lock. It is the oracle of the random tests and the server's
//! `--in-memory`, so it is written to be obviously right first and fast second.

use std::collections::BTreeMap;
use std::ops::Bound;

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::RwLock;

use crate::{Commit, Engine, Error, Health, Page, PageBuilder, Position, Range, Record, Result, ScanLimits, Witness};

/// How many records a drop removes before it lets others have the lock.
const DROP_CHUNK_RECORDS: usize = 1_000;

/// All records in memory. "Durable" means: until the process ends.
///
/// Dropped ranges go at once. A write that was in progress when its range was dropped may land afterwards and
/// then stays, unreachable, until the process ends; the durable engines sweep such stragglers up.
#[derive(Debug)]
pub struct MemoryEngine {
    /// `None` once closed. Partitions hold at least one record each.
    partitions: RwLock<Option<Partitions>>,
    is_exclusive: bool,
}

type Partitions = BTreeMap<Bytes, BTreeMap<Bytes, Bytes>>;

impl MemoryEngine {
    /// Returns an empty engine.
    pub fn new() -> Self {
        Self { partitions: RwLock::new(Some(Partitions::new())), is_exclusive: true }
    }

    /// One that says of itself what a database would which other servers use as well: for tests of layers that must
    /// then remember nothing.
    pub fn shared() -> Self {
        Self { is_exclusive: false, ..Self::new() }
    }

    fn read<T>(&self, look: impl FnOnce(&Partitions) -> T) -> Result<T> {
        self.partitions.read().as_ref().map(look).ok_or_else(closed)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Partitions) -> T) -> Result<T> {
        self.partitions.write().as_mut().map(change).ok_or_else(closed)
    }
}

impl Default for MemoryEngine {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Engine for MemoryEngine {
    async fn get(&self, partition: &[u8], key: &[u8]) -> Result<Option<Bytes>> {
        self.read(|partitions| partitions.get(partition)?.get(key).cloned())
    }

    async fn scan(&self, range: &Range, limits: ScanLimits) -> Result<Page> {
        self.read(|partitions| scan(partitions, range, limits))
    }

    async fn read_newest(&self, partition: &[u8], keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.read(|partitions| {
            let records = partitions.get(partition);
            keys.iter().map(|key| records?.get(key).cloned()).collect()
        })
    }

    async fn commit(&self, commit: Commit) -> Result<()> {
        if commit.writes.is_empty() {
            return self.read(|partitions| check_expected(partitions, &commit))?;
        }
        self.change(|partitions| {
            check_expected(partitions, &commit)?;
            apply(partitions, commit);
            Ok(())
        })?
    }

    async fn commit_witnessed(&self, commit: Commit, witness: &Witness) -> Result<()> {
        self.change(|partitions| {
            let found = partitions.get(&witness.partition).and_then(|records| records.get(&witness.key));
            witness.check(found.map(|value| &value[..]))?;
            check_expected(partitions, &commit)?;
            apply(partitions, commit);
            Ok(())
        })?
    }

    async fn drop_range(&self, range: Range) -> Result<()> {
        while self.change(|partitions| remove_some(partitions, &range))? {
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    fn is_exclusive(&self) -> bool {
        self.is_exclusive
    }

    fn health(&self) -> Health {
        self.read(|_| Health::Healthy).unwrap_or_else(|error| Health::Down(error.message().to_owned()))
    }

    async fn close(&self) -> Result<()> {
        *self.partitions.write() = None;
        Ok(())
    }
}

fn check_expected(partitions: &Partitions, commit: &Commit) -> Result<()> {
    let records = partitions.get(&commit.partition);
    let newest = |key| records.and_then(|records| records.get(key));
    if commit.expected.iter().all(|(key, value)| newest(key) == value.as_ref()) {
        return Ok(());
    }
    Err(Error::conflict("a record changed since it was read"))
}

fn apply(partitions: &mut Partitions, commit: Commit) {
    let records = partitions.entry(commit.partition.clone()).or_default();
    for (key, value) in commit.writes {
        match value {
            Some(value) => drop(records.insert(key, value)),
            None => drop(records.remove(&key)),
        }
    }
    if records.is_empty() {
        partitions.remove(&commit.partition);
    }
}

fn scan(partitions: &Partitions, range: &Range, limits: ScanLimits) -> Page {
    let mut page = PageBuilder::new(limits);
    for (partition, key, value) in records_in(partitions, range) {
        if page.is_full() {
            return page.finish(Some(Position::new(partition.clone(), key.clone())));
        }
        page.push(Record { partition: partition.clone(), key: key.clone(), value: value.clone() });
    }
    page.finish(None)
}

fn records_in<'a>(
    partitions: &'a Partitions,
    range: &'a Range,
) -> impl Iterator<Item = (&'a Bytes, &'a Bytes, &'a Bytes)> {
    let first = range.start.partition.clone();
    let partitions = if range.is_empty() { None } else { Some(partitions.range(first..)) };
    let from_start = move |partition: &Bytes| match *partition == range.start.partition {
        true => Bound::Included(range.start.key.clone()),
        false => Bound::Unbounded,
    };
    let within = |partition: &Bytes, key: &Bytes| {
        range.end.as_ref().is_none_or(|end| (partition, key) < (&end.partition, &end.key))
    };
    partitions
        .into_iter()
        .flatten()
        .flat_map(move |(partition, records)| {
            let records = records.range((from_start(partition), Bound::Unbounded));
            records.map(move |(key, value)| (partition, key, value))
        })
        .take_while(move |(partition, key, _)| within(partition, key))
}

/// Removes a bounded number of records and returns whether there may be more.
fn remove_some(partitions: &mut Partitions, range: &Range) -> bool {
    let doomed: Vec<_> = records_in(partitions, range)
        .map(|(partition, key, _)| (partition.clone(), key.clone()))
        .take(DROP_CHUNK_RECORDS)
        .collect();
    let more = doomed.len() == DROP_CHUNK_RECORDS;
    for (partition, key) in doomed {
        apply(partitions, Commit { partition, writes: vec![(key, None)], ..Commit::default() });
    }
    more
}

fn closed() -> Error {
    Error::unavailable("the engine is closed")
}
