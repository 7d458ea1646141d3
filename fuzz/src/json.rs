//! The body of a write: JSON to properties, to what is stored, and back to JSON.
//!
//! Input: the body.

use std::collections::HashSet;

use serde_json::Value as Json;
use tablerock_protocol::entity::property_size;
use tablerock_protocol::json::{EntityShape, Location, append_entity, parse_entity, parse_table_name};
use tablerock_protocol::{
    DateTime, EntityBody, MetadataLevel, PARTITION_KEY, Property, ROW_KEY, Select, TIMESTAMP, Value, limits, utf16_len,
};
use tablerock_services::table::{Properties, StoredEntity};

use crate::known_table::NOON;
use crate::refusal::check_refusal;

pub fn check(data: &[u8]) {
    let json: Option<Json> = serde_json::from_slice(data).ok();
    match parse_entity(data) {
        Err(error) => check_refusal(&error, data.len()),
        Ok(entity) => {
            let object = json.as_ref().and_then(Json::as_object).expect("an entity is an object");
            check_limits(&entity);
            check_against(&entity, object);
            check_stored(&entity);
            check_written(&entity);
        }
    }
    match parse_table_name(data) {
        Err(error) => check_refusal(&error, data.len()),
        Ok(name) => {
            let names = json.as_ref().and_then(|json| json.get("TableName"));
            assert!(names.is_some(), "{name:?} comes from nowhere");
        }
    }
}

fn check_limits(entity: &EntityBody<'_>) {
    let names: HashSet<&str> = entity.properties.iter().map(|property| property.name.as_ref()).collect();
    assert_eq!(names.len(), entity.properties.len(), "names are unique");
    assert!(names.len() <= limits::ENTITY_PROPERTIES_MAX);
    for Property { name, value } in &entity.properties {
        assert!(!matches!(name.as_ref(), PARTITION_KEY | ROW_KEY | TIMESTAMP | ""), "{name:?}");
        assert!(!name.contains(['@', '.']) && utf16_len(name) <= limits::PROPERTY_NAME_UNITS_MAX, "{name:?}");
        match value {
            Value::String(text) => assert!(utf16_len(text) <= limits::STRING_UNITS_MAX),
            Value::Binary(bytes) => assert!(bytes.len() <= limits::BINARY_BYTES_MAX),
            Value::DateTime(date) => assert!((DateTime::MIN_STORED..=DateTime::MAX).contains(date)),
            _ => {}
        }
    }
}

/// Compares with another JSON reader, which keeps the last of members with the same name; that may be a null.
fn check_against(entity: &EntityBody<'_>, object: &serde_json::Map<String, Json>) {
    for Property { name, value } in &entity.properties {
        let is_typed = object.contains_key(&format!("{name}@odata.type"));
        match (value, &object[name.as_ref()]) {
            (_, Json::Null) => {}
            (Value::String(text), other) => assert_eq!(Some(text.as_ref()), other.as_str(), "{name:?}"),
            (Value::Boolean(truth), Json::Bool(other)) => assert_eq!(truth, other, "{name:?}"),
            (Value::Int32(number), Json::Number(other)) => assert_eq!(Some(i64::from(*number)), other.as_i64()),
            (Value::Int64(number), Json::Number(other)) => assert_eq!(Some(*number), other.as_i64(), "{name:?}"),
            (Value::Double(number), Json::Number(other)) => assert_eq!(Some(*number), other.as_f64(), "{name:?}"),
            (_, other) => assert!(is_typed && other.is_string(), "{name:?} is {value:?} and not {other}"),
        }
    }
}

/// The stored form holds the same, counts it by the service's formula, and merging an entity onto itself is nothing.
fn check_stored(entity: &EntityBody<'_>) {
    let properties = Properties::encode(&entity.properties);
    assert_eq!(properties.count(), entity.properties.len());
    let sizes = entity.properties.iter().map(|property| property_size(&property.name, &property.value));
    assert_eq!(properties.size(), sizes.sum::<usize>());
    let timestamp = DateTime::from_ticks(NOON);
    let stored = StoredEntity::open(properties.at(timestamp).into_bytes()).expect("what was written can be read");
    assert_eq!(stored.timestamp(), timestamp);
    assert_eq!(seen(&entity.properties), read(&stored));
    assert_eq!(properties.merged_onto(&stored).expect("what was written can be read"), properties);
}

/// A response is JSON in ASCII, and a client that sends it back sends the same entity.
fn check_written(entity: &EntityBody<'_>) {
    let (partition_key, row_key) =
        (entity.partition_key.as_deref().unwrap_or("p"), entity.row_key.as_deref().unwrap_or("r"));
    for level in [MetadataLevel::Full, MetadataLevel::Minimal, MetadataLevel::None] {
        let location = Location { base: "http://127.0.0.1:10002/acct", account: "acct", table: "People" };
        let shape = EntityShape { location, level, select: &Select::default() };
        let mut body = Vec::new();
        let pairs = entity.properties.iter().map(|property| (property.name.as_ref(), property.value.clone()));
        append_entity(&mut body, &shape, true, partition_key, row_key, DateTime::from_ticks(NOON), pairs);
        assert!(body.is_ascii());
        let json: Json = serde_json::from_slice(&body).expect("a response is JSON");
        assert_eq!((json[PARTITION_KEY].as_str(), json[ROW_KEY].as_str()), (Some(partition_key), Some(row_key)));
        // Without metadata the types are gone, as the client wished.
        if level != MetadataLevel::None {
            let again = parse_entity(&body).expect("a response can be sent back");
            assert_eq!(again.partition_key.as_deref(), Some(partition_key));
            assert_eq!(again.row_key.as_deref(), Some(row_key));
            assert_eq!(seen(&again.properties), seen(&entity.properties), "at {level:?}");
        }
    }
}

/// Properties as they print: no number equals NaN.
fn seen(properties: &[Property<'_>]) -> Vec<String> {
    properties.iter().map(|Property { name, value }| format!("{name} {value:?}")).collect()
}

fn read(stored: &StoredEntity) -> Vec<String> {
    let read = stored.read(|properties| properties.map(|(name, value)| format!("{name} {value:?}")).collect());
    read.expect("what was written can be read")
}
