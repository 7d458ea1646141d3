//! Wide entities: one logical entity over several physical ones, because it has more properties or bytes than one can
//! hold. All parts lie in one partition and are written by one group transaction, so nobody sees half of it.

use std::hash::{BuildHasher as _, RandomState};

use tablerock_client::{Entity, Error, Property, Result, TableClient, Value, Write};

use crate::optimistic::{Tries, unless_lost};

/// In the first part: how many there are.
const PARTS: &str = "WideParts";
/// In every part: which version of the whole it belongs to, a number that no other version has. One that counted would
/// begin again after the entity was deleted.
const VERSION: &str = "WideVersion";
const OWN: [&str; 2] = [PARTS, VERSION];

/// A part has fewer properties than the 252 that an entity may have, and room for our own.
const PART_PROPERTIES_MAX: usize = 240;
/// A part is smaller than the mebibyte that an entity may have, by a margin for keys and names.
const PART_BYTES_MAX: usize = 900 * 1024;
/// As many parts as a group transaction takes, which has to delete old ones as well.
const PARTS_MAX: usize = 50;

/// Entities of any width up to what a group transaction carries, some 4 MiB.
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

/// What the first part says of the whole.
struct Head {
    parts: usize,
    first: Entity,
}

impl WideEntities {
    /// The entities of a table.
    pub fn new(table: TableClient) -> Self {
        Self { table }
    }

    /// Adds an entity or replaces whatever version there is.
    pub async fn put(&self, entity: &Entity) -> Result<()> {
        let parts = split(&self.with_marks(entity))?;
        let mut tries = Tries::to_change("the entity");
        loop {
            let head = self.head(&entity.partition_key, &entity.row_key).await?;
            let version = unheard_of();
            let mut parts = parts.iter().map(|part| part.clone().with(VERSION, version));
            let first = parts.next().expect("an entity has a first part").with(PARTS, i32_of(parts.len() + 1));
            let first = match &head {
                Some(Head { first: Entity { etag: Some(etag), .. }, .. }) => {
                    Write::replace(&first).if_match(etag.clone())
                }
                _ => Write::insert(&first),
            };
            let old = (parts.len() + 1)..head.as_ref().map_or(0, |head| head.parts);
            let old =
                old.map(|part| Write::delete_at(&entity.partition_key, part_key(&entity.row_key, part)).any_version());
            let group = self.table.transaction().write(first);
            let group = group.writes(parts.map(|part| Write::insert_or_replace(&part))).writes(old);
            if unless_lost(group.commit().await)?.is_some() {
                return Ok(());
            }
            tries.lost().await?;
        }
    }

    /// Reads an entity and joins its parts.
    pub async fn get(&self, partition_key: &str, row_key: &str) -> Result<Option<Entity>> {
        let mut tries = Tries::to_change("the entity");
        loop {
            let (from, to) = (part_key(row_key, 0), part_key(row_key, PARTS_MAX));
            let found = self.table.query::<Entity>().partition(partition_key).row_between(from, to).all().await?;
            // The keys of another entity may begin like the key of a part.
            let parts = found.into_iter().filter(|part| part.row_key.len() == part_key(row_key, 0).len());
            if let Some(whole) = join(partition_key, row_key, parts.collect())? {
                return Ok(whole);
            }
            tries.lost().await?;
        }
    }

    /// Deletes an entity with all its parts. Returns whether it was there.
    pub async fn delete(&self, partition_key: &str, row_key: &str) -> Result<bool> {
        let mut tries = Tries::to_change("the entity");
        loop {
            let Some(head) = self.head(partition_key, row_key).await? else { return Ok(false) };
            let others =
                (1..head.parts).map(|part| Write::delete_at(partition_key, part_key(row_key, part)).any_version());
            let group = self.table.transaction().delete(&head.first).writes(others);
            if unless_lost(group.commit().await)?.is_some() {
                return Ok(true);
            }
            tries.lost().await?;
        }
    }

    /// The entity with a mark on each property that is a secret by its keys: parts have keys of their own, under which
    /// a resolver might not know it.
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
        let first = self.table.get_properties(partition_key, &part_key(row_key, 0), &OWN).await;
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

/// The whole, `Some(None)` if there is none, or `None` if its parts were read while it was being replaced.
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
        part.encrypted().for_each(|name| whole.mark_encrypted(name.to_owned()));
        for Property { name, value } in part.into_properties() {
            if !OWN.contains(&name.as_ref()) {
                whole.set(name, value);
            }
        }
    }
    Ok(Some(Some(whole)))
}

fn split(entity: &Entity) -> Result<Vec<Entity>> {
    let part = |place| Entity::new(&entity.partition_key, part_key(&entity.row_key, place));
    let mut parts = vec![part(0)];
    let mut bytes = 0;
    for Property { name, value } in entity.properties() {
        if OWN.contains(&name.as_ref()) {
            return Err(Error::Invalid(format!("the name {name} is used by the parts of wide entities")));
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
        if entity.encrypted().any(|marked| marked == name) {
            last.mark_encrypted(name.to_string());
        }
    }
    if parts.len() > PARTS_MAX {
        return Err(Error::Invalid(format!("the entity takes {} parts of at most {PARTS_MAX}", parts.len())));
    }
    Ok(parts)
}

/// What a property counts: its name and its value, text by two bytes a character.
fn property_bytes(name: &str, value: &Value<'_>) -> usize {
    let value = match value {
        Value::String(text) => text.encode_utf16().count() * 2,
        Value::Binary(bytes) => bytes.len(),
        _ => 16,
    };
    name.encode_utf16().count() * 2 + value + 8
}

/// A number that is new each time: the standard library's hash keys come from the operating system.
fn unheard_of() -> i64 {
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
