//! The bytes and objects of each container, kept without looking at its blobs.
//!
//! A blob and the sum of its container are in different partitions, so one commit cannot change both. Each server keeps
//! its changes in memory and stores their sum now and then, as a record of its own: servers do not wait for each other. A
//! container's *base* is a record of no server, and its usage is the base with the sums of all servers.
//!
//! Before its first change of a container, a server stores that its sum is *open*. An open record of a server that died,
//! or a change whose outcome is unknown, makes the usage unknown, until the blobs of that container are counted again
//! (`recount.rs`). A sum that was not changed for a while is closed, and forgotten in memory.

mod recount;
mod service;
mod stored;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use tablerock_kv::{Clock, Result, Rng, Store, TICKS_PER_SECOND, Transaction};

use super::keys;
use super::stored_blob::{Blob, BlobKind};
use crate::sharing::Sharing;

pub use recount::Recount;
use recount::Scan;
use stored::UsageRecord;

/// The number under which the base of a container is stored.
const BASE: u64 = 0;

/// How often a server stores its sums.
const STORE_TICKS: u64 = 5 * 60 * TICKS_PER_SECOND;

/// The age of an open record at which its server must have died, because it would have stored it again.
const DEAD_TICKS: u64 = 3 * STORE_TICKS;

/// Locks for opening and closing, each for some of the containers: first changes of many containers do not wait for each
/// other.
const STRIPES: u64 = 64;

/// The sums that one commit stores.
const RECORDS_PER_COMMIT: usize = 500;

/// Bytes and objects, or a change of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// The length of blobs and of uncommitted blocks.
    pub bytes: i64,
    /// Blobs, with those that have only uncommitted blocks.
    pub objects: i64,
}

impl Usage {
    pub(crate) fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.objects += other.objects;
    }

    fn minus(self, other: Self) -> Self {
        Self { bytes: self.bytes - other.bytes, objects: self.objects - other.objects }
    }

    /// The change from one length to another, and from an object or none to one or none.
    pub(super) fn change(bytes: (u64, u64), objects: (bool, bool)) -> Self {
        let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        Self { bytes: signed(bytes.1) - signed(bytes.0), objects: i64::from(objects.1) - i64::from(objects.0) }
    }

    /// The usage of a blob without its uncommitted blocks. Of a page blob nothing is counted but that it is there: its
    /// length says little about the pages that are written.
    pub(super) fn bytes_of(blob: &Blob) -> u64 {
        if blob.kind == BlobKind::Page { 0 } else { blob.length }
    }
}

/// A container, as the capacity metrics see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContainerUsage {
    pub(super) id: u64,
    /// Whether it has the logs of Storage Analytics.
    pub is_analytics: bool,
}

/// A container that this server changes.
#[derive(Debug, Default)]
pub(super) struct OpenContainer {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    sum: Usage,
    /// Changes in progress, and those that have ended.
    pending: u32,
    changes: u64,
    /// The changes when the sum was last stored.
    stored_changes: u64,
    /// Whether the outcome of a change is unknown.
    is_uncertain: bool,
    scan: Option<Scan>,
}

impl OpenContainer {
    /// Announces a change of a blob.
    pub(super) fn begin<'c>(&'c self, partition: &'c [u8]) -> PendingChange<'c> {
        self.state.lock().pending += 1;
        PendingChange { container: self, partition, is_settled: false }
    }
}

/// A change in progress. Dropping it without its outcome makes the usage uncertain.
#[derive(Debug)]
pub(super) struct PendingChange<'c> {
    container: &'c OpenContainer,
    partition: &'c [u8],
    is_settled: bool,
}

impl PendingChange<'_> {
    /// Counts a change that was committed, or nothing for one that was not.
    pub(super) fn settle(mut self, change: Usage) {
        self.is_settled = true;
        let mut state = self.container.state.lock();
        state.sum.add(change);
        let State { scan, is_uncertain, .. } = &mut *state;
        if let Some(scan) = scan
            && !scan.count(self.partition, change)
        {
            *is_uncertain = true;
        }
    }
}

