//! Wide entities: one logical entity in several physical ones, for more properties or bytes than one can hold. All
//! parts are in one partition, and one group transaction writes them.

use std::fmt;
use std::marker::PhantomData;

use tablerock_client::{Entity, Error, Etag, Property, Result, TableClient, TableEntity, TableOperation};

use crate::optimistic::{Attempts, is_conflict, random};
use crate::wide_parts::{OWN, PARTS, PARTS_MAX, VERSION, i32_of, join, part_key, parts_of, split};
use crate::writes::{EntityDelete, EntityWrite, Expected, fail_on_absence, fail_on_version, read_properties};

/// Entities of up to about 4 MiB, the size of a group transaction.
///
/// ```no_run
/// # use tablerock_client::{Entity, TableClient};
/// # use tablerock_patterns::WideEntities;
/// # async fn example(table: TableClient) -> tablerock_client::Result<()> {
/// let surveys = WideEntities::new(table);
/// let mut survey = Entity::new("Sales", "000123");
/// for question in 0..1000 {
///     survey.set(format!("Q{question}"), "yes");
/// }
/// survey.etag = Some(surveys.insert(&survey).await?);
/// survey.set("Q7", "no");
/// survey.etag = Some(surveys.replace(&survey).await?); // fails with 412 if another writer was faster
/// let survey: Option<Entity> = surveys.get_if_exists("Sales", "000123").await?;
/// # Ok(()) }
/// ```
pub struct WideEntities<T = Entity> {
    table: TableClient,
    entity: PhantomData<fn() -> T>,
}

impl<T: TableEntity> WideEntities<T> {
    /// Returns the wide entities of a table.
    pub fn new(table: TableClient) -> Self {
        Self { table, entity: PhantomData }
    }

    /// Returns the table, which has the parts.
    pub fn table(&self) -> &TableClient {
        &self.table
    }

    /// Creates the table unless it exists.
    pub async fn create_if_not_exists(&self) -> Result<()> {
        self.table.create_if_not_exists().await.map(drop)
    }

    /// Reads an entity from its parts; `None` if it does not exist. Its ETag is that of the first part, which every
    /// write changes.
    pub async fn get_if_exists(&self, partition_key: &str, row_key: &str) -> Result<Option<T>> {
        let whole = self.read(partition_key, row_key).await?;
        Ok(whole.map(T::from_entity).transpose()?)
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

    /// Deletes the version that was read, with all its parts. Fails with 412 if the entity has changed since.
    pub fn delete(&self, entity: &T) -> EntityDelete<'_> {
        EntityDelete::new(entity.to_entity(), |entity, expected| Box::pin(self.erase(entity, expected)))
    }

