//! Large entities: values that are too large for a property are in blobs, and the entity has references to them. A blob
//! exists before the entity refers to it, and until it no longer does.
//!
//! An intent around each write records the blobs that may become unused. A worker that deletes them has to know that no
//! slow writer adds a reference later. So this write always requires a version: it fails once the worker has given the
//! entity another one. A new entity has a placeholder as its first version.

use std::fmt;
use std::marker::PhantomData;

use tablerock_client::transport::RESPONSE_BYTES_MAX;
use tablerock_client::{
    ContainerClient, Entity, Error, Etag, Property, QueueClient, Result, TableClient, TableEntity, Value,
};

use crate::intents::{Claimed, Intents, PendingIntent, WorkOutcome};
use crate::large_values::{
    BlobUpdate, OWN, PENDING, REFERENCES, Reference, References, VALUE_BYTES_MAX, is_placeholder, references, size,
    take_references,
};
use crate::optimistic::{Attempts, is_conflict, unless_conflict};
use crate::worker::{WorkCounts, Worker};
use crate::writes::{EntityDelete, EntityWrite, Expected, fail_on_absence, fail_on_version};

/// Entities with values of up to 64 MiB each. A worker deletes the blobs of a writer that died three minutes later, by
/// default.
///
/// Every write stores a value in a new blob, which never changes. A reader gets the values of the version that it has
/// read, or reads again if a blob no longer exists. Values in blobs are not encrypted, so a large value marked for
/// encryption is rejected.
///
/// A worker gives the entity of an unfinished write a new version, so a later write with the old ETag fails with 412. A
/// reader of the table itself may find the placeholder of a new entity, which has only the property `LargePending`.
///
/// ```no_run
/// # use tablerock_client::{BlobServiceClient, Entity, QueueServiceClient, TableClient};
/// # use tablerock_patterns::LargeEntities;
/// # async fn example(people: TableClient, blobs: BlobServiceClient, queues: QueueServiceClient, photo: Vec<u8>)
/// #     -> tablerock_client::Result<()> {
/// let (queue, poison) = (queues.queue("photos"), queues.queue("photos-poison"));
/// let people = LargeEntities::new(people, blobs.container("photos"), queue, poison);
/// people.insert(&Entity::new("Sales", "000123").with("Name", "Jones").with("Photo", photo)).await?;
/// if let Some(jones) = people.get_if_exists("Sales", "000123").await? {
///     let jones: Entity = jones;
///     people.replace(&jones.with("Name", "Smith")).await?; // fails with 412 if another writer was faster
/// }
/// # Ok(()) }
/// ```
pub struct LargeEntities<T = Entity> {
    table: TableClient,
    container: ContainerClient,
    intents: Intents<BlobUpdate>,
    entity: PhantomData<fn() -> T>,
}

impl<T: TableEntity> LargeEntities<T> {
    /// Returns entities in a table, with large values in a container. Intents are in a queue, and failed ones in a
    /// poison queue.
    pub fn new(table: TableClient, container: ContainerClient, queue: QueueClient, poison: QueueClient) -> Self {
        Self { table, container, intents: Intents::new(queue, poison), entity: PhantomData }
    }

    /// Changes the settings of the intents.
    #[must_use]
    pub fn with_intents(mut self, change: impl FnOnce(Intents<()>) -> Intents<()>) -> Self {
        self.intents = self.intents.map_settings(change);
        self
    }

    /// Creates the table, the container and the queues unless they exist.
    pub async fn create_if_not_exists(&self) -> Result<()> {
        self.table.create_if_not_exists().await?;
        self.container.create_if_not_exists().await?;
        self.intents.create_if_not_exists().await
    }

    /// Returns the table, whose entities have references instead of large values.
    pub fn table(&self) -> &TableClient {
        &self.table
    }

    /// Reads an entity with all its values; `None` if it does not exist.
    pub async fn get_if_exists(&self, partition_key: &str, row_key: &str) -> Result<Option<T>> {
        let mut attempts = Attempts::new("the entity");
        loop {
            let stored = self.read(partition_key, row_key).await?;
            let Some(mut entity) = stored.filter(|entity| !is_placeholder(entity)) else { return Ok(None) };
            if self.download_values(&mut entity).await?.is_some() {
                return Ok(Some(T::from_entity(entity)?));
            }
            attempts.retry().await?;
        }
    }

