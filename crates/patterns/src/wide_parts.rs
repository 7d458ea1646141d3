//! The parts of a wide entity: how it is split and joined.

use tablerock_client::{Entity, Error, Property, Result, Value};

/// The property of the first part with the number of parts.
pub(crate) const PARTS: &str = "WideParts";
/// The property of every part with the version of the whole, a random number. A counter would restart after a delete.
pub(crate) const VERSION: &str = "WideVersion";
pub(crate) const OWN: [&str; 2] = [PARTS, VERSION];

/// Less than the 252 properties of an entity, to allow for those of this module.
const PART_PROPERTIES_MAX: usize = 240;
/// Less than the 1 MiB of an entity, to allow for keys and names.
const PART_BYTES_MAX: usize = 900 * 1024;
/// Half of a group transaction, which also has to delete old parts.
pub(crate) const PARTS_MAX: usize = 50;

/// Joins parts to an entity, or `Some(None)` if there are none. Returns `None` if the parts are of different versions.
pub(crate) fn join(partition_key: &str, row_key: &str, parts: Vec<Entity>) -> Result<Option<Option<Entity>>> {
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

pub(crate) fn split(entity: &Entity) -> Result<Vec<Entity>> {
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

pub(crate) fn part_key(row_key: &str, part: usize) -> String {
    format!("{row_key}_w{part:02}")
}

pub(crate) fn parts_of(first: &Entity) -> Result<usize> {
    Ok(usize::try_from(first.property::<i32>(PARTS)?).unwrap_or_default())
}

pub(crate) fn i32_of(parts: usize) -> i32 {
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
