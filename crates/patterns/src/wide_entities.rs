//! Wide entities: one logical entity in several physical ones, for more properties or bytes than one can hold. All
//! parts are in one partition, and one group transaction writes them.

use std::fmt;
use std::marker::PhantomData;

use tablerock_client::{Entity, Error, Etag, Property, Result, TableClient, TableEntity, TableOperation};

use crate::optimistic::{Attempts, is_conflict, random};
use crate::verbs::entity_verbs;
use crate::wide_parts::{OWN, PARTS, PARTS_MAX, VERSION, i32_of, join, part_key, parts_of, split};
use crate::writes::{EntityDelete, EntityWrite, Expected, is_expected, read_properties};

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

    entity_verbs!();

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
        if *expected == Expected::Absent {
            return Ok(Some(None));
        }
        let key = part_key(&entity.row_key, 0);
        let is_admitted = is_expected(&self.table, (&entity.partition_key, &key), first.as_ref(), expected).await?;
        Ok(is_admitted.then_some(first))
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