    /// Inserts an entity and returns its ETag. Fails with 409 if it exists.
    pub async fn insert(&self, entity: &T) -> Result<Etag> {
        self.write(entity.to_entity()?, Expected::Absent).await
    }

    /// Replaces the version that was read. Fails with 412 if the entity has changed since, and with 404 if it does not
    /// exist.
    pub fn replace(&self, entity: &T) -> EntityWrite<'_> {
        EntityWrite::replace(entity, |entity, expected| Box::pin(self.write(entity, expected)))
    }

    /// Replaces the version that was read, or inserts an entity without an ETag. Fails with 412 if the entity has
    /// changed since it was read, and with 409 if it exists and has not been read.
    #[doc(alias = "upsert")]
    pub fn put(&self, entity: &T) -> EntityWrite<'_> {
        EntityWrite::put(entity, |entity, expected| Box::pin(self.write(entity, expected)))
    }

    /// Deletes the version that was read, with all its values. Fails with 412 if the entity has changed since.
    pub fn delete(&self, entity: &T) -> EntityDelete<'_> {
        EntityDelete::new(entity.to_entity(), |entity, expected| Box::pin(self.erase(entity, expected)))
    }

    /// Deletes an entity by its keys. It needs [`EntityDelete::if_match`] or [`EntityDelete::any_version`].
    pub fn delete_by_keys(&self, partition_key: impl Into<String>, row_key: impl Into<String>) -> EntityDelete<'_> {
        let entity = Entity::new(partition_key, row_key);
        EntityDelete::new(Ok(entity), |entity, expected| Box::pin(self.erase(entity, expected)))
    }

    /// Returns the queue of failed intents.
    pub fn poison_queue(&self) -> &QueueClient {
        self.intents.poison_queue()
    }

    /// Moves failed intents back to the queue; see [`Intents::redrive_poison`].
    pub async fn redrive_poison(&self) -> Result<u64> {
        self.intents.redrive_poison().await
    }

    /// Returns a worker that resumes intents.
    pub fn worker(&self) -> Worker<'_> {
        Worker::new(self.intents.queue_name(), || Box::pin(self.work_once()))
    }

    /// Runs a [worker](Self::worker) until `shutdown` completes.
    pub async fn run(&self, shutdown: impl Future<Output = ()>) -> WorkCounts {
        self.worker().run(shutdown).await
    }

    /// Resumes one intent that a writer has not finished, and deletes unused blobs. [`run`](Self::run) does this in a
    /// loop.
    pub async fn work_once(&self) -> Result<WorkOutcome> {
        let pending = match self.intents.claim().await? {
            Claimed::Intent(pending) => pending,
            Claimed::Nothing => return Ok(WorkOutcome::Nothing),
            Claimed::Poisoned => return Ok(WorkOutcome::Poisoned),
        };
        let outcome = self.resume(&pending.intent).await;
        self.intents.complete(pending, outcome).await
    }

    async fn write(&self, entity: Entity, expected: Expected) -> Result<Etag> {
        let large = self.large_properties(&entity)?;
        let mut attempts = Attempts::new("the entity");
        loop {
            let before = self.read(&entity.partition_key, &entity.row_key).await?;
            // An insert that met a placeholder, or lost its own, has to find out whether there is an entity now.
            let is_open = expected == Expected::Absent && before.as_ref().is_none_or(is_placeholder);
            let is_retried = |error: &Error| expected.overwrites() || (is_open && !error.is_ambiguous());
            if self.is_expected(&entity, before.as_ref(), &expected).await? {
                match self.write_once(&entity, before, &large, &expected).await {
                    Ok(Some(etag)) => return Ok(etag),
                    Ok(None) => {}
                    Err(error) if is_conflict(&error) && is_retried(&error) => {}
                    Err(error) => return Err(error),
                }
            }
            attempts.retry().await?;
        }
    }

    /// Whether the stored entity is as expected. Fails with the service's error if it is another version.
    async fn is_expected(&self, entity: &Entity, before: Option<&Entity>, expected: &Expected) -> Result<bool> {
        let keys = (entity.partition_key.as_str(), entity.row_key.as_str());
        let etag = before.and_then(|before| before.etag.as_ref());
        match expected {
            Expected::Version(expected) if etag != Some(expected) => {
                fail_on_version(&self.table, keys, expected).await.map(|()| false)
            }
            Expected::Existing if before.is_none() => fail_on_absence(&self.table, keys).await.map(|()| false),
            // A placeholder is not an entity. The service has a 404 for a key that does not exist.
            Expected::Existing if before.is_some_and(is_placeholder) => {
                let absent = format!("{}_{PENDING}", entity.row_key);
                fail_on_absence(&self.table, (keys.0, &absent)).await.map(|()| false)
            }
            Expected::Existing | Expected::Absent | Expected::Any | Expected::Version(_) => Ok(true),
        }
    }

    /// Makes one attempt. Returns `None` if a worker has claimed its intent.
    async fn write_once(
        &self,
        entity: &Entity,
        before: Option<Entity>,
        large: &[&Property<'static>],
        expected: &Expected,
    ) -> Result<Option<Etag>> {
        let new = large.iter().map(|property| property.name.to_string()).collect();
        let pending = self.intents.begin(BlobUpdate::new(entity, before.as_ref(), new)?).await?;
        let is_insert = *expected == Expected::Absent && !before.as_ref().is_some_and(is_placeholder);
        let mut etag = before.and_then(|before| before.etag).filter(|_| !is_insert);
        if etag.is_none() && !large.is_empty() {
            etag = match self.insert_placeholder(entity, &pending.intent.id).await {
                Ok(etag) => Some(etag),
                Err(error) => return self.settle(pending, Err(error)).await.map(Some),
            };
        }
        let Some((pending, small)) = self.upload_values(pending, entity, large).await? else { return Ok(None) };
        let written = match etag {
            Some(etag) => self.table.replace(&small).if_match(etag).await,
            None => self.table.insert(&small).await,
        };
        self.settle(pending, written).await.map(Some)
    }

    /// Finishes an intent after a write that succeeded or met another version. After any other error, a worker does.
    async fn settle<R>(&self, pending: PendingIntent<BlobUpdate>, written: Result<R>) -> Result<R> {
        if written.as_ref().err().is_none_or(is_conflict)
            && let Err(error) = self.finish(pending).await
        {
            tracing::warn!(%error, "unused blobs were not deleted; a worker will delete them");
        }
        written
    }

    async fn erase(&self, entity: Entity, expected: Expected) -> Result<()> {
        let keys = (entity.partition_key.as_str(), entity.row_key.as_str());
        let mut attempts = Attempts::new("the entity");
        loop {
            let before = self.read(keys.0, keys.1).await?;
            if self.is_expected(&entity, before.as_ref(), &expected).await?
                && let Some(before) = before
            {
                let pending = self.intents.begin(BlobUpdate::new(&entity, Some(&before), Vec::new())?).await?;
                let deleted = self.table.delete(&before).await;
                match self.settle(pending, deleted).await {
                    Err(error) if expected.overwrites() && is_conflict(&error) => {}
                    outcome => return outcome,
                }
            }
            attempts.retry().await?;
        }
    }

    /// Inserts the placeholder before the last renewal of the intent: if a worker does not find it, the worker has
    /// claimed the intent, and the renewal fails.
    async fn insert_placeholder(&self, entity: &Entity, id: &str) -> Result<Etag> {
        self.table.insert(&Entity::new(&entity.partition_key, &entity.row_key).with(PENDING, id)).await
    }

    /// Returns the properties with values for blobs.
    fn large_properties<'e>(&self, entity: &'e Entity) -> Result<Vec<&'e Property<'static>>> {
        let invalid = |name: &str, why: String| Err(Error::Invalid(format!("property {name} {why}")));
        if let Some(name) = OWN.into_iter().find(|name| entity.get(name).is_some()) {
            return invalid(name, "has a reserved name: rename it".to_owned());
        }
        let large = entity.properties().iter().filter(|property| size(&property.value) > VALUE_BYTES_MAX);
        let large: Vec<&Property<'_>> = large.collect();
        for Property { name, value } in &large {
            if self.is_marked(entity, name) {
                return invalid(
                    name,
                    format!(
                        "is marked for encryption, but values of more than {VALUE_BYTES_MAX} bytes are not encrypted"
                    ),
                );
            }
            if size(value) > RESPONSE_BYTES_MAX {
                return invalid(name, format!("has {} bytes, more than {RESPONSE_BYTES_MAX}", size(value)));
            }
        }
        Ok(large)
    }

    fn is_marked(&self, entity: &Entity, name: &str) -> bool {
        entity.encrypted_properties().any(|marked| marked == name)
            || self.table.encrypts(&entity.partition_key, &entity.row_key, name)
    }

    /// Uploads large values and returns the entity with references to them; `None` if a worker has claimed the intent
    /// in the meantime.
    async fn upload_values(
        &self,
        mut pending: PendingIntent<BlobUpdate>,
        entity: &Entity,
        large: &[&Property<'static>],
    ) -> Result<Option<(PendingIntent<BlobUpdate>, Entity)>> {
        let mut small = entity.clone();
        let mut references = References::new();
        for Property { name, value } in large {
            let (content, is_text) = match value {
                Value::String(text) => (text.as_bytes().to_vec(), true),
                Value::Binary(bytes) => (bytes.to_vec(), false),
                _ => continue,
            };
            let blob = pending.intent.blob_name(name);
            self.container.blob(&blob).upload(content).await?;
            small.remove(name);
            references.insert(name.to_string(), Reference { blob, is_text });
            match unless_conflict(self.intents.renew(pending.clone()).await)? {
                Some(renewed) => pending = renewed,
                // The worker may have deleted the blobs before this one existed.
                None => return self.delete_unused(&pending.intent).await.map(|()| None),
            }
        }
        if !references.is_empty() {
            let text = serde_json::to_string(&references).map_err(|error| Error::Invalid(error.to_string()))?;
            small.set(REFERENCES, text);
        }
        Ok(Some((pending, small)))
    }

    /// Downloads the values of an entity; `None` if a blob no longer exists, because the entity has changed.
    async fn download_values(&self, entity: &mut Entity) -> Result<Option<()>> {
        for (name, Reference { blob, is_text }) in take_references(entity)? {
            let Some(value) = self.container.blob(&blob).download_if_exists().await? else { return Ok(None) };
            let value = match is_text {
                true => Value::from(String::from_utf8_lossy(&value.content).into_owned()),
                false => Value::Binary(value.content.to_vec().into()),
            };
            entity.set(name, value);
        }
        Ok(Some(()))
    }

    async fn finish(&self, pending: PendingIntent<BlobUpdate>) -> Result<()> {
        self.delete_unused(&pending.intent).await?;
        self.intents.finish(pending).await
    }

    /// Gives the entity a new version first: a writer that is slow and not dead can then no longer add references to
    /// its blobs.
    async fn resume(&self, update: &BlobUpdate) -> Result<()> {
        let (partition_key, row_key) = &update.entity;
        let entity = self.read(partition_key, row_key).await?;
        if let Some(entity) = entity.filter(|entity| !update.is_placeholder(entity)) {
            unless_conflict(self.table.replace(&entity).await)?;
        }
        self.delete_unused(update).await
    }

    /// Deletes the placeholder of an intent, and then its old and new blobs without a reference.
    async fn delete_unused(&self, update: &BlobUpdate) -> Result<()> {
        let (partition_key, row_key) = &update.entity;
        let mut entity = self.read(partition_key, row_key).await?;
        if let Some(placeholder) = entity.take_if(|entity| update.is_placeholder(entity)) {
            unless_conflict(self.table.delete(&placeholder).await)?;
            entity = self.read(partition_key, row_key).await?;
        }
        let used = entity.as_ref().map(references).transpose()?.unwrap_or_default();
        for blob in update.blobs() {
            if !used.values().any(|reference| reference.blob == blob) {
                self.container.blob(&blob).delete().if_exists().await?;
            }
        }
        Ok(())
    }

    async fn read(&self, partition_key: &str, row_key: &str) -> Result<Option<Entity>> {
        self.table.get_if_exists(partition_key, row_key).await
    }
}

impl<T> fmt::Debug for LargeEntities<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, container, intents, .. } = self;
        let mut shown = f.debug_struct("LargeEntities");
        shown.field("table", &table.name()).field("container", &container.name()).field("intents", intents).finish()
    }
}

// A derived Clone would require T: Clone.
impl<T> Clone for LargeEntities<T> {
    fn clone(&self) -> Self {
        let Self { table, container, intents, .. } = self;
        let (table, container, intents) = (table.clone(), container.clone(), intents.clone());
        Self { table, container, intents, entity: PhantomData }
    }
}
