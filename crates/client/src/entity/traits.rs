//! The traits of Rust types that convert from and to entities. `#[derive(TableEntity)]` implements them.

use std::fmt;

use tablerock_protocol::{EdmType, Value};

use super::Entity;

/// A type that converts from an entity: all of it or a projection.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from an entity",
    label = "not an entity type",
    note = "add `#[derive(TableEntity)]` to the type, or read an `Entity`, which has any properties"
)]
#[doc(alias = "EntityResolver")]
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
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written as an entity",
    label = "has no keys to be written under",
    note = "`#[derive(TableEntity)]` implements it for structs with both `#[entity(partition_key)]` and `#[entity(row_key)]`",
    note = "a struct without keys is written as the value of a `Keyed`"
)]
#[doc(alias = "ITableEntity")]
pub trait TableEntity: FromEntity {
    /// Converts to an entity with keys, properties, and the ETag of the version that was read.
    fn to_entity(&self) -> Result<Entity, EntityError>;
}

/// A type that converts to properties, without keys. `#[derive(TableEntity)]` implements it for every struct, so that
/// another can have it as a field with `#[entity(flatten)]`, and a [`Keyed`](super::Keyed) of it can be written.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be flattened into an entity",
    label = "not a struct of properties",
    note = "add `#[derive(TableEntity)]` to the type, or store the field as JSON with `#[entity(json)]`"
)]
pub trait ToProperties {
    /// Adds the properties to an entity.
    fn append_to(&self, entity: &mut Entity) -> Result<(), EntityError>;
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
