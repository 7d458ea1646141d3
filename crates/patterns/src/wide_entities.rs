//! Wide entities: one logical entity in several physical ones, for more properties or bytes than one can hold. All
//! parts are in one partition, and one group transaction writes them.

use std::hash::{BuildHasher as _, RandomState};

use tablerock_client::{Entity, Error, Property, Result, TableClient, TableOperation, Value};

use crate::optimistic::{Attempts, unless_conflict};

/// The property of the first part with the number of parts.
const PARTS: &str = "WideParts";
/// The property of every part with the version of the whole, a random number. A counter would restart after a delete.
const VERSION: &str = "WideVersion";
const OWN: [&str; 2] = [PARTS, VERSION];

/// Less than the 252 properties of an entity, to allow for those of this module.
const PART_PROPERTIES_MAX: usize = 240;
/// Less than the 1 MiB of an entity, to allow for keys and names.
const PART_BYTES_MAX: usize = 900 * 1024;
/// Half of a group transaction, which also has to delete old parts.
const PARTS_MAX: usize = 50;

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
/// surveys.put(&survey).await?;
/// assert_eq!(surveys.get("Sales", "000123").await?, Some(survey));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct WideEntities {
    table: TableClient,
}

/// The first part and the number of parts.
struct Head {
    parts: usize,
    first: Entity,
}

impl WideEntities {
    /// Returns the wide entities of a table.
    pub fn new(table: TableClient) -> Self {
        Self { table }
    }

    /// Inserts an entity, or replaces any existing version.
    pub async fn put(&self, entity: &Entity) -> Result<()> {
        let parts = split(&self.with_marks(entity))?;
        let mut attempts = Attempts::new("the entity");
        loop {
            let head = self.head(&entity.partition_key, &entity.row_key).await?;
            let version = random_version();
            let mut parts = parts.iter().map(|part| part.clone().with(VERSION, version));
            let first = parts.next().expect("an entity has a first part").with(PARTS, i32_of(parts.len() + 1));
            let first = match &head {
                Some(Head { first: Entity { etag: Some(etag), .. }, .. }) => {
                    TableOperation::replace(&first).if_match(etag.clone())
                }
                _ => TableOperation::insert(&first),
            };
            let old = (parts.len() + 1)..head.as_ref().map_or(0, |head| head.parts);
            let old = old.map(|part| {
                TableOperation::delete_by_keys(&entity.partition_key, part_key(&entity.row_key, part)).any_version()
            });
            let transaction = self.table.transaction().operation(first);
            let transaction = transaction.operations(parts.map(|part| TableOperation::insert_or_replace(&part)));
            if unless_conflict(transaction.operations(old).commit().await)?.is_some() {
                return Ok(());
            }
            attempts.retry().await?;
        }
    }

