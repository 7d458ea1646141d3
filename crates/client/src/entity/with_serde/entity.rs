//! [`Entity`] as data, in the form of the service's JSON: `"Visits@odata.type": "Edm.Int64", "Visits": "5"`. Marks for
//! encryption are not part of it.

use std::collections::HashMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tablerock_protocol::{DateTime, EdmType, PARTITION_KEY, Property, ROW_KEY, TIMESTAMP, Uuid, Value};

use super::ETAG;
use crate::{Entity, EntityError, Etag};

const TYPE_SUFFIX: &str = "@odata.type";

impl Serialize for Entity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(PARTITION_KEY, &self.partition_key)?;
        map.serialize_entry(ROW_KEY, &self.row_key)?;
        if let Some(timestamp) = self.timestamp {
            map.serialize_entry(TIMESTAMP, &timestamp.to_string())?;
        }
        if let Some(etag) = &self.etag {
            map.serialize_entry(ETAG, etag.as_str())?;
        }
        for Property { name, value } in self.properties() {
            if !matches!(value, Value::String(_) | Value::Int32(_) | Value::Boolean(_)) {
                map.serialize_entry(&format!("{name}{TYPE_SUFFIX}"), value.edm_type().name())?;
            }
            map.serialize_key(name.as_ref())?;
            match value {
                Value::String(text) => map.serialize_value(text.as_ref())?,
                Value::Int32(number) => map.serialize_value(number)?,
                Value::Boolean(flag) => map.serialize_value(flag)?,
                Value::Double(number) if number.is_finite() => map.serialize_value(number)?,
                Value::Double(number) => map.serialize_value(special_name(*number))?,
                Value::Int64(number) => map.serialize_value(&number.to_string())?,
                Value::DateTime(date) => map.serialize_value(&date.to_string())?,
                Value::Guid(id) => map.serialize_value(&id.to_string())?,
                Value::Binary(bytes) => map.serialize_value(&STANDARD.encode(bytes))?,
                #[allow(unreachable_patterns, reason = "the type is exhaustive in a build with the server")]
                other => {
                    return Err(serde::ser::Error::custom(format!("no JSON for {}", other.edm_type().name())));
                }
            }
        }
        map.end()
    }
}

/// The name of a number that JSON does not have.
fn special_name(number: f64) -> &'static str {
    match number {
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => "NaN",
    }
}

impl<'de> Deserialize<'de> for Entity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntityVisitor)
    }
}

struct EntityVisitor;

impl<'de> Visitor<'de> for EntityVisitor {
    type Value = Entity;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an entity with PartitionKey and RowKey")
    }

    /// Types may follow their values.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entity, A::Error> {
        let (mut types, mut values) = (HashMap::new(), Vec::new());
        while let Some(name) = map.next_key::<String>()? {
            match name.strip_suffix(TYPE_SUFFIX) {
                Some(property) => drop(types.insert(property.to_owned(), map.next_value::<String>()?)),
                None => values.push((name, map.next_value::<Scalar>()?)),
            }
        }
        build(&types, values).map_err(serde::de::Error::custom)
    }
}

fn build(types: &HashMap<String, String>, values: Vec<(String, Scalar)>) -> Result<Entity, EntityError> {
    let (mut partition_key, mut row_key) = (None, None);
    let mut entity = Entity::default();
    for (name, scalar) in values {
        let edm_type = match types.get(&name) {
            Some(text) => {
                let unknown = || EntityError::new(format!("has the unknown type {text:?}")).with_property(&name);
                Some(EdmType::from_name(text).ok_or_else(unknown)?)
            }
            None => None,
        };
        let wrong = || EntityError::new("has a value that its type does not have").with_property(&name);
        match (name.as_str(), scalar) {
            (_, Scalar::Null) => {}
            (PARTITION_KEY, Scalar::Text(text)) => partition_key = Some(text),
            (ROW_KEY, Scalar::Text(text)) => row_key = Some(text),
            (ETAG, Scalar::Text(text)) => entity.etag = Some(Etag::from(text)),
            (TIMESTAMP, Scalar::Text(text)) => entity.timestamp = Some(DateTime::parse(&text).map_err(|_| wrong())?),
            (PARTITION_KEY | ROW_KEY | ETAG | TIMESTAMP, _) => return Err(wrong()),
            (_, scalar) => {
                let value = scalar.into_value(edm_type).ok_or_else(wrong)?;
                entity.set(name, value);
            }
        }
    }
    entity.partition_key = partition_key.ok_or_else(|| EntityError::missing(PARTITION_KEY))?;
    entity.row_key = row_key.ok_or_else(|| EntityError::missing(ROW_KEY))?;
    Ok(entity)
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Null,
    Boolean(bool),
    Integer(i64),
    Number(f64),
    Text(String),
}

impl Scalar {
    fn into_value(self, edm_type: Option<EdmType>) -> Option<Value<'static>> {
        Some(match (edm_type, self) {
            (None | Some(EdmType::Boolean), Self::Boolean(flag)) => Value::Boolean(flag),
            (None | Some(EdmType::Int32), Self::Integer(number)) => Value::Int32(number.try_into().ok()?),
            (None | Some(EdmType::String), Self::Text(text)) => Value::from(text),
            (None | Some(EdmType::Double), Self::Number(number)) => Value::Double(number),
            (Some(EdmType::Double), Self::Integer(number)) => Value::Double(number as f64),
            (Some(EdmType::Double), Self::Text(text)) => {
                let specials = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
                Value::Double(specials.into_iter().find(|special| special_name(*special) == text)?)
            }
            (Some(EdmType::Int64), Self::Text(text)) => Value::Int64(text.parse().ok()?),
            (Some(EdmType::Int64), Self::Integer(number)) => Value::Int64(number),
            (Some(EdmType::DateTime), Self::Text(text)) => Value::DateTime(DateTime::parse(&text).ok()?),
            (Some(EdmType::Guid), Self::Text(text)) => Value::Guid(Uuid::try_parse(&text).ok()?),
            (Some(EdmType::Binary), Self::Text(text)) => Value::Binary(STANDARD.decode(text).ok()?.into()),
            _ => return None,
        })
    }
}
