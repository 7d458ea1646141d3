//! Large entities: values that are too large for a property are in blobs, and the entity has references to them. A blob
//! exists before the entity refers to it, and until it no longer does.
//!
//! An intent around each write records the blobs that may become unused. A worker that deletes them has to know that no
//! slow writer adds a reference later. So this write always requires a version: it fails once the worker has given the
//! entity another one. A new entity has a placeholder as its first version.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tablerock_client::transport::RESPONSE_BYTES_MAX;
use tablerock_client::{ContainerClient, Entity, Error, Etag, Property, QueueClient, Result, TableClient, Value};

use crate::intents::{Claimed, Intents, PendingIntent, WorkOutcome};
use crate::optimistic::{Attempts, unless_conflict};

/// The property with the references to blobs.
const REFERENCES: &str = "LargeValues";
/// The property of a placeholder with the id of the writer's intent.
const PENDING: &str = "LargePending";
const OWN: [&str; 2] = [REFERENCES, PENDING];
/// The size above which a value is stored in a blob: half of the 64 KiB that a property holds.
const VALUE_BYTES_MAX: usize = 32 * 1024;

/// Entities with values of up to 64 MiB each. Every write stores a value in a new blob, which never changes. A reader
/// gets the values of the version that it has read, or reads again if a blob no longer exists.
///
/// Values in blobs are not encrypted, so a large value marked for encryption is rejected.
///
/// A reader of the table itself may find the placeholder of a new entity, which has only the property `LargePending`.
///
/// ```no_run
/// # use tablerock_client::{BlobServiceClient, Entity, QueueServiceClient, TableClient};
/// # use tablerock_patterns::LargeEntities;
/// # async fn example(people: TableClient, blobs: BlobServiceClient, queues: QueueServiceClient, photo: Vec<u8>)
/// #     -> tablerock_client::Result<()> {
/// let (queue, poison) = (queues.queue("photos"), queues.queue("photos-poison"));
/// let people = LargeEntities::new(people, blobs.container("photos"), queue, poison);
/// people.put(&Entity::new("Sales", "000123").with("Name", "Jones").with("Photo", photo)).await?;
/// let jones = people.get("Sales", "000123").await?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct LargeEntities {
    table: TableClient,
    container: ContainerClient,
    intents: Intents<BlobUpdate>,
}

/// The intent of a change: the entity, and the blobs that may become unused.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct BlobUpdate {
    entity: (String, String),
    /// The blobs that the entity refers to before the change.
    old: Vec<String>,
    /// The properties with values in new blobs.
    new: Vec<String>,
}

/// The blob of a value, and its type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Reference {
    blob: String,
    is_text: bool,
}

type References = BTreeMap<String, Reference>;

impl LargeEntities {
    /// Returns entities in a table, with large values in a container. Intents are in a queue, and failed ones in a
    /// poison queue.
    pub fn new(table: TableClient, container: ContainerClient, queue: QueueClient, poison: QueueClient) -> Self {
        Self { table, container, intents: Intents::new(queue, poison) }
    }

    /// Changes the settings of the intents.
    #[must_use]
    pub fn with_intents(mut self, change: impl FnOnce(Intents<()>) -> Intents<()>) -> Self {
        self.intents = self.intents.map_settings(change);
        self
    }

    /// Creates the container and the queues unless they exist.
    pub async fn create_if_not_exists(&self) -> Result<()> {
        self.container.create_if_not_exists().await?;
        self.intents.create_queues_if_not_exist().await
    }

    /// Inserts an entity, or replaces any existing version.
    pub async fn put(&self, entity: &Entity) -> Result<()> {
        let large = self.large_properties(entity)?;
        let mut attempts = Attempts::new("the entity");
        while self.put_once(entity, &large).await?.is_none() {
            attempts.retry().await?;
        }
        Ok(())
    }

