//! The snapshot of readers, which the committer replaces after each sync and never before.

use std::sync::Arc;

use arc_swap::{ArcSwapOption, Guard};
use bytes::Bytes;
use fjall::{Keyspace, Readable, Snapshot};
use tablerock_kv::{Error, Result};

use crate::database::Handles;
use crate::failure::translate;

/// A walk costs about as much as this many searches.
const WALK_KEYS_MIN: usize = 8;

/// The records that a walk passes over before searches replace it.
const WALK_SKIPPED_MAX: usize = 16;

/// The records as they were after some sync.
pub(crate) struct View {
    records: Keyspace,
    snapshot: Snapshot,
}

impl View {
    /// Opens a view of all commits so far. Only the committer may call this, between two batches: a snapshot that fjall
    /// opens while it applies a batch may see a part of it.
    pub(crate) fn open(handles: &Handles) -> Self {
        Self { records: handles.records.clone(), snapshot: handles.database.snapshot() }
    }

    pub(crate) fn get(&self, physical: &[u8]) -> Result<Option<Bytes>> {
        let value = self.snapshot.get(&self.records, physical);
        value.map(|value| value.map(Bytes::from)).map_err(|error| translate("cannot read a record", error))
    }

    /// Returns the values of some records, with one search each, or with one walk if the keys are close together, as
    /// those of a group are.
    pub(crate) fn get_all(&self, keys: &[&[u8]]) -> Result<Vec<Option<Bytes>>> {
        let is_walk = keys.len() >= WALK_KEYS_MIN && keys.is_sorted_by(|one, next| one < next);
        let mut values = if is_walk { self.walk(keys)? } else { Vec::with_capacity(keys.len()) };
        for key in &keys[values.len()..] {
            values.push(self.get(key)?);
        }
        Ok(values)
    }

    /// Returns the values from the first key on, up to the last or until too many other records were passed over.
    fn walk(&self, keys: &[&[u8]]) -> Result<Vec<Option<Bytes>>> {
        let mut values = Vec::with_capacity(keys.len());
        let [first, .., last] = keys else { return Ok(values) };
        let mut skipped = 0;
        for record in self.snapshot.range::<&[u8], _>(&self.records, *first..=*last) {
            let (found, value) = record.into_inner().map_err(|error| translate("cannot read a record", error))?;
            let passed = keys[values.len()..].partition_point(|key| **key < *found);
            values.resize(values.len() + passed, None);
            if keys[values.len()] == &found[..] {
                values.push(Some(Bytes::from(value)));
            } else {
                skipped += 1;
                if skipped == WALK_SKIPPED_MAX {
                    return Ok(values);
                }
            }
        }
        values.resize(keys.len(), None);
        Ok(values)
    }

    /// Returns the bytes of all tables.
    pub(crate) fn disk_bytes(&self) -> u64 {
        self.records.disk_space()
    }

    /// Returns the records from `start` up to `end`, which is excluded.
    pub(crate) fn range(&self, start: Vec<u8>, end: Option<Vec<u8>>) -> fjall::Iter {
        match end {
            Some(end) => self.snapshot.range(&self.records, start..end),
            None => self.snapshot.range(&self.records, start..),
        }
    }
}

/// The current view; none once the engine is closed.
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

/// A view that a reader uses.
pub(crate) struct Current(Guard<Option<Arc<View>>>);

impl std::ops::Deref for Current {
    type Target = View;

    fn deref(&self) -> &View {
        self.0.as_deref().expect("a view was there when this was made")
    }
}
