//! The inter-partition secondary index: copies of an entity in other partitions, which are consistent eventually.

use std::fmt;
use std::sync::Arc;

use tablerock_client::{Entity, QueueClient, Result, TableClient};

use crate::indexed_table::{Index, IndexedTable};

type CopyKeys = dyn Fn(&Entity) -> Vec<(String, String)> + Send + Sync;

/// A table with copies of each entity in other partitions. The entity itself is always current; its copies may be stale
/// until an intent is finished.
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
pub type CopiesAcrossPartitions = IndexedTable<Copies>;

/// The index of [`CopiesAcrossPartitions`].
#[derive(Clone)]
pub struct Copies {
    table: TableClient,
    keys: Arc<CopyKeys>,
}

impl IndexedTable<Copies> {
    /// Returns a table whose copies have the PartitionKeys and RowKeys that a function returns for an entity. Intents
    /// are in a queue, and failed ones in a poison queue.
    pub fn new(
        table: TableClient,
        queue: QueueClient,
        poison: QueueClient,
        copy_keys: impl Fn(&Entity) -> Vec<(String, String)> + Send + Sync + 'static,
    ) -> Self {
        let copies = Copies { table: table.clone(), keys: Arc::new(copy_keys) };
        Self::with_index(table, queue, poison, copies)
    }
}

impl fmt::Debug for Copies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Copies").finish_non_exhaustive()
    }
}

impl Index for Copies {
    type Key = (String, String);

    fn keys(&self, entity: &Entity) -> Vec<(String, String)> {
        (self.keys)(entity)
    }

    async fn put(&self, (partition_key, row_key): &(String, String), entity: &Entity) -> Result<()> {
        self.table.insert_or_replace(&entity.with_keys(partition_key, row_key)).await.map(drop)
    }

    async fn remove(&self, (partition_key, row_key): &(String, String), _: &str) -> Result<()> {
        self.table.delete_by_keys(partition_key, row_key).any_version().if_exists().await.map(drop)
    }
}
