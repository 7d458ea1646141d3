//! A table with indexes outside of the entity's partition: copies in other partitions, or lists of ids. No transaction
//! spans both, so an intent around the writes makes the indexes consistent eventually.

use std::fmt;

use futures_util::future;
use serde::{Deserialize, Serialize};
use tablerock_client::table::BoxStream;
use tablerock_client::{
    Entity, Etag, QueueClient, Result, StreamExt as _, TableClient, TableEntity, TryStreamExt as _,
};

use crate::copies;
use crate::find::Find;
use crate::indexes::{IndexValue, Indexes};
use crate::intents::{Intents, PendingIntent, WorkOutcome};
use crate::optimistic::{Attempts, is_conflict, unless_conflict};
use crate::sealed::Sealed;
use crate::verbs::{entity_verbs, worker_verbs};
use crate::worker::{WorkCounts, Worker};
use crate::writes::{EntityDelete, EntityWrite, Expected, is_expected};

/// The PartitionKey and the RowKey of an entity.
pub(crate) type Keys = (String, String);

/// The state of an index entry, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryState {
    /// It corresponds to the entity.
    Current,
    /// It corresponds to another version of the entity.
    Stale,
    /// It does not exist.
    Missing,
}

/// The storage of index entries: [`Copies`](crate::Copies) or [`Lists`](crate::Lists). Only the types of this crate
/// implement it.
pub trait IndexStore: Sealed + Clone + Send + Sync + 'static {
    /// Creates the storage unless it exists.
    fn create_if_not_exists(&self) -> impl Future<Output = Result<()>> + Send;

    /// Checks that an entity can have an entry, before the entity is written.
    fn check(&self, at: &IndexValue, entity: &Entity) -> Result<()>;

    /// Writes the entry of a stored entity.
    fn put(&self, at: &IndexValue, entity: &Entity) -> impl Future<Output = Result<()>> + Send;

    /// Writes the entries of several stored entities with the same value.
    fn put_all(&self, at: &IndexValue, entities: &[Entity]) -> impl Future<Output = Result<()>> + Send {
        async move {
            for entity in entities {
                self.put(at, entity).await?;
            }
            Ok(())
        }
    }

    /// Removes the entry of the entity with these keys.
    fn remove(&self, at: &IndexValue, partition_key: &str, row_key: &str) -> impl Future<Output = Result<()>> + Send;

    /// Returns a store for the checks of many entities, which may remember what it has read.
    fn for_checks(&self) -> Self {
        self.clone()
    }

    /// Returns the state of the entry of a stored entity.
    fn state(&self, at: &IndexValue, entity: &Entity) -> impl Future<Output = Result<EntryState>> + Send;

    /// Streams all entries, with the keys of their entities.
    fn entries(&self) -> BoxStream<(IndexValue, (String, String))>;

    /// Streams the entities with a value, as their entries have them.
    fn find<T: TableEntity + Send + 'static>(&self, table: &TableClient, at: IndexValue) -> BoxStream<T>;
}

/// The intent of a change: the entity, and the index entries of its versions before and after.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct IndexUpdate {
    entity: Keys,
    values: Vec<IndexValue>,
}

/// A table with indexes that are stale for three minutes, by default, if a writer dies.
/// [`CopiesAcrossPartitions`](crate::CopiesAcrossPartitions) and [`ListedEntities`](crate::ListedEntities) define it.
///
/// A write stores an intent in a queue, writes the entity and then its index entries, and deletes the intent. If the
/// writer dies before that, a worker resumes the intent. It first gives the entity a new version, so a later write with
/// the old ETag fails with 412.
///
/// Writes return the new ETag as soon as the entity is stored, even if the index could not be updated: a worker then
/// does.
pub struct IndexedTable<T, S> {
    pub(crate) table: TableClient,
    pub(crate) indexes: Indexes<T>,
    pub(crate) store: S,
    intents: Intents<IndexUpdate>,
}

