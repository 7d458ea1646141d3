//! Large entities: values that are too large for a property lie in blobs, to which the entity refers. A blob is there
//! before the entity refers to it, and until after it does no more.
//!
//! An intent around each write names the blobs that may be left over. Whoever removes those has to be sure that no slow
//! writer makes the entity refer to them afterwards. So the write that does is always one over a version that was seen:
//! once the entity has another version, it is refused. A new entity gets such a version by a placeholder.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tablerock_client::transport::ANSWER_BYTES_MAX;
use tablerock_client::{ContainerClient, Entity, Error, Etag, Property, QueueClient, Result, TableClient, Value};

use crate::intents::{Begun, Intents, Resumed, Taken};
use crate::optimistic::{Tries, unless_lost};

/// Where an entity says which of its values are in which blobs.
const REFERENCES: &str = "LargeValues";
/// In a placeholder: the intent of the writer that is about to put the entity there.
const PENDING: &str = "LargePending";
const OWN: [&str; 2] = [REFERENCES, PENDING];
/// Values of more bytes go to blobs. Twice as much is what a property of text can hold in UTF-8.
const VALUE_BYTES_MAX: usize = 32 * 1024;

/// Entities with values of up to 64 MiB each. A value's blob has a name of its own for every write, made from the intent's
/// id, so it never changes: whoever has read the entity reads the values that belong to it, or finds them gone and reads
/// again. Values in blobs are not encrypted, so one that the table's client would encrypt is refused.
///
/// Whoever reads the table itself may meet the placeholder of an entity that is just being put, which has the property
/// `LargePending` and no other.
///
/// ```no_run
/// # use tablerock_client::{BlobServiceClient, Entity, QueueServiceClient, TableClient};
/// # use tablerock_patterns::LargeEntities;
/// # async fn example(people: TableClient, blobs: BlobServiceClient, queues: QueueServiceClient, photo: Vec<u8>)
/// #     -> tablerock_client::Result<()> {
/// let people = LargeEntities::new(people, blobs.container("photos"), queues.queue("photos"), queues.queue("photos-poison"));
/// people.put(&Entity::new("Sales", "000123").with("Name", "Jones").with("Photo", photo)).await?;
/// let jones = people.get("Sales", "000123").await?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct LargeEntities {
    table: TableClient,
    container: ContainerClient,
    intents: Intents<Change>,
}

/// An entity that is about to change, and the blobs that nobody may need afterwards.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Change {
    entity: (String, String),
    /// What it refers to before.
    old: Vec<String>,
    /// The properties whose values are put into blobs of this intent.
    new: Vec<String>,
}

/// Where a value is, and what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Reference {
    blob: String,
    is_text: bool,
}

type References = BTreeMap<String, Reference>;

impl LargeEntities {
    /// A table for entities, a container for their large values, and queues for intents.
    pub fn new(table: TableClient, container: ContainerClient, queue: QueueClient, poison: QueueClient) -> Self {
        Self { table, container, intents: Intents::new(queue, poison) }
    }

    /// The same with other settings for its queue.
    #[must_use]
    pub fn with_intents(mut self, change: impl FnOnce(Intents<()>) -> Intents<()>) -> Self {
        self.intents = self.intents.map_settings(change);
        self
    }

    /// Creates the container and the queues unless they exist.
    pub async fn create_if_not_exists(&self) -> Result<()> {
        self.container.create_if_not_exists().await?;
        self.intents.create_if_not_exists().await
    }

    /// Adds an entity or replaces whatever version there is.
    pub async fn put(&self, entity: &Entity) -> Result<()> {
        let large = self.large_properties(entity)?;
        let mut tries = Tries::to_change("the entity");
        while self.put_once(entity, &large).await?.is_none() {
            tries.lost().await?;
        }
        Ok(())
    }

