//! The eventually consistent transaction: moves an entity between tables, which no transaction spans, by a queue
//! message and idempotent steps.

use serde::{Deserialize, Serialize};
use tablerock_client::{DateTime, Entity, Error, QueueClient, Result, TableClient};

use crate::intents::{Intents, WorkOutcome};
use crate::optimistic::{Attempts, unless_conflict};
use crate::verbs::worker_verbs;
use crate::worker::{WorkCounts, Worker};
use crate::writes::read_properties;

/// The property of an archived entity with the Timestamp of the copied version, which increases with every version.
const VERSION: &str = "ArchivedVersion";

/// Moves entities from a table to an archive. A worker that dies is resumed by another one three minutes later, by
/// default.
///
/// An entity is always in at least one of the tables. After its message is
/// processed, its last version is in the archive only, even if a slow worker resumes later.
///
/// A request moves the entity that has its keys when it is processed. An entity inserted under the same keys before
/// then is moved as well.
///
/// ```no_run
/// # use tablerock_client::{QueueServiceClient, TableServiceClient};
/// # use tablerock_patterns::Archive;
/// # async fn example(tables: TableServiceClient, queues: QueueServiceClient, shutdown: impl Future<Output = ()>)
/// #     -> tablerock_client::Result<()> {
/// let archive = Archive::new(
///     tables.table("Current"),
///     tables.table("Archive"),
///     queues.queue("archive"),
///     queues.queue("archive-poison"),
/// );
/// archive.request("Sales", "000123").await?;
/// archive.run(shutdown).await; // in a worker
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Archive {
    current: TableClient,
    archive: TableClient,
    intents: Intents<Move>,
}

/// The keys of an entity to move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Move {
    partition_key: String,
    row_key: String,
}

impl Archive {
    /// Returns an archive of a table. Requests are in a queue, and failed ones in a poison queue.
    pub fn new(current: TableClient, archive: TableClient, queue: QueueClient, poison: QueueClient) -> Self {
        Self { current, archive, intents: Intents::new(queue, poison) }
    }

    /// Creates both tables and the queues unless they exist.
    pub async fn create_if_not_exists(&self) -> Result<()> {
        self.current.create_if_not_exists().await?;
        self.archive.create_if_not_exists().await?;
        self.intents.create_if_not_exists().await
    }

    worker_verbs!();

    /// Requests the move of an entity, which a worker performs.
    pub async fn request(&self, partition_key: &str, row_key: &str) -> Result<()> {
        let (partition_key, row_key) = (partition_key.to_owned(), row_key.to_owned());
        self.intents.enqueue(&Move { partition_key, row_key }).await
    }

    /// Copies the entity to the archive and then deletes the copied version. Repeats this for a later version. A
    /// missing entity has been moved already.
    async fn resume(&self, Move { partition_key, row_key }: Move) -> Result<()> {
        let mut attempts = Attempts::new("the entity");
        loop {
            let Some(entity) = self.current.get_if_exists::<Entity>(&partition_key, &row_key).await? else {
                return Ok(());
            };
            let is_archived = self.copy(&entity).await?.is_some();
            if is_archived && unless_conflict(self.current.delete(&entity).await)?.is_some() {
                return Ok(());
            }
            attempts.retry().await?;
        }
    }

    /// Copies a version to the archive, unless it has this or a later one. Returns `None` if another worker was faster.
    async fn copy(&self, entity: &Entity) -> Result<Option<()>> {
        let version = entity.timestamp.ok_or_else(|| Error::InvalidResponse("it has no Timestamp".to_owned()))?;
        let copy = entity.with_keys(&entity.partition_key, &entity.row_key).with(VERSION, version);
        let Some(archived) = self.archived(entity).await? else {
            return unless_conflict(self.archive.insert(&copy).await.map(drop));
        };
        if archived.property::<Option<DateTime>>(VERSION)? >= Some(version) {
            return Ok(Some(()));
        }
        let etag = archived.etag.ok_or_else(|| Error::InvalidResponse("it has no ETag".to_owned()))?;
        unless_conflict(self.archive.replace(&copy).if_match(etag).await.map(drop))
    }

    /// Reads keys, ETag and version of an archived entity.
    async fn archived(&self, entity: &Entity) -> Result<Option<Entity>> {
        read_properties(&self.archive, (&entity.partition_key, &entity.row_key), &[VERSION]).await
    }
}
