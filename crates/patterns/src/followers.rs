//! What follows from an entity and lies elsewhere, where no transaction reaches: copies, ids in lists. An intent around
//! both writes has it right in the end.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tablerock_client::{Entity, QueueClient, Result, TableClient};

use crate::intents::{Begun, Intents, Resumed, Taken};
use crate::optimistic::{Tries, unless_lost};

/// What follows from an entity.
pub(crate) trait Follower: Send + Sync {
    /// Where something that follows can be, as an intent writes it down.
    type Place: Serialize + DeserializeOwned + Ord + Clone + Send + Sync;

    /// Where something follows from an entity.
    fn places(&self, entity: &Entity) -> Vec<Self::Place>;

    /// Makes a place say what follows from an entity.
    fn put(&self, place: &Self::Place, entity: &Entity) -> impl Future<Output = Result<()>> + Send;

    /// Makes a place say nothing of the entity with this RowKey.
    fn clear(&self, place: &Self::Place, row_key: &str) -> impl Future<Output = Result<()>> + Send;
}

/// An entity that is about to change, and the places that this may concern: those of the version before and after.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Change<P> {
    entity: (String, String),
    places: Vec<P>,
}

/// Writes entities and then what follows from them, with an intent in a queue around both.
#[derive(Debug, Clone)]
pub(crate) struct Followed<F: Follower> {
    pub(crate) table: TableClient,
    pub(crate) intents: Intents<Change<F::Place>>,
    pub(crate) follower: F,
}

impl<F: Follower> Followed<F> {
    pub(crate) fn new(table: TableClient, queue: QueueClient, poison: QueueClient, follower: F) -> Self {
        Self { table, intents: Intents::new(queue, poison), follower }
    }

    /// Adds an entity or replaces it.
    pub(crate) async fn put(&self, entity: &Entity) -> Result<()> {
        let mut tries = Tries::to_change("the entity");
        loop {
            let before = self.read(&entity.partition_key, &entity.row_key).await?;
            let begun = self.begin(entity, [before.as_ref(), Some(entity)]).await?;
            let written = match before.and_then(|before| before.etag) {
                Some(etag) => self.table.replace(entity).if_match(etag).await,
                None => self.table.insert(entity).await,
            };
            let written = unless_lost(written)?;
            self.end(begun).await?;
            if written.is_some() {
                return Ok(());
            }
            tries.lost().await?;
        }
    }

    /// Deletes an entity, if it exists.
    pub(crate) async fn delete(&self, partition_key: &str, row_key: &str) -> Result<()> {
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
    pub(crate) async fn work_once(&self) -> Result<Resumed> {
        let begun = match self.intents.take().await? {
            Taken::Intent(begun) => begun,
            Taken::Nothing => return Ok(Resumed::Nothing),
            Taken::Poison => return Ok(Resumed::Poisoned),
        };
        let outcome = self.resume(&begun.intent).await;
        self.intents.conclude(begun, outcome).await
    }

    async fn begin(&self, entity: &Entity, versions: [Option<&Entity>; 2]) -> Result<Begun<Change<F::Place>>> {
        let mut places: Vec<_> =
            versions.into_iter().flatten().flat_map(|version| self.follower.places(version)).collect();
        places.sort();
        places.dedup();
        let entity = (entity.partition_key.clone(), entity.row_key.clone());
        self.intents.begin(Change { entity, places }).await
    }

    async fn end(&self, begun: Begun<Change<F::Place>>) -> Result<()> {
        self.follow(&begun.intent).await?;
        self.intents.finish(begun).await
    }

    /// The writer of an intent may be slow, not dead. Once the entity has a version that it has not seen, its write is
    /// refused, and it cannot come after what is made to follow here.
    async fn resume(&self, change: &Change<F::Place>) -> Result<()> {
        let (partition_key, row_key) = &change.entity;
        if let Some(entity) = self.read(partition_key, row_key).await? {
            unless_lost(self.table.replace(&entity).await)?;
        }
        self.follow(change).await
    }

    /// Makes all places say what the entity says now, and looks whether it still says so: whoever has written an old
    /// version over a newer one finds out and does it again.
    async fn follow(&self, Change { entity: (partition_key, row_key), places }: &Change<F::Place>) -> Result<()> {
        let mut tries = Tries::to_change("the entity");
        loop {
            let entity = self.read(partition_key, row_key).await?;
            let wanted = entity.as_ref().map(|entity| self.follower.places(entity)).unwrap_or_default();
            for place in places {
                match &entity {
                    Some(entity) if wanted.contains(place) => self.follower.put(place, entity).await?,
                    _ => self.follower.clear(place, row_key).await?,
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
