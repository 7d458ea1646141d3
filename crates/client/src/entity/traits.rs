//! What a Rust type has to say to be an entity. `#[derive(TableEntity)]` says it for plain structs.

use std::fmt;

use tablerock_protocol::{EdmType, Value};

use super::Entity;

/// A type that entities can be read into: a whole entity or a projection of one.
pub trait FromEntity: Sized {
    /// The properties that the type reads, keys apart; `None` means all there are. A query that selects the type
    /// asks for these only.
    const SELECT: Option<&'static [&'static str]>;

    /// Takes what it needs from an entity and ignores the rest.
    fn from_entity(entity: Entity) -> Result<Self, EntityError>;
}

/// A type that is an entity: it has keys and can be written.
///
/// ```
/// use tablerock_client::{DateTime, Entity, Etag, FromEntity, TableEntity};
///
/// #[derive(TableEntity, Debug, PartialEq)]
/// struct Employee {
///     #[entity(partition_key)]
///     department: String,
///     #[entity(row_key)]
///     id: String,
///     #[entity(rename = "FirstName")]
///     first_name: String,
///     #[entity(rename = "Age")]
///     age: i32,
///     #[entity(rename = "Email")]
///     email: Option<String>,
///     #[entity(timestamp)]
///     written_at: Option<DateTime>,
///     #[entity(etag)]
///     etag: Option<Etag>,
/// }
///
/// let ann = Employee {
///     department: "Sales".into(),
///     id: "00001".into(),
///     first_name: "Ann".into(),
///     age: 41,
///     email: None,
///     written_at: None,
///     etag: None,
/// };
/// let entity = ann.to_entity()?;
/// assert_eq!(entity, Entity::new("Sales", "00001").with("FirstName", "Ann").with("Age", 41));
/// assert_eq!(Employee::from_entity(entity)?, ann);
/// # Ok::<(), tablerock_client::EntityError>(())
/// ```
pub trait TableEntity: FromEntity {
    /// The entity as it will be written: keys, properties that are not absent, and the ETag of the version that was
    /// read.
    fn to_entity(&self) -> Result<Entity, EntityError>;
}

/// Why an entity and a Rust type do not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityError {
    /// PartitionKey and RowKey.
    keys: Option<(String, String)>,
    property: Option<String>,
    why: Why,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Why {
    Missing,
    Type { wanted: &'static str, found: &'static str },
    Other(String),
}

impl EntityError {
    /// A reason in the caller's own words, for hand-written conversions.
    pub fn new(why: impl Into<String>) -> Self {
        Self { keys: None, property: None, why: Why::Other(why.into()) }
    }

    /// A property that is needed is not there.
    pub fn missing(property: &str) -> Self {
        Self { keys: None, property: Some(property.to_owned()), why: Why::Missing }
    }

    /// A property has another type.
    pub fn wrong_type(wanted: EdmType, found: &Value<'_>) -> Self {
        let why = Why::Type { wanted: wanted.name(), found: found.edm_type().name() };
        Self { keys: None, property: None, why }
    }

    /// The same, with the property's name unless it has one.
    #[must_use]
    pub fn at(mut self, property: &str) -> Self {
        self.property.get_or_insert_with(|| property.to_owned());
        self
    }

    /// The same, with the keys of the entity unless it has some.
    #[must_use]
    pub fn of_entity(mut self, partition_key: &str, row_key: &str) -> Self {
        self.keys.get_or_insert_with(|| (partition_key.to_owned(), row_key.to_owned()));
        self
    }

    /// PartitionKey and RowKey of the entity that does not fit, if it was read from a table.
    pub fn keys(&self) -> Option<(&str, &str)> {
        self.keys.as_ref().map(|(partition_key, row_key)| (partition_key.as_str(), row_key.as_str()))
    }

    /// The property that does not fit.
    pub fn property(&self) -> Option<&str> {
        self.property.as_deref()
    }
}

impl fmt::Display for EntityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((partition_key, row_key)) = &self.keys {
            write!(f, "entity {partition_key:?}, {row_key:?}: ")?;
        }
        if let Some(property) = &self.property {
            write!(f, "property {property}: ")?;
        }
        match &self.why {
            Why::Missing => f.write_str("is missing"),
            Why::Type { wanted, found } => write!(f, "is {found}, not {wanted}"),
            Why::Other(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for EntityError {}

/// What derived code calls. Not for anybody else: it may change with any release.
#[doc(hidden)]
pub mod derived {
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use tablerock_protocol::{DateTime, Property, Value};

    use super::{Entity, EntityError};
    use crate::entity::{EntityKey, PropertyValue};

    pub fn key<K: EntityKey>(name: &str, text: String) -> Result<K, EntityError> {
        K::from_key(text).map_err(|error| error.at(name))
    }

    pub fn put<T: PropertyValue>(entity: &mut Entity, name: &'static str, value: &T) -> Result<(), EntityError> {
        if let Some(value) = value.to_value().map_err(|error| error.at(name))? {
            entity.push(name, value);
        }
        Ok(())
    }

    pub fn put_json<T: Serialize>(entity: &mut Entity, name: &'static str, value: &T) -> Result<(), EntityError> {
        let text = serde_json::to_string(value).map_err(|error| EntityError::new(error.to_string()).at(name))?;
        if text != "null" {
            entity.push(name, Value::from(text));
        }
        Ok(())
    }

    pub fn encrypt(entity: &mut Entity, names: &[&'static str]) {
        names.iter().for_each(|name| entity.mark_encrypted(*name));
    }

    pub fn properties(entity: &mut Entity) -> Vec<Property<'static>> {
        entity.take_properties()
    }

    pub fn take<T: PropertyValue>(name: &str, value: Value<'static>) -> Result<T, EntityError> {
        T::from_value(value).map_err(|error| error.at(name))
    }

    pub fn take_json<T: DeserializeOwned>(name: &str, value: Value<'static>) -> Result<T, EntityError> {
        let text = String::from_value(value).map_err(|error| error.at(name))?;
        serde_json::from_str(&text).map_err(|error| EntityError::new(error.to_string()).at(name))
    }

    pub fn or_absent<T: PropertyValue>(name: &str, value: Option<T>) -> Result<T, EntityError> {
        value.or_else(T::absent).ok_or_else(|| EntityError::missing(name))
    }

    pub fn or_null<T: DeserializeOwned>(name: &str, value: Option<T>) -> Result<T, EntityError> {
        let null = || serde_json::from_value(serde_json::Value::Null).ok();
        value.or_else(null).ok_or_else(|| EntityError::missing(name))
    }

    pub fn timestamp<T: PropertyValue>(timestamp: Option<DateTime>) -> Result<T, EntityError> {
        match timestamp {
            Some(timestamp) => take("Timestamp", Value::DateTime(timestamp)),
            None => or_absent("Timestamp", None),
        }
    }
}
