//! A copy of an entity under other keys, which knows the keys of its entity.

use tablerock_client::{DateTime, Entity, Error, Etag, Property, Result, TableEntity};

/// The properties of a copy with the keys of its entity. Within a partition, it has only the RowKey.
const PARTITION_KEY: &str = "CopyPartitionKey";
const ROW_KEY: &str = "CopyRowKey";
/// The properties with the ETag and the Timestamp of the copied version, in other partitions.
const ETAG: &str = "CopyEtag";
const VERSION: &str = "CopyVersion";
pub(crate) const OWN: [&str; 4] = [PARTITION_KEY, ROW_KEY, ETAG, VERSION];

/// Returns a copy of an entity for its own partition.
pub(crate) fn within(entity: &Entity, row_key: String) -> Entity {
    entity.with_keys(&entity.partition_key, row_key).with(ROW_KEY, entity.row_key.as_str())
}

/// Returns a copy of a stored entity for another partition.
pub(crate) fn across(entity: &Entity, partition_key: String, row_key: String) -> Entity {
    let copy = entity.with_keys(partition_key, row_key);
    let copy = copy.with(PARTITION_KEY, entity.partition_key.as_str()).with(ROW_KEY, entity.row_key.as_str());
    let copy = match &entity.etag {
        Some(etag) => copy.with(ETAG, etag.as_str()),
        None => copy,
    };
    match entity.timestamp {
        Some(version) => copy.with(VERSION, version),
        None => copy,
    }
}

/// Whether a stored copy is of this version of an entity, or of a later one. The Timestamp increases with every version.
pub(crate) fn is_up_to_date(copy: &Entity, entity: &Entity) -> Result<bool> {
    let version: Option<DateTime> = copy.property(VERSION)?;
    Ok(version > entity.timestamp || (version == entity.timestamp && original_etag(copy)? == entity.etag))
}

pub(crate) fn is_copy(entity: &Entity) -> bool {
    entity.get(ROW_KEY).is_some()
}

/// Returns the keys of a copy's entity.
pub(crate) fn original_keys(copy: &Entity) -> Result<(String, String)> {
    let partition_key: Option<String> = copy.property(PARTITION_KEY)?;
    let row_key: Option<String> = copy.property(ROW_KEY)?;
    let row_key = row_key.ok_or_else(|| {
        Error::InvalidResponse(format!(
            "the copy {:?}, {:?} has no property {ROW_KEY}: rebuild the index",
            copy.partition_key, copy.row_key
        ))
    })?;
    Ok((partition_key.unwrap_or_else(|| copy.partition_key.clone()), row_key))
}

/// Returns the ETag that the entity had when the copy was written.
pub(crate) fn original_etag(copy: &Entity) -> Result<Option<Etag>> {
    Ok(copy.property::<Option<String>>(ETAG)?.map(Etag::from))
}

/// Returns the entity of a copy, with an ETag.
pub(crate) fn original<T: TableEntity>(mut copy: Entity, etag: Option<Etag>) -> Result<T> {
    let (partition_key, row_key) = original_keys(&copy)?;
    (copy.partition_key, copy.row_key, copy.etag) = (partition_key, row_key, etag);
    for name in OWN {
        copy.remove(name);
    }
    Ok(T::from_entity(copy)?)
}

/// Whether a copy has the properties of an entity.
pub(crate) fn is_equal(copy: &Entity, entity: &Entity) -> bool {
    fn sorted(entity: &Entity) -> Vec<&Property<'static>> {
        let own = |property: &&Property<'static>| !OWN.contains(&property.name.as_ref());
        let mut properties: Vec<_> = entity.properties().iter().filter(own).collect();
        properties.sort_by(|one, other| one.name.cmp(&other.name));
        properties
    }
    sorted(copy) == sorted(entity)
}

/// Rejects an entity with the properties of a copy.
pub(crate) fn check_names(entity: &Entity) -> Result<()> {
    match OWN.into_iter().find(|name| entity.get(name).is_some()) {
        Some(name) => Err(Error::Invalid(format!("the property name {name} is reserved: rename it"))),
        None => Ok(()),
    }
}
