//! The eventually consistent transaction: an entity moves from one table to another, which no transaction spans, by a
//! queue message and steps that can be repeated.

use serde::{Deserialize, Serialize};
use tablerock_client::{DateTime, Entity, Error, ErrorCode, QueueClient, Result, TableClient};

use crate::intents::{Intents, Resumed, Taken};
use crate::optimistic::{Tries, unless_lost};

/// In the archive: the Timestamp of the version that was copied. Versions of one entity differ in it, and later ones have a
/// later one.
const VERSION: &str = "ArchivedVersion";

/// Moves entities from a table of current ones to an archive. At no time is an entity in neither, and when its message
/// is done it is in the archive only, in its last version: a worker that stood still for long changes nothing.
///
/// A request is for whatever is under its keys. Who puts another entity there while the message of the first may still
/// come back has that one moved as well.
///
/// ```no_run
/// # use tablerock_client::{QueueServiceClient, TableServiceClient};
/// # use tablerock_patterns::{Archive, Resumed};
/// # async fn example(tables: TableServiceClient, queues: QueueServiceClient) -> tablerock_client::Result<()> {
/// let archive = Archive::new(
///     tables.table("Current"),
///     tables.table("Archive"),
///     queues.queue("archive"),
///     queues.queue("archive-poison"),
/// );
/// archive.request("Sales", "000123").await?;
/// // And in a worker, for ever, with a pause when there is nothing:
/// while !matches!(archive.work_once().await?, Resumed::Nothing) {}
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Archive {
    current: TableClient,
    archive: TableClient,
    intents: Intents<Move>,
}

/// Which entity is to move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Move {
    partition_key: String,
    row_key: String,
}

impl Archive {
    /// From where to where, with a queue for requests and one for those that cannot be met.
    pub fn new(current: TableClient, archive: TableClient, queue: QueueClient, poison: QueueClient) -> Self {
        Self { current, archive, intents: Intents::new(queue, poison) }
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

    /// The queue of what cannot be moved.
    pub fn poison(&self) -> &QueueClient {
        self.intents.poison()
    }

    /// Asks for an entity to be moved; workers do the rest.
    pub async fn request(&self, partition_key: &str, row_key: &str) -> Result<()> {
        let (partition_key, row_key) = (partition_key.to_owned(), row_key.to_owned());
        self.intents.hand_over(&Move { partition_key, row_key }).await
    }

    /// Meets one request.
    pub async fn work_once(&self) -> Result<Resumed> {
        let begun = match self.intents.take().await? {
            Taken::Intent(begun) => begun,
            Taken::Nothing => return Ok(Resumed::Nothing),
            Taken::Poison => return Ok(Resumed::Poisoned),
        };
        let outcome = self.carry_out(&begun.intent).await;
        self.intents.conclude(begun, outcome).await
    }

    /// Copies the entity into the archive and then deletes the version that was copied. A later version is copied
    /// again; one that is gone has been moved already.
    async fn carry_out(&self, Move { partition_key, row_key }: &Move) -> Result<()> {
        let mut tries = Tries::to_change("the entity");
        loop {
            let Some(entity) = self.current.get_if_exists::<Entity>(partition_key, row_key).await? else {
                return Ok(());
            };
            let is_kept = self.keep(&entity).await?.is_some();
            if is_kept && unless_lost(self.current.delete(&entity).await)?.is_some() {
                return Ok(());
            }
            tries.lost().await?;
        }
    }

    /// Puts a version into the archive, unless it or a later one is there. `None` if another worker was faster.
    async fn keep(&self, entity: &Entity) -> Result<Option<()>> {
        let version = entity.timestamp.ok_or_else(|| Error::Answer("it has no Timestamp".to_owned()))?;
        let copy = entity.copy_at(&entity.partition_key, &entity.row_key).with(VERSION, version);
        let Some(archived) = self.archived(entity).await? else {
            return unless_lost(self.archive.insert(&copy).await.map(drop));
        };
        if archived.property::<Option<DateTime>>(VERSION)? >= Some(version) {
            return Ok(Some(()));
        }
        let over = archived.etag.ok_or_else(|| Error::Answer("it has no ETag".to_owned()))?;
        unless_lost(self.archive.replace(&copy).if_match(over).await.map(drop))
    }

    /// What the archive has of an entity, without its properties.
    async fn archived(&self, entity: &Entity) -> Result<Option<Entity>> {
        match self.archive.get_properties(&entity.partition_key, &entity.row_key, &[VERSION]).await {
            Ok(archived) => Ok(Some(archived)),
            Err(error) if error.code() == Some(ErrorCode::ResourceNotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
