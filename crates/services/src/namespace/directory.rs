//! The rows of one name directory.

use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::{Bytes, Clock, Records, ScanLimits, Store, Transaction};

use super::Namespace;
use super::id_hints::IdHints;
use super::keys::{row_key, tombstone_key};
use crate::Result;
use crate::ids::Ids;
use crate::sharing::Sharing;
use crate::work_lease::WorkLease;

/// Ids that are taken from the store at a time.
const IDS_BLOCK: u64 = 32;

/// The directories of all accounts for one kind of object.
#[derive(Debug)]
pub(crate) struct Directory {
    pub(super) store: Store,
    pub(super) namespace: Namespace,
    ids: Ids,
    /// `None` if no other server writes to the store.
    pub(super) hints: Option<IdHints>,
    pub(crate) sweep_lease: WorkLease,
    pub(super) sweep_period: Duration,
}

impl Directory {
    pub(crate) fn new(store: &Store, clock: &Arc<dyn Clock>, namespace: Namespace, sweep_period: Duration) -> Self {
        let (.., next_id_key, lease_key) = namespace.facts();
        Self {
            store: store.clone(),
            namespace,
            ids: Ids::new(store.clone(), next_id_key, IDS_BLOCK),
            hints: Sharing::of(store).coordination(IdHints::default),
            sweep_lease: WorkLease::new(store.clone(), clock.clone(), lease_key, sweep_period),
            sweep_period,
        }
    }

    /// Returns an id for a new object.
    pub(crate) async fn next_id(&self) -> Result<u64> {
        Ok(self.ids.next().await?)
    }

    /// Returns the durable row of a name.
    pub(crate) async fn row(&self, account: &str, name: &str) -> Result<Option<Bytes>> {
        Ok(self.store.get(&self.namespace.directory(account), name.as_bytes()).await?)
    }

    /// Returns the id that a name leads to.
    pub(crate) async fn id(&self, account: &str, name: &str) -> Result<Option<u64>> {
        self.keep_hint(account, name, self.row(account, name).await?.as_ref())
    }

    /// Returns the rows whose names begin with `prefix` and are not before `from`.
    pub(crate) fn rows(&self, account: &str, prefix: &str, from: &str, limits: ScanLimits) -> Records<'_> {
        self.store.records_with(self.namespace.rows(account, prefix, from), limits)
    }

    /// Decides about the row of one name in a transaction.
    pub(crate) async fn transact<T>(
        &self,
        account: &str,
        name: &str,
        mut decide: impl FnMut(&mut Entry<'_>) -> Result<T> + Send,
    ) -> Result<T> {
        let key = row_key(name);
        let decide = |tx: &mut Transaction| decide(&mut Entry { tx, key: &key });
        self.store.transact(&self.namespace.directory(account), vec![key.clone()], decide).await
    }

    /// Deletes the tombstone of an object whose records are gone.
    pub(super) async fn delete_tombstone(&self, account: &str, id: u64) -> Result<()> {
        Ok(self.store.write(&self.namespace.directory(account), |tx| tx.delete(tombstone_key(id))).await?)
    }
}

/// One name of a directory, within a transaction.
pub(crate) struct Entry<'a> {
    tx: &'a mut Transaction,
    key: &'a Bytes,
}

impl Entry<'_> {
    /// The row; `None` if the name is free.
    pub(crate) fn row(&self) -> Option<&Bytes> {
        self.tx.get(self.key)
    }

    pub(crate) fn put(&mut self, row: Bytes) {
        self.tx.put(self.key.clone(), row);
    }

    /// Drops the object: frees the name, and leaves a tombstone for the records under `id`.
    pub(crate) fn bury(&mut self, id: u64) {
        self.tx.delete(self.key.clone());
        self.bury_records(id);
    }

    /// Leaves a tombstone for the records under `id`, which the row leads to no longer.
    pub(crate) fn bury_records(&mut self, id: u64) {
        self.tx.put(tombstone_key(id), Bytes::new());
    }
}
