//! The contract between the layers and an engine.
//!
//! A record is (partition, key) → value, all bytes, ordered bytewise by partition and then by key. A partition
//! is the unit of atomicity, isolation and placement: nothing is ever atomic across two of them. The trait is
//! small enough for an embedded tree, a map in memory and a remote database alike; it assumes neither locks nor
//! code that runs next to the data. [`Store`](crate::Store) turns it into transactions.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use bytes::Bytes;

use crate::{BlindPut, Contents, Error, ErrorKind, Range, Result, Witness};

/// The contract of every engine. The suite in [`crate::suite`] is this contract as tests.
#[async_trait]
pub trait Engine: Send + Sync + std::fmt::Debug + 'static {
    /// The value of one record, as far as it is durable: a crash cannot take back what this showed.
    async fn get(&self, partition: &[u8], key: &[u8]) -> Result<Option<Bytes>>;

    /// The values of some records of several partitions, each as [`get`](Engine::get) shows it, in the order asked for.
    /// Nothing is promised about them together. An engine that is far away asks for all of them at once.
    async fn get_many(&self, wanted: &[Wanted]) -> Result<Vec<Vec<Option<Bytes>>>> {
        let mut found = Vec::with_capacity(wanted.len());
        for Wanted { partition, keys } in wanted {
            let mut values = Vec::with_capacity(keys.len());
            for key in keys {
                values.push(self.get(partition, key).await?);
            }
            found.push(values);
        }
        Ok(found)
    }

    /// The records of a range in order, durable ones only, until a limit is reached.
    async fn scan(&self, range: &Range, limits: ScanLimits) -> Result<Page>;

    /// The newest committed values of some records of one partition, in the order asked for. They may not be
    /// durable yet, so nothing may be returned to a client before a [`commit`](Engine::commit) that expects them.
    async fn read_newest(&self, partition: &[u8], keys: &[Bytes]) -> Result<Vec<Option<Bytes>>>;

    /// Applies all writes if every expectation still holds, and returns when they, and whatever the
    /// expectations saw, are durable. Otherwise applies nothing and fails with `Conflict`.
    async fn commit(&self, commit: Commit) -> Result<()>;

    /// As [`commit`](Engine::commit), if the witness still admits it when the commit is applied. Otherwise applies nothing
    /// and fails as [`Witness::check`] does. Only engines that servers share have to look at it.
    async fn commit_witnessed(&self, commit: Commit, witness: &Witness) -> Result<()> {
        let _ = witness;
        match self.is_exclusive() {
            true => self.commit(commit).await,
            false => Err(Error::internal("this engine does not compare witnesses")),
        }
    }

    /// Puts a record without reading it before, and then reads `row`, a record of any partition, with a state of the store that
    /// has the put. Returns whether the record was put, and the value of the row.
    ///
    /// An engine that is far away does both in one round trip. A conflict counts as a put that was not made.
    async fn put_blind(&self, put: BlindPut, row: (&[u8], &[u8])) -> Result<(bool, Option<Bytes>)> {
        let found = self.read_newest(&put.partition, std::slice::from_ref(&put.key)).await?.pop().flatten();
        let is_put = match put.may_replace(found.as_deref()) {
            false => false,
            true => match self.commit(put.onto(found)).await {
                Err(error) if error.kind() == ErrorKind::Conflict => false,
                outcome => outcome.map(|()| true)?,
            },
        };
        Ok((is_put, self.get(row.0, row.1).await?))
    }

    /// Reads a page, and then `row`, a record of any partition. An engine that is far away does both in one round trip.
    async fn scan_then_get(
        &self,
        range: &Range,
        limits: ScanLimits,
        row: (&[u8], &[u8]),
    ) -> Result<(Page, Option<Bytes>)> {
        let page = self.scan(range, limits).await?;
        Ok((page, self.get(row.0, row.1).await?))
    }

    /// Drops a range that no reader can reach any more, and that is never used again: records written there
    /// later may go as well. Returns once the intent is durable; the records go, and their space comes back, in
    /// the background, also after a restart.
    async fn drop_range(&self, range: Range) -> Result<()>;

    /// Whether every change goes through this engine, so that a layer may remember what it has read until it
    /// writes there itself. It then also holds that a commit whose future is dropped has either been accepted by
    /// that time, and shows in [`read_newest`](Engine::read_newest), or never happens.
    fn is_exclusive(&self) -> bool;

    /// The node that has each of some partitions, where nodes have some each; `None` where there is nothing to tell.
    async fn nodes_of(&self, partitions: &[Bytes]) -> Result<Vec<Option<String>>> {
        Ok(vec![None; partitions.len()])
    }

    /// Where large contents are better off than in records, if there is such a place.
    fn contents(&self) -> Option<Arc<dyn Contents>> {
        None
    }

    /// Whether the engine can serve, for the health endpoint.
    fn health(&self) -> Health;

    /// Finishes calls in progress, flushes, and rejects later calls.
    async fn close(&self) -> Result<()>;
}

/// Some records of one partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The partition.
    pub partition: Bytes,
    /// The keys within the partition.
    pub keys: Vec<Bytes>,
}

/// One atomic change of one partition.
#[derive(Debug, Clone, Default)]
pub struct Commit {
    /// The partition that the commit reads and writes.
    pub partition: Bytes,
    /// The expectations: the value of each key that was read, `None` for an absent one.
    pub expected: Vec<(Bytes, Option<Bytes>)>,
    /// The writes: a value to put, `None` to delete. Each key at most once.
    pub writes: Vec<(Bytes, Option<Bytes>)>,
}

/// A record as a scan returns it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The partition.
    pub partition: Bytes,
    /// The key within the partition.
    pub key: Bytes,
    /// The value.
    pub value: Bytes,
}

/// Where a scan stops, whichever comes first. A page holds at least one record if the range has one.
#[derive(Debug, Clone, Copy)]
pub struct ScanLimits {
    /// The maximum number of records.
    pub records_max: usize,
    /// The maximum number of bytes of partitions, keys and values; the first record may exceed it.
    pub bytes_max: usize,
    /// The time after which no further records are added.
    pub deadline: Option<Instant>,
}

impl ScanLimits {
    /// The limits of a page for callers that read a whole range.
    pub const PAGE: Self = Self { records_max: 1_000, bytes_max: 4 << 20, deadline: None };
}

/// A page of a scan.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The records, in the order of their positions.
    pub records: Vec<Record>,
    /// The position of the first record that is not in the page; `None` at the end of the range.
    pub next: Option<crate::Position>,
}

/// An engine's own judgement of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// The engine serves reads and writes.
    Healthy,
    /// A part of the partitions is served; the text has which part, and the reason.
    Degraded(String),
    /// Reads are served, writes are rejected; the text has the reason and the remedy.
    ReadOnly(String),
    /// Nothing is served.
    Down(String),
}