    /// Deletes an entity by its keys. It needs [`EntityDelete::if_match`] or [`EntityDelete::any_version`].
    pub fn delete_by_keys(&self, partition_key: impl Into<String>, row_key: impl Into<String>) -> EntityDelete<'_> {
        let entity = Entity::new(partition_key, row_key);
        EntityDelete::new(Ok(entity), |entity, expected| Box::pin(self.erase(entity, expected)))
    }

    async fn write(&self, entity: Entity, expected: Expected) -> Result<Etag> {
        let parts = split(&self.with_marks(&entity))?;
        let mut attempts = Attempts::new("the entity");
        loop {
            let first = self.first(&entity).await?;
            if let Some(first) = self.admit(first, &entity, &expected).await? {
                match self.write_parts(&entity, &parts, first.as_ref()).await {
                    Err(error) if expected.overwrites() && is_conflict(&error) => {}
                    outcome => return outcome,
                }
            }
            attempts.retry().await?;
        }
    }

    /// Returns the stored first part if it is as expected. An insert always reaches the service, which returns the
    /// error.
    async fn admit(
        &self,
        first: Option<Entity>,
        entity: &Entity,
        expected: &Expected,
    ) -> Result<Option<Option<Entity>>> {
        let key = part_key(&entity.row_key, 0);
        let keys = (entity.partition_key.as_str(), key.as_str());
        match (expected, &first) {
            (Expected::Absent, _) => return Ok(Some(None)),
            (Expected::Version(etag), Some(first)) if first.etag.as_ref() == Some(etag) => {}
            (Expected::Version(etag), _) => return fail_on_version(&self.table, keys, etag).await.map(|()| None),
            (Expected::Existing, None) => return fail_on_absence(&self.table, keys).await.map(|()| None),
            (Expected::Existing | Expected::Any, _) => {}
        }
        Ok(Some(first))
    }

    /// Writes all parts in one transaction, which requires the version of the stored first part.
    async fn write_parts(&self, entity: &Entity, parts: &[Entity], stored: Option<&Entity>) -> Result<Etag> {
        let version = random().cast_signed();
        let mut parts = parts.iter().map(|part| part.clone().with(VERSION, version));
        let first = parts.next().expect("an entity has a first part").with(PARTS, i32_of(parts.len() + 1));
        let first = match stored.and_then(|stored| stored.etag.clone()) {
            Some(etag) => TableOperation::replace(&first).if_match(etag),
            None => TableOperation::insert(&first),
        };
        let old = (parts.len() + 1)..stored.map(parts_of).transpose()?.unwrap_or_default();
        let old = old.map(|part| self.delete_part(entity, part));
        let transaction = self.table.transaction().operation(first);
        let transaction = transaction.operations(parts.map(|part| TableOperation::insert_or_replace(&part)));
        let etags = transaction.operations(old).commit().await?;
        let etag = etags.into_iter().next().flatten();
        etag.ok_or_else(|| Error::InvalidResponse("the first part has no ETag".to_owned()))
    }

    async fn erase(&self, entity: Entity, expected: Expected) -> Result<()> {
        let mut attempts = Attempts::new("the entity");
        loop {
            let first = self.first(&entity).await?;
            if let Some(Some(first)) = self.admit(first, &entity, &expected).await? {
                let others = (1..parts_of(&first)?).map(|part| self.delete_part(&entity, part));
                let group = self.table.transaction().delete(&first).operations(others);
                match group.commit().await {
                    Err(error) if expected.overwrites() && is_conflict(&error) => {}
                    outcome => return outcome.map(drop),
                }
            }
            attempts.retry().await?;
        }
    }

    fn delete_part(&self, entity: &Entity, part: usize) -> TableOperation {
        TableOperation::delete_by_keys(&entity.partition_key, part_key(&entity.row_key, part)).any_version()
    }

    /// Reads all parts, and reads again if they are of different versions.
    async fn read(&self, partition_key: &str, row_key: &str) -> Result<Option<Entity>> {
        let mut attempts = Attempts::new("the entity");
        loop {
            let (from, to) = (part_key(row_key, 0), part_key(row_key, PARTS_MAX));
            let found = self.table.query::<Entity>().partition(partition_key).row_range(from..to).all().await?;
            // The key of another entity may begin with the key of a part.
            let parts = found.into_iter().filter(|part| part.row_key.len() == part_key(row_key, 0).len());
            if let Some(whole) = join(partition_key, row_key, parts.collect())? {
                return Ok(whole);
            }
            attempts.retry().await?;
        }
    }

    /// Marks the properties that the encryption resolver selects by the keys of the entity: it may not select them by
    /// the keys of the parts.
    fn with_marks(&self, entity: &Entity) -> Entity {
        let mut marked = entity.clone();
        for Property { name, .. } in entity.properties() {
            if self.table.encrypts(&entity.partition_key, &entity.row_key, name) {
                marked.mark_encrypted(name.to_string());
            }
        }
        marked
    }

    /// Reads the ETag of the first part and the number of parts.
    async fn first(&self, entity: &Entity) -> Result<Option<Entity>> {
        read_properties(&self.table, (&entity.partition_key, &part_key(&entity.row_key, 0)), &OWN).await
    }
}

impl<T> fmt::Debug for WideEntities<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WideEntities").field("table", &self.table.name()).finish_non_exhaustive()
    }
}

// A derived Clone would require T: Clone.
impl<T> Clone for WideEntities<T> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), entity: PhantomData }
    }
}
