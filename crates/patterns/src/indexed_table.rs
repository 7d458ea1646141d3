//! A table with an index outside of the entity's partition: copies in other partitions, or lists of ids. No transaction
//! spans both, so an intent around the writes makes the index consistent eventually.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tablerock_client::{Entity, QueueClient, Result, TableClient, TableEntity};

use crate::intents::{Claimed, Intents, PendingIntent, WorkOutcome};
use crate::optimistic::{Attempts, unless_conflict};

/// An index over the entities of a table.
pub trait Index: Send + Sync {
    /// The location of an index entry, which an intent records.
    type Key: Serialize + DeserializeOwned + Ord + Clone + Send + Sync;

    /// Returns the locations of an entity's entries.
    fn keys(&self, entity: &Entity) -> Vec<Self::Key>;

    /// Writes the entry of an entity.
    fn put(&self, key: &Self::Key, entity: &Entity) -> impl Future<Output = Result<()>> + Send;

    /// Removes the entry of the entity with a RowKey.
    fn remove(&self, key: &Self::Key, row_key: &str) -> impl Future<Output = Result<()>> + Send;
}

/// The intent of a change: the entity, and the index entries of its versions before and after.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct IndexUpdate<K> {
    entity: (String, String),
    #[serde(rename = "places")]
    keys: Vec<K>,
}

/// A table with an index, which [`CopiesAcrossPartitions`](crate::CopiesAcrossPartitions) and
/// [`ListedEntities`](crate::ListedEntities) define.
///
/// A write stores an intent in a queue, writes the entity and then its index entries, and deletes the intent. If a
/// writer dies, the index is stale until a worker resumes the intent: three minutes later by default.
#[derive(Clone)]
pub struct IndexedTable<I: Index> {
    table: TableClient,
    intents: Intents<IndexUpdate<I::Key>>,
    pub(crate) index: I,
}

impl<I: Index> IndexedTable<I> {
    pub(crate) fn with_index(table: TableClient, queue: QueueClient, poison: QueueClient, index: I) -> Self {
        Self { table, intents: Intents::new(queue, poison), index }
    }

    /// Changes the settings of the intents.
    #[must_use]
    pub fn with_intents(mut self, change: impl FnOnce(Intents<()>) -> Intents<()>) -> Self {
        self.intents = self.intents.map_settings(change);
        self
    }

    /// Creates the queues unless they exist.
    pub async fn create_queues_if_not_exist(&self) -> Result<()> {
        self.intents.create_queues_if_not_exist().await
    }

    /// Returns the table, for reading.
    pub fn table(&self) -> &TableClient {
        &self.table
    }

    /// Inserts or replaces an entity, and then its index entries.
    pub async fn put(&self, entity: &impl TableEntity) -> Result<()> {
        let entity = &entity.to_entity()?;
        let mut attempts = Attempts::new("the entity");
        loop {
            let before = self.read(&entity.partition_key, &entity.row_key).await?;
            let pending = self.begin(entity, [before.as_ref(), Some(entity)]).await?;
            let written = match before.and_then(|before| before.etag) {
                Some(etag) => self.table.replace(entity).if_match(etag).await,
                None => self.table.insert(entity).await,
            };
            let written = unless_conflict(written)?;
            self.finish(pending).await?;
            if written.is_some() {
                return Ok(());
            }
            attempts.retry().await?;
        }
    }

    /// Deletes an entity, if it exists, and then its index entries.
    pub async fn delete(&self, partition_key: &str, row_key: &str) -> Result<()> {
        let mut attempts = Attempts::new("the entity");
        loop {
            let Some(before) = self.read(partition_key, row_key).await? else { return Ok(()) };
            let pending = self.begin(&before, [Some(&before), None]).await?;
            let deleted = unless_conflict(self.table.delete(&before).await)?;
            self.finish(pending).await?;
            if deleted.is_some() {
                return Ok(());
            }
            attempts.retry().await?;
        }
    }

    /// Resumes one intent that a writer has not finished. A worker calls this in a loop.
    pub async fn work_once(&self) -> Result<WorkOutcome> {
        let pending = match self.intents.claim().await? {
            Claimed::Intent(pending) => pending,
            Claimed::Nothing => return Ok(WorkOutcome::Nothing),
            Claimed::Poisoned => return Ok(WorkOutcome::Poisoned),
        };
        let outcome = self.resume(&pending.intent).await;
        self.intents.complete(pending, outcome).await
    }

    async fn begin(
        &self,
        entity: &Entity,
        versions: [Option<&Entity>; 2],
    ) -> Result<PendingIntent<IndexUpdate<I::Key>>> {
        let mut keys: Vec<_> = versions.into_iter().flatten().flat_map(|version| self.index.keys(version)).collect();
        keys.sort();
        keys.dedup();
        let entity = (entity.partition_key.clone(), entity.row_key.clone());
        self.intents.begin(IndexUpdate { entity, keys }).await
    }

    async fn finish(&self, pending: PendingIntent<IndexUpdate<I::Key>>) -> Result<()> {
        self.update_index(&pending.intent).await?;
        self.intents.finish(pending).await
    }

    /// Gives the entity a new version first: a writer that is slow and not dead can then no longer write it.
    async fn resume(&self, update: &IndexUpdate<I::Key>) -> Result<()> {
        let (partition_key, row_key) = &update.entity;
        if let Some(entity) = self.read(partition_key, row_key).await? {
            unless_conflict(self.table.replace(&entity).await)?;
        }
        self.update_index(update).await
    }

    /// Updates all index entries from the stored entity, and repeats this if the entity has changed.
    async fn update_index(
        &self,
        IndexUpdate { entity: (partition_key, row_key), keys }: &IndexUpdate<I::Key>,
    ) -> Result<()> {
        let mut attempts = Attempts::new("the entity");
        loop {
            let entity = self.read(partition_key, row_key).await?;
            let wanted = entity.as_ref().map(|entity| self.index.keys(entity)).unwrap_or_default();
            for key in keys {
                match &entity {
                    Some(entity) if wanted.contains(key) => self.index.put(key, entity).await?,
                    _ => self.index.remove(key, row_key).await?,
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

    async fn read(&self, partition_key: &str, row_key: &str) -> Result<Option<Entity>> {
        self.table.get_if_exists(partition_key, row_key).await
    }
}

impl<I: Index> fmt::Debug for IndexedTable<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("IndexedTable");
        shown.field("table", &self.table.name()).field("intents", &self.intents).finish_non_exhaustive()
    }
}
