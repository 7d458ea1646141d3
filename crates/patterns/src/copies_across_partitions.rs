//! The inter-partition secondary index: copies of an entity in other partitions, which no transaction spans, kept equal
//! eventually.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tablerock_client::{Entity, QueueClient, Result, TableClient, TableEntity};

use crate::intents::{Begun, Intents, Resumed, Taken};
use crate::optimistic::{Tries, unless_lost};

type CopyKeys = dyn Fn(&Entity) -> Vec<(String, String)> + Send + Sync;

/// Writes an entity and then its copies, with an intent in a queue around both. A writer that dies in between leaves
/// copies that lag behind until a worker has resumed the intent; the entity itself is always right.
///
/// ```no_run
/// # use tablerock_client::{Entity, QueueServiceClient, TableClient};
/// # use tablerock_patterns::CopiesAcrossPartitions;
/// # async fn example(people: TableClient, queues: QueueServiceClient) -> tablerock_client::Result<()> {
/// let people = CopiesAcrossPartitions::new(people, queues.queue("copies"), queues.queue("copies-poison"), |entity| {
///     let email: String = entity.property("Email").unwrap_or_default();
///     vec![(format!("email_{}", entity.partition_key), email)]
/// });
/// people.put(&Entity::new("Sales", "000123").with("Email", "jonesj@contoso.com")).await?;
/// let jones: Entity = people.table().get("email_Sales", "jonesj@contoso.com").await?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct CopiesAcrossPartitions {
    table: TableClient,
    intents: Intents<Change>,
    copy_keys: Arc<CopyKeys>,
}

/// An entity that is about to change, and the copies that this may concern: those of the version before and after.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Change {
    entity: (String, String),
    copies: Vec<(String, String)>,
}

impl CopiesAcrossPartitions {
    /// A table, queues for intents, and the PartitionKeys and RowKeys of an entity's copies by its properties.
    pub fn new(
        table: TableClient,
        queue: QueueClient,
        poison: QueueClient,
        copy_keys: impl Fn(&Entity) -> Vec<(String, String)> + Send + Sync + 'static,
    ) -> Self {
        Self { table, intents: Intents::new(queue, poison), copy_keys: Arc::new(copy_keys) }
    }

    /// The same with other settings for its queue.
    #[must_use]
    pub fn with_intents(mut self, change: impl FnOnce(Intents<()>) -> Intents<()>) -> Self {
        self.intents = self.intents.map_settings(change);
        self
    }

    /// Creates the queues unless they exist.
    pub async fn create_queues_if_not_exist(&self) -> Result<()> {
        self.intents.create_if_not_exists().await
    }

    /// The table, for reading.
    pub fn table(&self) -> &TableClient {
        &self.table
    }

    /// Adds an entity or replaces it, and then its copies.
    pub async fn put(&self, entity: &impl TableEntity) -> Result<()> {
        let entity = entity.to_entity()?;
        let mut tries = Tries::to_change("the entity");
        loop {
            let before = self.read(&entity.partition_key, &entity.row_key).await?;
            let begun = self.begin(&entity, [before.as_ref(), Some(&entity)]).await?;
            let written = match before.and_then(|before| before.etag) {
                Some(etag) => self.table.replace(&entity).if_match(etag).await,
                None => self.table.insert(&entity).await,
            };
            let written = unless_lost(written)?;
            self.end(begun).await?;
            if written.is_some() {
                return Ok(());
            }
            tries.lost().await?;
        }
    }

    /// Deletes an entity, if it exists, and then its copies.
    pub async fn delete(&self, partition_key: &str, row_key: &str) -> Result<()> {
        let mut tries = Tries::to_change("the entity");
        loop {
            let Some(before) = self.read(partition_key, row_key).await? else { return Ok(()) };
            let begun = self.begin(&before, [Some(&before), None]).await?;
            let deleted = unless_lost(self.table.delete(&before).await)?;
            self.end(begun).await?;
            if deleted.is_some() {
                return Ok(());
            }
            tries.lost().await?;
        }
    }

    /// Resumes what a writer has left.
    pub async fn work_once(&self) -> Result<Resumed> {
        let begun = match self.intents.take().await? {
            Taken::Intent(begun) => begun,
            Taken::Nothing => return Ok(Resumed::Nothing),
            Taken::Poison => return Ok(Resumed::Poisoned),
        };
        let outcome = self.make_equal(&begun.intent).await;
        self.intents.conclude(begun, outcome).await
    }

    async fn begin(&self, entity: &Entity, versions: [Option<&Entity>; 2]) -> Result<Begun<Change>> {
        let mut copies: Vec<_> = versions.into_iter().flatten().flat_map(|version| (self.copy_keys)(version)).collect();
        copies.sort();
        copies.dedup();
        let entity = (entity.partition_key.clone(), entity.row_key.clone());
        self.intents.begin(Change { entity, copies }).await
    }

    async fn end(&self, begun: Begun<Change>) -> Result<()> {
        self.make_equal(&begun.intent).await?;
        self.intents.finish(begun).await
    }

    /// Makes copies what the entity says now, and looks whether it still says so: whoever has written an old version
    /// over a newer one finds out and does it again.
    async fn make_equal(&self, Change { entity: (partition_key, row_key), copies }: &Change) -> Result<()> {
        let mut tries = Tries::to_change("the entity");
        loop {
            let entity = self.read(partition_key, row_key).await?;
            let wanted = entity.as_ref().map(|entity| (self.copy_keys)(entity)).unwrap_or_default();
            for (partition, row) in copies {
                match &entity {
                    Some(entity) if wanted.iter().any(|key| (&key.0, &key.1) == (partition, row)) => {
                        self.table.insert_or_replace(&entity.copy_at(partition, row)).await?;
                    }
                    _ => drop(self.table.delete_at(partition, row).any_version().if_exists().await?),
                }
            }
            let now = self.read(partition_key, row_key).await?;
            let version = |entity: Option<Entity>| entity.and_then(|entity| entity.etag);
            if version(now) == version(entity) {
                return Ok(());
            }
            tries.lost().await?;
        }
    }

    async fn read(&self, partition_key: &str, row_key: &str) -> Result<Option<Entity>> {
        self.table.get_if_exists(partition_key, row_key).await
    }
}

impl fmt::Debug for CopiesAcrossPartitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("CopiesAcrossPartitions");
        shown.field("table", &self.table.name()).field("intents", &self.intents).finish_non_exhaustive()
    }
}