    /// `None` if somebody else was faster.
    async fn put_once(&self, entity: &Entity, large: &[&Property<'static>]) -> Result<Option<()>> {
        let before = self.read(&entity.partition_key, &entity.row_key).await?;
        let new = large.iter().map(|property| property.name.to_string()).collect();
        let begun = self.begin(entity, before.as_ref(), new).await?;
        let mut over = before.and_then(|before| before.etag);
        if over.is_none() && !large.is_empty() {
            over = unless_lost(self.insert_placeholder(entity, begun.id()).await)?;
            if over.is_none() {
                self.end(begun).await?;
                return Ok(None);
            }
        }
        let Some((begun, small)) = self.put_values(begun, entity, large).await? else { return Ok(None) };
        let written = match over {
            Some(etag) => self.table.replace(&small).if_match(etag).await,
            None => self.table.insert(&small).await,
        };
        let written = unless_lost(written)?;
        self.end(begun).await?;
        Ok(written.map(drop))
    }

    /// Before the intent is renewed for the last time: a worker that does not find the placeholder has taken the intent,
    /// and then renewing fails.
    async fn insert_placeholder(&self, entity: &Entity, id: &str) -> Result<Etag> {
        self.table.insert(&Entity::new(&entity.partition_key, &entity.row_key).with(PENDING, id)).await
    }

    /// The properties whose values go to blobs.
    fn large_properties<'e>(&self, entity: &'e Entity) -> Result<Vec<&'e Property<'static>>> {
        let refused = |name: &str, why: String| Err(Error::Invalid(format!("property {name} {why}")));
        if let Some(name) = OWN.into_iter().find(|name| entity.get(name).is_some()) {
            return refused(name, "has a name that is used for references to large values".to_owned());
        }
        let large = entity.properties().iter().filter(|property| size(&property.value) > VALUE_BYTES_MAX);
        let large: Vec<&Property<'_>> = large.collect();
        for Property { name, value } in &large {
            if self.is_secret(entity, name) {
                return refused(name, "is to be encrypted, and values in blobs are not".to_owned());
            }
            if size(value) > ANSWER_BYTES_MAX {
                return refused(name, format!("has {} bytes, of at most {ANSWER_BYTES_MAX}", size(value)));
            }
        }
        Ok(large)
    }

    fn is_secret(&self, entity: &Entity, name: &str) -> bool {
        entity.encrypted().any(|marked| marked == name)
            || self.table.encrypts(&entity.partition_key, &entity.row_key, name)
    }

    /// Reads an entity with all its values.
    pub async fn get(&self, partition_key: &str, row_key: &str) -> Result<Option<Entity>> {
        let mut tries = Tries::to_change("the entity");
        loop {
            let Some(mut entity) = self.read_put(partition_key, row_key).await? else { return Ok(None) };
            if self.fill_in(&mut entity).await?.is_some() {
                return Ok(Some(entity));
            }
            tries.lost().await?;
        }
    }

    /// Deletes an entity with all its values. Returns whether it was there.
    pub async fn delete(&self, partition_key: &str, row_key: &str) -> Result<bool> {
        let mut tries = Tries::to_change("the entity");
        loop {
            let Some(before) = self.read_put(partition_key, row_key).await? else { return Ok(false) };
            let begun = self.begin(&before, Some(&before), Vec::new()).await?;
            let deleted = unless_lost(self.table.delete(&before).await)?;
            self.end(begun).await?;
            if deleted.is_some() {
                return Ok(true);
            }
            tries.lost().await?;
        }
    }

    /// Removes what a writer has left.
    pub async fn work_once(&self) -> Result<Resumed> {
        let begun = match self.intents.take().await? {
            Taken::Intent(begun) => begun,
            Taken::Nothing => return Ok(Resumed::Nothing),
            Taken::Poison => return Ok(Resumed::Poisoned),
        };
        let outcome = self.resume(&begun).await;
        self.intents.conclude(begun, outcome).await
    }

    async fn begin(&self, entity: &Entity, before: Option<&Entity>, new: Vec<String>) -> Result<Begun<Change>> {
        let old = before.map(references).transpose()?.unwrap_or_default();
        let old = old.into_values().map(|reference| reference.blob).collect();
        let entity = (entity.partition_key.clone(), entity.row_key.clone());
        self.intents.begin(Change { entity, old, new }).await
    }