impl Drop for PendingChange<'_> {
    fn drop(&mut self) {
        let mut state = self.container.state.lock();
        state.pending -= 1;
        state.changes += 1;
        state.is_uncertain |= !self.is_settled;
    }
}

/// The sums of one server.
#[derive(Debug)]
pub(super) struct Usages {
    store: Store,
    clock: Arc<dyn Clock>,
    server: u64,
    open: RwLock<HashMap<u64, Arc<OpenContainer>>>,
    /// Opening and closing of a container are one at a time, so that a sum is never read while it is being stored.
    opening: Vec<tokio::sync::Mutex<()>>,
    stored_at: Mutex<u64>,
}

impl Usages {
    pub(super) fn new(store: Store, clock: Arc<dyn Clock>, rng: &Rng) -> Self {
        let server = rng.number().max(BASE + 1);
        let stored_at = Mutex::new(clock.ticks());
        let opening = (0..STRIPES).map(|_| tokio::sync::Mutex::default()).collect();
        Self { store, clock, server, open: RwLock::default(), opening, stored_at }
    }

    /// Opens the sum of a container before it is changed.
    pub(super) async fn open(&self, container_id: u64) -> Result<Arc<OpenContainer>> {
        if let Some(open) = self.open.read().get(&container_id) {
            return Ok(Arc::clone(open));
        }
        let _one_at_a_time = self.opening[stripe_of(container_id)].lock().await;
        if let Some(open) = self.open.read().get(&container_id) {
            return Ok(Arc::clone(open));
        }
        let key = keys::usage_key(container_id, self.server);
        let now = self.clock.ticks();
        let decide = |tx: &mut Transaction| {
            let found = tx.get(&key).map(UsageRecord::decode).transpose()?.unwrap_or_default();
            tx.put(key.clone(), UsageRecord { is_open: true, stored: now, ..found }.encode());
            Ok(found)
        };
        // If it is open already, then by a server that died and had the same number.
        let UsageRecord { sum, is_open: is_uncertain, .. } =
            self.store.transact(&keys::usage_partition(), vec![key.clone()], decide).await?;
        let open = Arc::new(OpenContainer { state: Mutex::new(State { sum, is_uncertain, ..State::default() }) });
        self.open.write().insert(container_id, Arc::clone(&open));
        Ok(open)
    }

    /// Begins the usage of a container that is new.
    pub(super) async fn create(&self, container_id: u64) -> Result<()> {
        let key = keys::usage_key(container_id, BASE);
        let decide = |tx: &mut Transaction| {
            if tx.get(&key).is_none() {
                tx.put(key.clone(), UsageRecord::default().encode());
            }
            Ok(())
        };
        self.store.transact(&keys::usage_partition(), vec![key.clone()], decide).await
    }

    /// Forgets a container that was deleted.
    pub(super) fn forget(&self, container_id: u64) {
        self.open.write().remove(&container_id);
    }

    /// Stores the sums if it is time to.
    pub(super) async fn store_if_due(&self) -> Result<()> {
        let now = self.clock.ticks();
        if now < *self.stored_at.lock() + STORE_TICKS {
            return Ok(());
        }
        self.store_sums(false).await?;
        *self.stored_at.lock() = now;
        Ok(())
    }

    /// Stores all sums, and closes those that are not in use; at the end of a process, all of them.
    pub(super) async fn store_sums(&self, is_end: bool) -> Result<()> {
        for (stripe, lock) in self.opening.iter().enumerate() {
            let _one_at_a_time = lock.lock().await;
            let some = self.take_idle(stripe, is_end);
            if let Err(error) = self.store_all(&some).await {
                let closed = some.into_iter().filter(|(.., stays)| !stays);
                self.open.write().extend(closed.map(|(id, container, _)| (id, container)));
                return Err(error);
            }
        }
        Ok(())
    }

