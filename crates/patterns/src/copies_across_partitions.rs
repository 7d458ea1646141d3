//! The inter-partition secondary index: copies of an entity in other partitions, which no transaction spans, kept equal
//! eventually.

use std::fmt;
use std::sync::Arc;

use tablerock_client::{Entity, QueueClient, Result, TableClient, TableEntity};

use crate::followers::{Followed, Follower};
use crate::intents::{Intents, Resumed};

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
    followed: Followed<Copies>,
}

#[derive(Clone)]
struct Copies {
    table: TableClient,
    keys: Arc<CopyKeys>,
}

impl CopiesAcrossPartitions {
    /// A table, queues for intents, and the PartitionKeys and RowKeys of an entity's copies by its properties.
    pub fn new(
        table: TableClient,
        queue: QueueClient,
        poison: QueueClient,
        copy_keys: impl Fn(&Entity) -> Vec<(String, String)> + Send + Sync + 'static,
    ) -> Self {
        let copies = Copies { table: table.clone(), keys: Arc::new(copy_keys) };
        Self { followed: Followed::new(table, queue, poison, copies) }
    }

    /// The same with other settings for its queue.
    #[must_use]
    pub fn with_intents(mut self, change: impl FnOnce(Intents<()>) -> Intents<()>) -> Self {
        self.followed.intents = self.followed.intents.map_settings(change);
        self
    }

    /// Creates the queues unless they exist.
    pub async fn create_queues_if_not_exist(&self) -> Result<()> {
        self.followed.intents.create_if_not_exists().await
    }

    /// The table, for reading.
    pub fn table(&self) -> &TableClient {
        &self.followed.table
    }

    /// Adds an entity or replaces it, and then its copies.
    pub async fn put(&self, entity: &impl TableEntity) -> Result<()> {
        self.followed.put(&entity.to_entity()?).await
    }

    /// Deletes an entity, if it exists, and then its copies.
    pub async fn delete(&self, partition_key: &str, row_key: &str) -> Result<()> {
        self.followed.delete(partition_key, row_key).await
    }

    /// Resumes what a writer has left.
    pub async fn work_once(&self) -> Result<Resumed> {
        self.followed.work_once().await
    }
}

impl Follower for Copies {
    type Place = (String, String);

    fn places(&self, entity: &Entity) -> Vec<(String, String)> {
        (self.keys)(entity)
    }

    async fn put(&self, (partition_key, row_key): &(String, String), entity: &Entity) -> Result<()> {
        self.table.insert_or_replace(&entity.copy_at(partition_key, row_key)).await.map(drop)
    }

    async fn clear(&self, (partition_key, row_key): &(String, String), _: &str) -> Result<()> {
        self.table.delete_at(partition_key, row_key).any_version().if_exists().await.map(drop)
    }
}

impl fmt::Debug for CopiesAcrossPartitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Followed { table, intents, .. } = &self.followed;
        let mut shown = f.debug_struct("CopiesAcrossPartitions");
        shown.field("table", &table.name()).field("intents", intents).finish_non_exhaustive()
    }
}
