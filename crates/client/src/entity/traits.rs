//! The traits of Rust types that convert from and to entities. `#[derive(TableEntity)]` implements them.

use std::fmt;

use tablerock_protocol::{EdmType, Value};

use super::Entity;

/// A type that converts from an entity: all of it or a projection.
pub trait FromEntity: Sized {
    /// The properties that the type has, without keys; `None` means all. A projection to the type selects them.
    const SELECT: Option<&'static [&'static str]>;

    /// Converts an entity. Ignores properties that the type does not have.
    fn from_entity(entity: Entity) -> Result<Self, EntityError>;
}

/// A type that converts to an entity, and so has keys and can be written.
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
    /// Converts to an entity with keys, properties, and the ETag of the version that was read.
    fn to_entity(&self) -> Result<Entity, EntityError>;
}

/// The error of a conversion between an entity and a Rust type.
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
    /// Returns an error with any message, for hand-written conversions.
    pub fn new(why: impl Into<String>) -> Self {
        Self { keys: None, property: None, why: Why::Other(why.into()) }
    }

    /// A required property is missing.
    pub fn missing(property: &str) -> Self {
        Self { keys: None, property: Some(property.to_owned()), why: Why::Missing }
    }

    /// A property has the wrong type.
    pub fn wrong_type(wanted: EdmType, found: &Value<'_>) -> Self {
        let why = Why::Type { wanted: wanted.name(), found: found.edm_type().name() };
        Self { keys: None, property: None, why }
    }

    /// Adds the property's name, unless the error has one.
    #[must_use]
    pub fn with_property(mut self, property: &str) -> Self {
        self.property.get_or_insert_with(|| property.to_owned());
        self
    }

    /// Adds the keys of the entity, unless the error has some.
    #[must_use]
    pub fn with_keys(mut self, partition_key: &str, row_key: &str) -> Self {
        self.keys.get_or_insert_with(|| (partition_key.to_owned(), row_key.to_owned()));
        self
    }

    /// Returns PartitionKey and RowKey of the entity, if it was read from a table.
    pub fn keys(&self) -> Option<(&str, &str)> {
        self.keys.as_ref().map(|(partition_key, row_key)| (partition_key.as_str(), row_key.as_str()))
    }

    /// Returns the name of the property.
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

/// Functions for derived code. They may change with any release.
#[doc(hidden)]
pub mod derived {
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use tablerock_protocol::{DateTime, Property, Value};

    use super::{Entity, EntityError};
    use crate::entity::{EntityKey, PropertyValue};

    pub fn key<K: EntityKey>(name: &str, text: String) -> Result<K, EntityError> {
        K::from_key(text).map_err(|error| error.with_property(name))
    }

    pub fn put<T: PropertyValue>(entity: &mut Entity, name: &'static str, value: &T) -> Result<(), EntityError> {
        if let Some(value) = value.to_value().map_err(|error| error.with_property(name))? {
            entity.push(name, value);
        }
        Ok(())
    }

    pub fn put_json<T: Serialize>(entity: &mut Entity, name: &'static str, value: &T) -> Result<(), EntityError> {
        let text =
            serde_json::to_string(value).map_err(|error| EntityError::new(error.to_string()).with_property(name))?;
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
        T::from_value(value).map_err(|error| error.with_property(name))
    }

    pub fn take_json<T: DeserializeOwned>(name: &str, value: Value<'static>) -> Result<T, EntityError> {
        let text = String::from_value(value).map_err(|error| error.with_property(name))?;
        serde_json::from_str(&text).map_err(|error| EntityError::new(error.to_string()).with_property(name))
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
