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

use crate::intents::{Intents, PendingIntent, WorkOutcome};
use crate::large_values::{
    BlobUpdate, OWN, PENDING, REFERENCES, Reference, References, VALUE_BYTES_MAX, is_placeholder, references, size,
    take_references,
};
use crate::optimistic::{Attempts, is_conflict, unless_conflict};
use crate::verbs::{entity_verbs, worker_verbs};
use crate::worker::{WorkCounts, Worker};
use crate::writes::{EntityDelete, EntityWrite, Expected, fail_on_absence, is_expected};

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

    entity_verbs!();

    worker_verbs!();

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
        // A placeholder is not an entity. The service has a 404 for a key that does not exist.
        if *expected == Expected::Existing && before.is_some_and(is_placeholder) {
            let absent = format!("{}_{PENDING}", entity.row_key);
            return fail_on_absence(&self.table, (keys.0, &absent)).await.map(|()| false);
        }
        is_expected(&self.table, keys, before, expected).await
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
                Err(error) => {
                    return self.intents.settle(pending, Err(error), |update| self.delete_unused(update)).await;
                }
            };
        }
        let Some((pending, small)) = self.upload_values(pending, entity, large).await? else { return Ok(None) };
        let written = match etag {
            Some(etag) => self.table.replace(&small).if_match(etag).await,
            None => self.table.insert(&small).await,
        };
        let settled = self.intents.settle(pending, written, |update| self.delete_unused(update)).await;
        settled.map(Some)
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
                match self.intents.settle(pending, deleted, |update| self.delete_unused(update)).await {
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
                None => return self.delete_unused(pending.intent).await.map(|()| None),
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

    /// Gives the entity a new version first: a writer that is slow and not dead can then no longer add references to
    /// its blobs.
    async fn resume(&self, update: BlobUpdate) -> Result<()> {
        let (partition_key, row_key) = &update.entity;
        let entity = self.read(partition_key, row_key).await?;
        if let Some(entity) = entity.filter(|entity| !update.is_placeholder(entity)) {
            unless_conflict(self.table.replace(&entity).await)?;
        }
        self.delete_unused(update).await
    }

    /// Deletes the placeholder of an intent, and then its old and new blobs without a reference.
    async fn delete_unused(&self, update: BlobUpdate) -> Result<()> {
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
