//! The intra-partition secondary index: copies of an entity under other RowKeys of its partition, written in one group
//! transaction.

use std::fmt;
use std::sync::Arc;

use tablerock_client::{Entity, Error, Property, Result, TableClient, TableEntity, TableOperation};

type RowKeys = dyn Fn(&Entity) -> Vec<String> + Send + Sync;

/// A table with copies of each entity in its partition. A lookup by another property is a point read instead of a scan
/// of the partition.
///
/// The first RowKey is the entity's own. Every change requires the version under this key, so two writers never change
/// the copies at the same time. The index is unique: an insert with a copy key of another entity fails with 409.
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
    /// Returns a table whose entities have the RowKeys that a function returns: its own first, then those of its
    /// copies.
    pub fn new(table: TableClient, row_keys: impl Fn(&Entity) -> Vec<String> + Send + Sync + 'static) -> Self {
        Self { table, row_keys: Arc::new(row_keys) }
    }

    /// Returns the table, for reading.
    pub fn table(&self) -> &TableClient {
        &self.table
    }

    /// Inserts an entity and its copies. The function of [`new`](Self::new) determines all RowKeys.
    pub async fn insert(&self, entity: &impl TableEntity) -> Result<()> {
        let mut entity = entity.to_entity()?;
        let keys = self.keys(&entity)?;
        self.mark_secrets(&mut entity, &keys);
        let writes = keys.into_iter().map(|key| TableOperation::insert(&copy(&entity, key)));
        self.table.transaction().operations(writes).commit().await.map(drop)
    }

    /// Replaces the version that was read under its own RowKey, and its copies. Deletes copies with old keys.
    pub async fn replace(&self, read: &Entity, changed: &impl TableEntity) -> Result<()> {
        let mut changed = changed.to_entity()?;
        let (before, after) = (self.keys(read)?, self.keys(&changed)?);
        self.mark_secrets(&mut changed, &after);
        if before[0] != after[0] || read.row_key != before[0] || read.partition_key != changed.partition_key {
            return Err(Error::Invalid("an entity keeps its own keys: delete and insert it to change them".to_owned()));
        }
        let mut own = copy(&changed, after[0].clone());
        own.etag.clone_from(&read.etag);
        let old = before.iter().filter(|key| !after.contains(key));
        let old = old.map(|key| TableOperation::delete_by_keys(&read.partition_key, key).any_version());
        let copies = after[1..].iter().map(|key| match before.contains(key) {
            true => TableOperation::insert_or_replace(&copy(&changed, key.clone())),
            false => TableOperation::insert(&copy(&changed, key.clone())),
        });
        self.table.transaction().replace(&own).operations(old).operations(copies).commit().await.map(drop)
    }

    /// Deletes the version that was read under its own RowKey, and all its copies.
    pub async fn delete(&self, read: &Entity) -> Result<()> {
        let keys = self.keys(read)?;
        if read.row_key != keys[0] {
            return Err(Error::Invalid(
                "the entity was read under the key of a copy: read it under its own RowKey".to_owned(),
            ));
        }
        let copies = keys[1..].iter().map(|key| TableOperation::delete_by_keys(&read.partition_key, key).any_version());
        self.table.transaction().delete(read).operations(copies).commit().await.map(drop)
    }

    /// Marks a property for encryption in all copies if the resolver selects it under any of the keys.
    fn mark_secrets(&self, entity: &mut Entity, row_keys: &[String]) {
        let is_secret = |name: &str| row_keys.iter().any(|key| self.table.encrypts(&entity.partition_key, key, name));
        let names = entity.properties().iter().map(|Property { name, .. }| name.to_string());
        let secrets: Vec<String> = names.filter(|name| is_secret(name)).collect();
        secrets.into_iter().for_each(|name| entity.mark_encrypted(name));
    }

    fn keys(&self, entity: &Entity) -> Result<Vec<String>> {
        let keys = (self.row_keys)(entity);
        if keys.is_empty() {
            Err(Error::Invalid("the function of row keys returned none".to_owned()))
        } else {
            Ok(keys)
        }
    }
}

fn copy(entity: &Entity, row_key: String) -> Entity {
    entity.with_keys(&entity.partition_key, row_key)
}

impl fmt::Debug for CopiesInPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CopiesInPartition").field("table", &self.table.name()).finish_non_exhaustive()
    }
}