    /// Makes one attempt. Returns `None` if another writer was faster.
    async fn put_once(&self, entity: &Entity, large: &[&Property<'static>]) -> Result<Option<()>> {
        let before = self.read(&entity.partition_key, &entity.row_key).await?;
        let new = large.iter().map(|property| property.name.to_string()).collect();
        let pending = self.begin(entity, before.as_ref(), new).await?;
        let mut etag = before.and_then(|before| before.etag);
        if etag.is_none() && !large.is_empty() {
            etag = unless_conflict(self.insert_placeholder(entity, pending.id()).await)?;
            if etag.is_none() {
                self.finish(pending).await?;
                return Ok(None);
            }
        }
        let Some((pending, small)) = self.upload_values(pending, entity, large).await? else { return Ok(None) };
        let written = match etag {
            Some(etag) => self.table.replace(&small).if_match(etag).await,
            None => self.table.insert(&small).await,
        };
        let written = unless_conflict(written)?;
        self.finish(pending).await?;
        Ok(written.map(drop))
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

    /// Reads an entity with all its values; `None` if it does not exist.
    pub async fn get(&self, partition_key: &str, row_key: &str) -> Result<Option<Entity>> {
        let mut attempts = Attempts::new("the entity");
        loop {
            let Some(mut entity) = self.read_complete(partition_key, row_key).await? else { return Ok(None) };
            if self.download_values(&mut entity).await?.is_some() {
                return Ok(Some(entity));
            }
            attempts.retry().await?;
        }
    }

    /// Deletes an entity with all its values. Returns whether it existed.
    pub async fn delete(&self, partition_key: &str, row_key: &str) -> Result<bool> {
        let mut attempts = Attempts::new("the entity");
        loop {
            let Some(before) = self.read_complete(partition_key, row_key).await? else { return Ok(false) };
            let pending = self.begin(&before, Some(&before), Vec::new()).await?;
            let deleted = unless_conflict(self.table.delete(&before).await)?;
            self.finish(pending).await?;
            if deleted.is_some() {
                return Ok(true);
            }
            attempts.retry().await?;
        }
    }

    /// Resumes one intent that a writer has not finished, and deletes unused blobs. A worker calls this in a loop.
    pub async fn work_once(&self) -> Result<WorkOutcome> {
        let pending = match self.intents.claim().await? {
            Claimed::Intent(pending) => pending,
            Claimed::Nothing => return Ok(WorkOutcome::Nothing),
            Claimed::Poisoned => return Ok(WorkOutcome::Poisoned),
        };
        let outcome = self.resume(&pending).await;
        self.intents.complete(pending, outcome).await
    }

    async fn begin(
        &self,
        entity: &Entity,
        before: Option<&Entity>,
        new: Vec<String>,
    ) -> Result<PendingIntent<BlobUpdate>> {
        let old = before.map(references).transpose()?.unwrap_or_default();
        let old = old.into_values().map(|reference| reference.blob).collect();
        let entity = (entity.partition_key.clone(), entity.row_key.clone());
        self.intents.begin(BlobUpdate { entity, old, new }).await
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
            let blob = blob_name(pending.id(), name);
            self.container.blob(&blob).upload(content).await?;
            small.remove(name);
            references.insert(name.to_string(), Reference { blob, is_text });
            match unless_conflict(self.intents.renew(pending.clone()).await)? {
                Some(renewed) => pending = renewed,
                // The worker may have deleted the blobs before this one existed.
                None => return self.delete_unused(&pending).await.map(|()| None),
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
        self.delete_unused(&pending).await?;
        self.intents.finish(pending).await
    }

    /// Gives the entity a new version first: a writer that is slow and not dead can then no longer add references to
    /// its blobs.
    async fn resume(&self, pending: &PendingIntent<BlobUpdate>) -> Result<()> {
        let (partition_key, row_key) = &pending.intent.entity;
        let entity = self.read(partition_key, row_key).await?;
        if let Some(entity) = entity.filter(|entity| !is_placeholder_of(entity, pending)) {
            unless_conflict(self.table.replace(&entity).await)?;
        }
        self.delete_unused(pending).await
    }

    /// Deletes the placeholder of an intent, and then its old and new blobs without a reference.
    async fn delete_unused(&self, pending: &PendingIntent<BlobUpdate>) -> Result<()> {
        let BlobUpdate { entity: (partition_key, row_key), old, new } = &pending.intent;
        let mut entity = self.read(partition_key, row_key).await?;
        if let Some(placeholder) = entity.take_if(|entity| is_placeholder_of(entity, pending)) {
            unless_conflict(self.table.delete(&placeholder).await)?;
            entity = self.read(partition_key, row_key).await?;
        }
        let used = entity.as_ref().map(references).transpose()?.unwrap_or_default();
        let new = new.iter().map(|name| blob_name(pending.id(), name));
        for blob in old.iter().cloned().chain(new) {
            if !used.values().any(|reference| reference.blob == blob) {
                self.container.blob(&blob).delete().if_exists().await?;
            }
        }
        Ok(())
    }

    async fn read(&self, partition_key: &str, row_key: &str) -> Result<Option<Entity>> {
        self.table.get_if_exists(partition_key, row_key).await
    }

    /// Reads an entity, unless it is a placeholder.
    async fn read_complete(&self, partition_key: &str, row_key: &str) -> Result<Option<Entity>> {
        Ok(self.read(partition_key, row_key).await?.filter(|entity| entity.get(PENDING).is_none()))
    }
}

fn is_placeholder_of(entity: &Entity, pending: &PendingIntent<BlobUpdate>) -> bool {
    matches!(entity.get(PENDING), Some(Value::String(id)) if id == pending.id())
}

/// Returns the size of a value that can be stored in a blob.
fn size(value: &Value<'_>) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Binary(bytes) => bytes.len(),
        _ => 0,
    }
}

fn references(entity: &Entity) -> Result<References> {
    let text: Option<String> = entity.property(REFERENCES)?;
    let references = text.map(|text| serde_json::from_str(&text)).transpose();
    references
        .map(Option::unwrap_or_default)
        .map_err(|error| Error::InvalidResponse(format!("the property {REFERENCES} is invalid: {error}")))
}

fn take_references(entity: &mut Entity) -> Result<References> {
    let references = references(entity)?;
    entity.remove(REFERENCES);
    Ok(references)
}

fn blob_name(id: &str, property: &str) -> String {
    format!("{id}/{property}")
}