impl<T: TableEntity + Send + 'static, S: IndexStore> IndexedTable<T, S> {
    pub(crate) fn with_store(table: TableClient, store: S, queue: QueueClient, poison: QueueClient) -> Self {
        Self { table, store, intents: Intents::new(queue, poison), indexes: Indexes::new() }
    }

    /// Adds an index: a name, and a function from an entity to its values. The function returns an `Option<String>`, or
    /// a `Vec<String>` for an entity with several values.
    ///
    /// A table that has entities already needs [`rebuild`](Self::rebuild).
    #[must_use]
    pub fn index<V: IntoIterator<Item = String>>(
        mut self,
        name: impl Into<String>,
        values: impl Fn(&T) -> V + Send + Sync + 'static,
    ) -> Self {
        self.indexes.add(name, values);
        self
    }

    /// Creates the table, the storage of the indexes and the queues unless they exist.
    pub async fn create_if_not_exists(&self) -> Result<()> {
        self.table.create_if_not_exists().await?;
        self.store.create_if_not_exists().await?;
        self.intents.create_if_not_exists().await
    }

    /// Returns the table, for queries by keys.
    pub fn table(&self) -> &TableClient {
        &self.table
    }

    /// Reads an entity by its own keys, which is always current; `None` if it does not exist.
    pub async fn get_if_exists(&self, partition_key: &str, row_key: &str) -> Result<Option<T>> {
        let entity = self.read(partition_key, row_key).await?;
        Ok(entity.map(T::from_entity).transpose()?)
    }

    /// Finds the entities with a value of an index, with their own keys and ETags.
    #[doc(alias = "query_by")]
    #[doc(alias = "lookup")]
    pub fn find_by(&self, index: &str, value: impl Into<String>) -> Find<T> {
        if let Err(error) = self.indexes.check(index) {
            return Find::failed(error);
        }
        let (indexes, at) = (self.indexes.clone(), IndexValue::new(index, value));
        let found = self.store.find::<T>(&self.table, at.clone());
        // A list may still have an entity that no longer has the value.
        let found = found.try_filter_map(move |entity| {
            let values = indexes.values(&entity);
            future::ready(values.map(|values| values.contains(&at).then_some(entity)))
        });
        Find::new(found.boxed())
    }

    entity_verbs!();

    worker_verbs!();

    async fn write(&self, entity: Entity, expected: Expected) -> Result<Etag> {
        copies::check_names(&entity)?;
        let values = self.indexes.values_of(&entity)?;
        values.iter().try_for_each(|at| self.store.check(at, &entity))?;
        let keys = (entity.partition_key.as_str(), entity.row_key.as_str());
        let mut attempts = Attempts::new("the entity");
        loop {
            let before = self.read(keys.0, keys.1).await?;
            if is_expected(&self.table, keys, before.as_ref(), &expected).await? {
                let pending = self.begin(&entity, before.as_ref(), values.clone()).await?;
                let etag = before.and_then(|before| before.etag).filter(|_| expected != Expected::Absent);
                let written = match etag {
                    Some(etag) => self.table.replace(&entity).if_match(etag).await,
                    None => self.table.insert(&entity).await,
                };
                match self.intents.settle(pending, written, |update| self.update_index(update)).await {
                    Err(error) if expected.overwrites() && is_conflict(&error) => {}
                    outcome => return outcome,
                }
            }
            attempts.retry().await?;
        }
    }

    async fn erase(&self, entity: Entity, expected: Expected) -> Result<()> {
        let keys = (entity.partition_key.as_str(), entity.row_key.as_str());
        let mut attempts = Attempts::new("the entity");
        loop {
            let before = self.read(keys.0, keys.1).await?;
            if is_expected(&self.table, keys, before.as_ref(), &expected).await?
                && let Some(before) = before
            {
                let pending = self.begin(&entity, Some(&before), Vec::new()).await?;
                let deleted = self.table.delete(&before).await;
                match self.intents.settle(pending, deleted, |update| self.update_index(update)).await {
                    Err(error) if expected.overwrites() && is_conflict(&error) => {}
                    outcome => return outcome,
                }
            }
            attempts.retry().await?;
        }
    }

    /// Stores the intent of a change of an entity: the index entries before and after.
    async fn begin(
        &self,
        entity: &Entity,
        before: Option<&Entity>,
        mut values: Vec<IndexValue>,
    ) -> Result<PendingIntent<IndexUpdate>> {
        values.extend(before.map(|before| self.indexes.values_of(before)).transpose()?.unwrap_or_default());
        values.sort();
        values.dedup();
        let entity = (entity.partition_key.clone(), entity.row_key.clone());
        self.intents.begin(IndexUpdate { entity, values }).await
    }

    /// Makes index entries correspond to the stored entity, with an intent around it.
    pub(crate) async fn mend(&self, (partition_key, row_key): Keys, values: Vec<IndexValue>) -> Result<()> {
        let update = IndexUpdate { entity: (partition_key, row_key), values };
        let pending = self.intents.begin(update).await?;
        self.intents.finish_after(pending, |update| self.update_index(update)).await
    }

    /// Gives the entity a new version first: a writer that is slow and not dead can then no longer write it.
    async fn resume(&self, update: IndexUpdate) -> Result<()> {
        let (partition_key, row_key) = &update.entity;
        if let Some(entity) = self.read(partition_key, row_key).await? {
            unless_conflict(self.table.replace(&entity).await)?;
        }
        self.update_index(update).await
    }

    /// Updates all index entries from the stored entity, and repeats this if the entity has changed.
    async fn update_index(&self, IndexUpdate { entity, values }: IndexUpdate) -> Result<()> {
        let (partition_key, row_key) = (entity.0.as_str(), entity.1.as_str());
        let mut attempts = Attempts::new("the entity");
        loop {
            let entity = self.read(partition_key, row_key).await?;
            let wanted = entity.as_ref().map(|entity| self.indexes.values_of(entity)).transpose()?.unwrap_or_default();
            for at in &values {
                match &entity {
                    Some(entity) if wanted.contains(at) => self.store.put(at, entity).await?,
                    _ => self.store.remove(at, partition_key, row_key).await?,
                }
            }
            let now = self.read(partition_key, row_key).await?;
            let version = |entity: Option<Entity>| entity.and_then(|entity| entity.etag);
            if version(now) == version(entity) {
                return Ok(());
            }
            attempts.retry().await?;
        }
    }

    pub(crate) async fn read(&self, partition_key: &str, row_key: &str) -> Result<Option<Entity>> {
        self.table.get_if_exists(partition_key, row_key).await
    }
}

impl<T, S> fmt::Debug for IndexedTable<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, indexes, intents, .. } = self;
        let mut shown = f.debug_struct("IndexedTable");
        shown.field("table", &table.name()).field("indexes", indexes).field("intents", intents).finish_non_exhaustive()
    }
}

// A derived Clone would require T: Clone.
impl<T, S: Clone> Clone for IndexedTable<T, S> {
    fn clone(&self) -> Self {
        let Self { table, indexes, store, intents } = self;
        let (table, indexes, store, intents) = (table.clone(), indexes.clone(), store.clone(), intents.clone());
        Self { table, indexes, store, intents }
    }
}