    /// Reads an entity from its parts; `None` if it does not exist.
    pub async fn get(&self, partition_key: &str, row_key: &str) -> Result<Option<Entity>> {
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

    /// Deletes an entity with all its parts. Returns whether it existed.
    pub async fn delete(&self, partition_key: &str, row_key: &str) -> Result<bool> {
        let mut attempts = Attempts::new("the entity");
        loop {
            let Some(head) = self.head(partition_key, row_key).await? else { return Ok(false) };
            let others = (1..head.parts)
                .map(|part| TableOperation::delete_by_keys(partition_key, part_key(row_key, part)).any_version());
            let group = self.table.transaction().delete(&head.first).operations(others);
            if unless_conflict(group.commit().await)?.is_some() {
                return Ok(true);
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

    async fn head(&self, partition_key: &str, row_key: &str) -> Result<Option<Head>> {
        let first = self.table.get_selected_properties(partition_key, &part_key(row_key, 0), &OWN).await;
        match first {
            Ok(first) => {
                let parts = parts_of(&first)?;
                Ok(Some(Head { parts, first }))
            }
            Err(error) if error.code() == Some(tablerock_client::ErrorCode::ResourceNotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Joins parts to an entity, or `Some(None)` if there are none. Returns `None` if the parts are of different versions.
fn join(partition_key: &str, row_key: &str, parts: Vec<Entity>) -> Result<Option<Option<Entity>>> {
    let Some(first) = parts.first() else { return Ok(Some(None)) };
    let version: i64 = first.property(VERSION)?;
    if first.get(PARTS).is_none() || parts_of(first)? != parts.len() {
        return Ok(None);
    }
    let mut whole = Entity::new(partition_key, row_key);
    (whole.timestamp, whole.etag) = (first.timestamp, first.etag.clone());
    for part in parts {
        if part.property::<i64>(VERSION)? != version {
            return Ok(None);
        }
        part.encrypted_properties().for_each(|name| whole.mark_encrypted(name.to_owned()));
        for Property { name, value } in part.into_properties() {
            if !OWN.contains(&name.as_ref()) {
                whole.set(name, value);
            }
        }
    }
    Ok(Some(Some(whole)))
}

fn split(entity: &Entity) -> Result<Vec<Entity>> {
    let part = |index| Entity::new(&entity.partition_key, part_key(&entity.row_key, index));
    let mut parts = vec![part(0)];
    let mut bytes = 0;
    for Property { name, value } in entity.properties() {
        if OWN.contains(&name.as_ref()) {
            return Err(Error::Invalid(format!("the property name {name} is reserved: rename it")));
        }
        let size = property_bytes(name, value);
        let last = parts.last().expect("there is a first part");
        if last.properties().len() == PART_PROPERTIES_MAX || bytes + size > PART_BYTES_MAX {
            parts.push(part(parts.len()));
            bytes = 0;
        }
        bytes += size;
        let last = parts.last_mut().expect("there is a first part");
        last.set(name.as_ref(), value.clone());
        if entity.encrypted_properties().any(|marked| marked == name) {
            last.mark_encrypted(name.to_string());
        }
    }
    if parts.len() > PARTS_MAX {
        return Err(Error::Invalid(format!("the entity needs {} parts, more than {PARTS_MAX}", parts.len())));
    }
    Ok(parts)
}

/// Returns the size of a property: its name and its value, with two bytes for a UTF-16 unit.
fn property_bytes(name: &str, value: &Value<'_>) -> usize {
    let value = match value {
        Value::String(text) => text.encode_utf16().count() * 2,
        Value::Binary(bytes) => bytes.len(),
        _ => 16,
    };
    name.encode_utf16().count() * 2 + value + 8
}

/// Returns a random number: the standard library's hash keys come from the operating system.
fn random_version() -> i64 {
    RandomState::new().hash_one(()).cast_signed()
}

fn part_key(row_key: &str, part: usize) -> String {
    format!("{row_key}_w{part:02}")
}

fn parts_of(first: &Entity) -> Result<usize> {
    Ok(usize::try_from(first.property::<i32>(PARTS)?).unwrap_or_default())
}

fn i32_of(parts: usize) -> i32 {
    i32::try_from(parts).expect("parts are few")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_split_is_joined() {
        let mut wide = Entity::new("p", "r");
        for number in 0..1000 {
            wide.set(format!("P{number}"), number);
        }
        let mut parts: Vec<Entity> = split(&wide).unwrap().into_iter().map(|part| part.with(VERSION, 7_i64)).collect();
        assert_eq!(parts.len(), 5);
        parts[0].set(PARTS, 5);
        assert_eq!(join("p", "r", parts.clone()).unwrap(), Some(Some(wide)));
        let newer = parts[1].clone().with(VERSION, 8_i64);
        let torn = vec![parts[0].clone(), newer, parts[2].clone(), parts[3].clone(), parts[4].clone()];
        assert_eq!(join("p", "r", torn).unwrap(), None);
        assert_eq!(join("p", "r", parts[..4].to_vec()).unwrap(), None);
        assert_eq!(join("p", "r", Vec::new()).unwrap(), Some(None));
    }

    #[test]
    fn an_entity_that_is_too_wide_or_uses_our_names_is_refused() {
        let mut huge = Entity::new("p", "r");
        for number in 0..=PART_PROPERTIES_MAX * PARTS_MAX {
            huge.set(format!("P{number}"), 0);
        }
        assert!(split(&huge).is_err());
        assert!(split(&Entity::new("p", "r").with(PARTS, 1)).is_err());
    }
}
