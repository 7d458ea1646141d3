//! The intra-partition secondary index: the same entity under several RowKeys of its partition, kept equal by group
//! transactions.

use std::fmt;
use std::sync::Arc;

use tablerock_client::{Entity, Error, Property, Result, TableClient, TableEntity, Write};

type RowKeys = dyn Fn(&Entity) -> Vec<String> + Send + Sync;

/// Writes an entity and its copies as one. Whoever looks it up by another property reads one entity by its keys, in the
/// place of the partition.
///
/// The first RowKey is the entity's own. It decides: every change holds against its version, and since all changes go
/// through it, the copies are never changed by two writers at once. A copy's key that another entity has is refused
/// with 409, which makes the index a unique one.
///
/// ```no_run
/// use tablerock_client::{Entity, TableClient};
/// use tablerock_patterns::CopiesInPartition;
///
/// # async fn example(people: TableClient) -> tablerock_client::Result<()> {
/// let people = CopiesInPartition::new(people, |entity| {
///     let text = |name| entity.property::<String>(name).unwrap_or_default();
///     vec![format!("empid_{}", text("Id")), format!("email_{}", text("Email"))]
/// });
/// people.insert(&Entity::new("Sales", "").with("Id", "000123").with("Email", "jonesj@contoso.com")).await?;
/// let jones: Entity = people.table().get("Sales", "email_jonesj@contoso.com").await?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct CopiesInPartition {
    table: TableClient,
    row_keys: Arc<RowKeys>,
}

impl CopiesInPartition {
    /// A table, and the RowKeys of an entity by its properties: its own first, then those of its copies.
    pub fn new(table: TableClient, row_keys: impl Fn(&Entity) -> Vec<String> + Send + Sync + 'static) -> Self {
        Self { table, row_keys: Arc::new(row_keys) }
    }

    /// The table, for reading.
    pub fn table(&self) -> &TableClient {
        &self.table
    }

    /// Adds an entity and its copies; its own RowKey is made from its properties.
    pub async fn insert(&self, entity: &impl TableEntity) -> Result<()> {
        let mut entity = entity.to_entity()?;
        let keys = self.keys(&entity)?;
        self.mark_secrets(&mut entity, &keys);
        let writes = keys.into_iter().map(|key| Write::insert(&copy(&entity, key)));
        self.table.transaction().writes(writes).commit().await.map(drop)
    }

    /// Puts an entity in the place of the version that was read under its own RowKey, with all its copies. Copies whose
    /// keys it has no more are gone.
    pub async fn replace(&self, read: &Entity, changed: &impl TableEntity) -> Result<()> {
        let mut changed = changed.to_entity()?;
        let (before, after) = (self.keys(read)?, self.keys(&changed)?);
        self.mark_secrets(&mut changed, &after);
        if before[0] != after[0] || read.row_key != before[0] || read.partition_key != changed.partition_key {
            return Err(Error::Invalid("an entity keeps its own keys; to move it, delete it and insert it".to_owned()));
        }
        let mut own = copy(&changed, after[0].clone());
        own.etag.clone_from(&read.etag);
        let gone = before.iter().filter(|key| !after.contains(key));
        let gone = gone.map(|key| Write::delete_at(&read.partition_key, key).any_version());
        let copies = after[1..].iter().map(|key| match before.contains(key) {
            true => Write::insert_or_replace(&copy(&changed, key.clone())),
            false => Write::insert(&copy(&changed, key.clone())),
        });
        self.table.transaction().replace(&own).writes(gone).writes(copies).commit().await.map(drop)
    }

    /// Deletes the version that was read under its own RowKey, and all its copies.
    pub async fn delete(&self, read: &Entity) -> Result<()> {
        let keys = self.keys(read)?;
        if read.row_key != keys[0] {
            return Err(Error::Invalid("the entity was read under the key of a copy".to_owned()));
        }
        let copies = keys[1..].iter().map(|key| Write::delete_at(&read.partition_key, key).any_version());
        self.table.transaction().delete(read).writes(copies).commit().await.map(drop)
    }

    /// What is a secret under one of the keys is one under all of them.
    fn mark_secrets(&self, entity: &mut Entity, row_keys: &[String]) {
        let is_secret = |name: &str| row_keys.iter().any(|key| self.table.encrypts(&entity.partition_key, key, name));
        let names = entity.properties().iter().map(|Property { name, .. }| name.to_string());
        let secrets: Vec<String> = names.filter(|name| is_secret(name)).collect();
        secrets.into_iter().for_each(|name| entity.mark_encrypted(name));
    }

    fn keys(&self, entity: &Entity) -> Result<Vec<String>> {
        let keys = (self.row_keys)(entity);
        if keys.is_empty() { Err(Error::Invalid("the entity has no RowKey".to_owned())) } else { Ok(keys) }
    }
}

fn copy(entity: &Entity, row_key: String) -> Entity {
    entity.copy_at(&entity.partition_key, row_key)
}

impl fmt::Debug for CopiesInPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CopiesInPartition").field("table", &self.table.name()).finish_non_exhaustive()
    }
}