    /// Returns the containers of a stripe, each with whether it stays open; those that do not are taken out.
    fn take_idle(&self, stripe: usize, is_end: bool) -> Vec<(u64, Arc<OpenContainer>, bool)> {
        let mut all = Vec::new();
        self.open.write().retain(|&id, container| {
            if stripe_of(id) != stripe {
                return true;
            }
            let is_in_use = Arc::strong_count(container) > 1;
            let state = container.state.lock();
            let is_changed = state.changes != state.stored_changes;
            let stays = is_in_use || state.is_uncertain || is_changed && !is_end;
            all.push((id, Arc::clone(container), stays));
            stays
        });
        all
    }

    async fn store_all(&self, all: &[(u64, Arc<OpenContainer>, bool)]) -> Result<()> {
        let now = self.clock.ticks();
        for some in all.chunks(RECORDS_PER_COMMIT) {
            let base = |id: u64| keys::usage_key(id, BASE);
            let closed = some.iter().filter(|(.., is_open)| !is_open).map(|(id, ..)| base(*id)).collect();
            let records: Vec<_> = some
                .iter()
                .map(|(id, container, is_open)| {
                    let mut state = container.state.lock();
                    state.stored_changes = state.changes;
                    (*id, UsageRecord { sum: state.sum, is_open: *is_open, stored: now })
                })
                .collect();
            let decide = |tx: &mut Transaction| {
                for (id, record) in &records {
                    let key = keys::usage_key(*id, self.server);
                    // Without a base, which a deleted container has no longer, a sum means nothing.
                    if record.is_open || tx.get(&base(*id)).is_some() {
                        tx.put(key, record.encode());
                    } else {
                        tx.delete(key);
                    }
                }
                Ok(())
            };
            self.store.transact(&keys::usage_partition(), closed, decide).await?;
        }
        Ok(())
    }

    /// Returns the usage of a container; `None` if its blobs have to be counted. Right after they were, a change of unknown
    /// outcome makes no difference.
    pub(super) async fn of(&self, container_id: u64, was_counted: bool) -> Result<Option<Usage>> {
        let own = self.open.read().get(&container_id).cloned();
        let own = own.map(|own| {
            let state = own.state.lock();
            (state.sum, state.is_uncertain)
        });
        if own.is_some_and(|(_, is_uncertain)| is_uncertain) && !was_counted {
            return Ok(None);
        }
        let (mut usage, mut has_base) = (own.map(|(sum, _)| sum).unwrap_or_default(), false);
        for (server, record) in self.records_of(container_id).await? {
            if self.is_dead(server, &record, own.is_some()) {
                return Ok(None);
            }
            has_base |= server == BASE;
            if own.is_none() || server != self.server {
                usage.add(record.sum);
            }
        }
        Ok(has_base.then_some(usage))
    }

    async fn records_of(&self, container_id: u64) -> Result<Vec<(u64, UsageRecord)>> {
        let mut records = self.store.records(keys::usage_of_container(container_id));
        let mut found = Vec::new();
        while let Some(record) = records.next().await? {
            found.push((keys::server_of_usage(&record.key)?, UsageRecord::decode(&record.value)?));
        }
        Ok(found)
    }

    /// Whether the record is of a server that died before it stored all its changes.
    fn is_dead(&self, server: u64, record: &UsageRecord, is_own_open: bool) -> bool {
        let is_dead = match Sharing::of(&self.store) {
            _ if server == self.server => !is_own_open,
            Sharing::Exclusive => true,
            Sharing::Shared => record.stored + DEAD_TICKS < self.clock.ticks(),
        };
        record.is_open && is_dead
    }
}

fn stripe_of(container_id: u64) -> usize {
    (container_id % STRIPES) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_without_an_outcome_makes_the_sum_uncertain() {
        let container = OpenContainer::default();
        container.begin(b"p").settle(Usage { bytes: 3, objects: 1 });
        assert!(!container.state.lock().is_uncertain);
        drop(container.begin(b"p"));
        let state = container.state.lock();
        assert!(state.is_uncertain);
        assert_eq!((state.sum, state.pending, state.changes), (Usage { bytes: 3, objects: 1 }, 0, 2));
    }
}
