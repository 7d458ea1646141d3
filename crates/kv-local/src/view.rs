//! What readers see: a snapshot that the committer replaces after each sync, and never before.

use std::sync::Arc;

use arc_swap::{ArcSwapOption, Guard};
use bytes::Bytes;
use fjall::{Keyspace, Readable, Snapshot};
use tablerock_kv::{Error, Result};

use crate::database::Handles;
use crate::failure::translate;

/// The records as they were after some sync.
pub(crate) struct View {
    records: Keyspace,
    snapshot: Snapshot,
}

impl View {
    /// Sees all that has been committed so far. Only the committer may call this, between two batches: fjall
    /// lets a snapshot that is opened while a batch is being applied see a part of it.
    pub(crate) fn open(handles: &Handles) -> Self {
        Self { records: handles.records.clone(), snapshot: handles.database.snapshot() }
    }

    pub(crate) fn get(&self, physical: &[u8]) -> Result<Option<Bytes>> {
        let value = self.snapshot.get(&self.records, physical);
        value.map(|value| value.map(Bytes::from)).map_err(|error| translate("cannot read a record", error))
    }

    /// The bytes of all tables.
    pub(crate) fn disk_bytes(&self) -> u64 {
        self.records.disk_space()
    }

    /// The records from, included, to, excluded.
    pub(crate) fn range(&self, start: Vec<u8>, end: Option<Vec<u8>>) -> fjall::Iter {
        match end {
            Some(end) => self.snapshot.range(&self.records, start..end),
            None => self.snapshot.range(&self.records, start..),
        }
    }
}

/// The view that holds now; none once the engine is closed.
pub(crate) struct Published(ArcSwapOption<View>);

impl Published {
    pub(crate) fn new(view: View) -> Self {
        Self(ArcSwapOption::from_pointee(view))
    }

    pub(crate) fn replace(&self, view: View) {
        self.0.store(Some(Arc::new(view)));
    }

    pub(crate) fn withdraw(&self) {
        self.0.store(None);
    }

    pub(crate) fn load(&self) -> Result<Current> {
        let guard = self.0.load();
        if guard.is_some() { Ok(Current(guard)) } else { Err(Error::unavailable("the engine is closed")) }
    }
}

/// A view in use.
pub(crate) struct Current(Guard<Option<Arc<View>>>);

impl std::ops::Deref for Current {
    type Target = View;

    fn deref(&self) -> &View {
        self.0.as_deref().expect("a view was there when this was made")
    }
}
