//! The feature `serde`: entities as data, and types of serde as entities.

mod de;
mod entity;
mod ser;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tablerock_protocol::{PARTITION_KEY, ROW_KEY, TIMESTAMP, Value};

use super::{Entity, EntityError, Etag, FromEntity, PropertyValue, TableEntity, ToProperties};

/// The name of the ETag in the service's JSON.
const ETAG: &str = "odata.etag";

/// A type that implements `Serialize` and `Deserialize`, as an entity.
///
/// Each field is a property. `bool`, numbers, text and bytes (`serialize_bytes`) have the types of the service; integers
/// of more than 32 bits are `Edm.Int64`. `None` omits the property. A variant without fields is a string. A sequence, a
/// map, a nested struct or a variant with fields is JSON in a string. Dates and GUIDs are strings, as their crates
/// serialize them; both are read from properties of their own types as well.
///
/// Fields with the names `PartitionKey` and `RowKey` are the keys, `odata.etag` the ETag, and `Timestamp` is only read. A
/// type without keys is the value of a [`Keyed`](crate::Keyed): `Keyed<Serde<T>>`. A read asks for all properties, since
/// serde does not list the fields.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use tablerock_client::entity::Serde;
/// use tablerock_client::{Entity, FromEntity, TableEntity};
///
/// #[derive(Serialize, Deserialize, Debug, PartialEq)]
/// #[serde(rename_all = "PascalCase")]
/// struct Employee {
///     partition_key: String,
///     row_key: String,
///     age: u8,
///     visits: i64,
///     tags: Vec<String>,
/// }
///
/// let entity = Entity::new("Sales", "1").with("Age", 41).with("Visits", 5_i64).with("Tags", "[\"new\"]");
/// let Serde(employee) = Serde::<Employee>::from_entity(entity.clone())?;
/// assert_eq!((employee.age, employee.tags.as_slice()), (41, ["new".to_owned()].as_slice()));
/// assert_eq!(Serde(employee).to_entity()?, entity);
/// # Ok::<(), tablerock_client::EntityError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Serde<T>(pub T);

impl<T: DeserializeOwned> FromEntity for Serde<T> {
    const SELECT: Option<&'static [&'static str]> = None;

    fn from_entity(entity: Entity) -> Result<Self, EntityError> {
        T::deserialize(de::EntityDeserializer::new(entity)).map(Self)
    }
}

impl<T: Serialize> ToProperties for Serde<T> {
    fn append_to(&self, entity: &mut Entity) -> Result<(), EntityError> {
        for (name, value) in ser::properties(&self.0)? {
            if !is_system(&name) {
                entity.push(name, value);
            }
        }
        Ok(())
    }
}

impl<T: Serialize + DeserializeOwned> TableEntity for Serde<T> {
    fn to_entity(&self) -> Result<Entity, EntityError> {
        let (mut partition_key, mut row_key) = (None, None);
        let mut entity = Entity::default();
        for (name, value) in ser::properties(&self.0)? {
            match name.as_str() {
                PARTITION_KEY => partition_key = Some(text(&name, value)?),
                ROW_KEY => row_key = Some(text(&name, value)?),
                ETAG => entity.etag = Some(Etag::from(text(&name, value)?)),
                TIMESTAMP => {}
                _ => entity.push(name, value),
            }
        }
        let missing =
            |name| move || EntityError::new("is not a field: add it, or write a Keyed<Serde<T>>").with_property(name);
        entity.partition_key = partition_key.ok_or_else(missing(PARTITION_KEY))?;
        entity.row_key = row_key.ok_or_else(missing(ROW_KEY))?;
        Ok(entity)
    }
}

fn text(name: &str, value: Value<'static>) -> Result<String, EntityError> {
    String::from_value(value).map_err(|error| error.with_property(name))
}

fn is_system(name: &str) -> bool {
    matches!(name, PARTITION_KEY | ROW_KEY | TIMESTAMP | ETAG)
}

impl serde::ser::Error for EntityError {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }
}

impl serde::de::Error for EntityError {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{DateTime, Keyed, Uuid};