    /// Puts large values into blobs and returns the entity that refers to them; `None` if it took so long that a worker has
    /// resumed the intent.
    async fn put_values(
        &self,
        mut begun: Begun<Change>,
        entity: &Entity,
        large: &[&Property<'static>],
    ) -> Result<Option<(Begun<Change>, Entity)>> {
        let mut small = entity.clone();
        let mut references = References::new();
        for Property { name, value } in large {
            let (content, is_text) = match value {
                Value::String(text) => (text.as_bytes().to_vec(), true),
                Value::Binary(bytes) => (bytes.to_vec(), false),
                _ => continue,
            };
            let blob = blob_name(begun.id(), name);
            self.container.blob(&blob).put(content).await?;
            small.remove(name);
            references.insert(name.to_string(), Reference { blob, is_text });
            match unless_lost(self.intents.renew(begun.clone()).await)? {
                Some(renewed) => begun = renewed,
                // The worker may have been there before the blob was.
                None => return self.remove_unneeded(&begun).await.map(|()| None),
            }
        }
        if !references.is_empty() {
            let text = serde_json::to_string(&references).map_err(|error| Error::Invalid(error.to_string()))?;
            small.set(REFERENCES, text);
        }
        Ok(Some((begun, small)))
    }

    /// Gets the values that an entity refers to; `None` if one is gone, because the entity has changed since.
    async fn fill_in(&self, entity: &mut Entity) -> Result<Option<()>> {
        for (name, Reference { blob, is_text }) in take_references(entity)? {
            let Some(value) = self.container.blob(&blob).get_if_exists().await? else { return Ok(None) };
            let value = match is_text {
                true => Value::from(String::from_utf8_lossy(&value.content).into_owned()),
                false => Value::Binary(value.content.to_vec().into()),
            };
            entity.set(name, value);
        }
        Ok(Some(()))
    }

    async fn end(&self, begun: Begun<Change>) -> Result<()> {
        self.remove_unneeded(&begun).await?;
        self.intents.finish(begun).await
    }

    /// The writer of an intent may be slow, not dead. What it still wants to write is refused once the entity has a version
    /// that it has not seen; only then can nobody refer to its blobs any more.
    async fn resume(&self, begun: &Begun<Change>) -> Result<()> {
        let (partition_key, row_key) = &begun.intent.entity;
        let entity = self.read(partition_key, row_key).await?;
        if let Some(entity) = entity.filter(|entity| !is_placeholder_of(entity, begun)) {
            unless_lost(self.table.replace(&entity).await)?;
        }
        self.remove_unneeded(begun).await
    }

    /// Deletes the blobs of an intent, old and new, that the entity does not refer to, and before them the placeholder, if
    /// it is still there.
    async fn remove_unneeded(&self, begun: &Begun<Change>) -> Result<()> {
        let Change { entity: (partition_key, row_key), old, new } = &begun.intent;
        let mut entity = self.read(partition_key, row_key).await?;
        if let Some(placeholder) = entity.take_if(|entity| is_placeholder_of(entity, begun)) {
            unless_lost(self.table.delete(&placeholder).await)?;
            entity = self.read(partition_key, row_key).await?;
        }
        let needed = entity.as_ref().map(references).transpose()?.unwrap_or_default();
        let new = new.iter().map(|name| blob_name(begun.id(), name));
        for blob in old.iter().cloned().chain(new) {
            if !needed.values().any(|reference| reference.blob == blob) {
                self.container.blob(&blob).delete().if_exists().await?;
            }
        }
        Ok(())
    }

    async fn read(&self, partition_key: &str, row_key: &str) -> Result<Option<Entity>> {
        self.table.get_if_exists(partition_key, row_key).await
    }

    /// An entity that has been put; a placeholder is none yet.
    async fn read_put(&self, partition_key: &str, row_key: &str) -> Result<Option<Entity>> {
        Ok(self.read(partition_key, row_key).await?.filter(|entity| entity.get(PENDING).is_none()))
    }
}

fn is_placeholder_of(entity: &Entity, begun: &Begun<Change>) -> bool {
    matches!(entity.get(PENDING), Some(Value::String(id)) if id == begun.id())
}

/// The bytes of a value that can go to a blob.
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
    references.map(Option::unwrap_or_default).map_err(|error| Error::Answer(format!("{REFERENCES}: {error}")))
}

fn take_references(entity: &mut Entity) -> Result<References> {
    let references = references(entity)?;
    entity.remove(REFERENCES);
    Ok(references)
}

fn blob_name(id: &str, property: &str) -> String {
    format!("{id}/{property}")
}