    #[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
    enum Kind {
        Plain,
        Sized { width: u32 },
    }

    #[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
    struct Everything {
        text: String,
        char: char,
        flag: bool,
        small: i16,
        wide: u32,
        number: u64,
        float: f32,
        none: Option<i32>,
        some: Option<i32>,
        plain: Kind,
        sized: Kind,
        pair: (i32, String),
        map: BTreeMap<String, i32>,
        unit: (),
    }

    fn everything() -> Everything {
        Everything {
            text: "é".into(),
            char: 'x',
            flag: true,
            small: -3,
            wide: 4_000_000_000,
            number: 1 << 53,
            float: 0.5,
            none: None,
            some: Some(7),
            plain: Kind::Plain,
            sized: Kind::Sized { width: 3 },
            pair: (1, "one".into()),
            map: BTreeMap::from([("a".into(), 1)]),
            unit: (),
        }
    }

    #[test]
    fn a_type_of_serde_survives() {
        let keyed = Keyed::new("p", "r", Serde(everything()));
        let entity = keyed.to_entity().unwrap();
        let stored: Vec<(&str, &Value<'_>)> =
            entity.properties().iter().map(|property| (property.name.as_ref(), &property.value)).collect();
        assert_eq!(
            stored,
            [
                ("text", &Value::from("é")),
                ("char", &Value::from("x")),
                ("flag", &Value::Boolean(true)),
                ("small", &Value::Int32(-3)),
                ("wide", &Value::Int64(4_000_000_000)),
                ("number", &Value::Int64(1 << 53)),
                ("float", &Value::Double(0.5)),
                ("some", &Value::Int32(7)),
                ("plain", &Value::from("Plain")),
                ("sized", &Value::from(r#"{"Sized":{"width":3}}"#)),
                ("pair", &Value::from(r#"[1,"one"]"#)),
                ("map", &Value::from(r#"{"a":1}"#)),
            ]
        );
        let read = Keyed::<Serde<Everything>>::from_entity(entity.with("unit", "null")).unwrap();
        assert_eq!(read.value.0, everything());
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let mut large = everything();
        large.number = u64::MAX;
        let error = Keyed::new("p", "r", Serde(large)).to_entity().unwrap_err();
        assert_eq!(error.to_string(), "property number: 18446744073709551615 is out of range for Edm.Int64");
        let error = Serde(everything()).to_entity().unwrap_err();
        assert!(error.to_string().starts_with("property PartitionKey: is not a field"), "{error}");
        let entity = Entity::new("p", "r").with("text", 7);
        let error = Keyed::<Serde<Everything>>::from_entity(entity).unwrap_err();
        assert!(error.to_string().starts_with("property text: invalid type: integer `7`"), "{error}");
    }

    #[test]
    fn an_entity_survives_with_the_types_of_its_properties() {
        let date = DateTime::parse("2026-01-02T03:04:05.1234567Z").unwrap();
        let mut entity = Entity::new("p", "r")
            .with("Text", "1")
            .with("Int", 1)
            .with("Wide", 1_i64)
            .with("Double", 1.0)
            .with("Odd", f64::NEG_INFINITY)
            .with("Flag", true)
            .with("Date", date)
            .with("Id", Uuid::from_u128(7))
            .with("Bytes", b"\x00\xff");
        entity.etag = Some("W/\"x\"".into());
        entity.timestamp = Some(date);
        let json = serde_json::to_string(&entity).unwrap();
        assert_eq!(serde_json::from_str::<Entity>(&json).unwrap(), entity, "{json}");
        let value = serde_json::to_value(&entity).unwrap();
        assert_eq!(value["Wide@odata.type"], "Edm.Int64");
        assert_eq!(serde_json::from_value::<Entity>(value).unwrap().properties().len(), 9);
        for wrong in [r#"{"PartitionKey":"p"}"#, r#"{"PartitionKey":"p","RowKey":"r","A@odata.type":"Edm.X","A":1}"#] {
            assert!(serde_json::from_str::<Entity>(wrong).is_err(), "{wrong}");
        }
    }
}
