//! The dynamic entity: keys, ETag and any properties.

use std::borrow::Cow;

use tablerock_protocol::json::AnsweredEntity;
use tablerock_protocol::{DateTime, Property, Value};

use super::known_names::KnownNames;
use super::{EntityError, Etag, FromEntity, IntoValue, Properties, PropertyValue, TableEntity, ToProperties};

/// An entity with any properties, which keep their order.
///
/// ```
/// use tablerock_client::{Entity, Value};
///
/// let mut ann = Entity::new("Sales", "00001").with("Name", "Ann").with("Age", 41);
/// ann.set("Visits", 5_000_000_000_i64);
/// assert_eq!(ann.get("Age"), Some(&Value::Int32(41)));
/// assert_eq!(ann.property::<i64>("Visits")?, 5_000_000_000);
/// assert_eq!(ann.property::<Option<String>>("Email")?, None);
/// # Ok::<(), tablerock_client::EntityError>(())
/// ```
#[doc(alias = "DynamicTableEntity")]
#[doc(alias = "dynamic")]
#[derive(Debug, Clone, Default)]
pub struct Entity {
    /// The PartitionKey.
    pub partition_key: String,
    /// The RowKey.
    pub row_key: String,
    /// The time of the last write, by the service's clock. The client never sends it.
    pub timestamp: Option<DateTime>,
    /// The ETag of the version that was read, which replace, merge and delete require.
    pub etag: Option<Etag>,
    properties: Vec<Property<'static>>,
    /// The properties to encrypt when the entity is written: those that its type marks, and those that were encrypted
    /// when it was read.
    encrypted: Vec<Cow<'static, str>>,
}

impl Entity {
    /// Returns an entity without properties.
    pub fn new(partition_key: impl Into<String>, row_key: impl Into<String>) -> Self {
        Self { partition_key: partition_key.into(), row_key: row_key.into(), ..Self::default() }
    }

    /// Sets a property.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl IntoValue) -> Self {
        self.set(name, value);
        self
    }

    /// Sets a property, or replaces its value.
    pub fn set(&mut self, name: impl Into<String>, value: impl IntoValue) {
        set(&mut self.properties, name.into(), value.into_value());
    }

    /// Returns the value of a property.
    pub fn get(&self, name: &str) -> Option<&Value<'static>> {
        self.properties.iter().find(|property| property.name == name).map(|property| &property.value)
    }

    /// Returns a property as a Rust type. Use an `Option` for a property that may be missing.
    pub fn property<T: PropertyValue>(&self, name: &str) -> Result<T, EntityError> {
        convert(name, self.get(name))
    }

    /// Removes a property and returns its value.
    pub fn remove(&mut self, name: &str) -> Option<Value<'static>> {
        let index = self.properties.iter().position(|property| property.name == name)?;
        Some(self.properties.remove(index).value)
    }

    /// Returns the properties, without keys and Timestamp.
    pub fn properties(&self) -> &[Property<'static>] {
        &self.properties
    }

    /// Converts the entity to its properties.
    pub fn into_properties(self) -> Vec<Property<'static>> {
        self.properties
    }

    /// Keeps only the named properties. A merge of the result leaves the others unchanged.
    #[must_use]
    pub fn select_properties(mut self, names: &[&str]) -> Self {
        self.properties.retain(|property| names.contains(&property.name.as_ref()));
        self
    }

    /// Returns a copy with other keys, without ETag and Timestamp. Marks for encryption are kept.
    #[must_use]
    pub fn with_keys(&self, partition_key: impl Into<String>, row_key: impl Into<String>) -> Self {
        let (partition_key, row_key) = (partition_key.into(), row_key.into());
        Self { partition_key, row_key, timestamp: None, etag: None, ..self.clone() }
    }

    /// Adds a property that the entity does not have.
    pub(crate) fn push(&mut self, name: impl Into<Cow<'static, str>>, value: Value<'static>) {
        self.properties.push(Property { name: name.into(), value });
    }

    /// Marks a property for encryption when the entity is written, as `#[entity(encrypt)]` does for a struct. A client
    /// without encryption rejects such an entity.
    ///
    /// ```
    /// use tablerock_client::Entity;
    ///
    /// let mut ann = Entity::new("Sales", "00001").with("Name", "Ann").with("Salary", "93,000");
    /// ann.mark_encrypted("Salary");
    /// assert_eq!(ann.encrypted_properties().collect::<Vec<_>>(), ["Salary"]);
    /// ```
    pub fn mark_encrypted(&mut self, name: impl Into<Cow<'static, str>>) {
        let name = name.into();
        if !self.is_encrypted(&name) {
            self.encrypted.push(name);
        }
    }

    /// Returns the properties marked for encryption: by `#[entity(encrypt)]`, by
    /// [`mark_encrypted`](Self::mark_encrypted), or because they were encrypted when the entity was read.
    pub fn encrypted_properties(&self) -> impl Iterator<Item = &str> {
        let names = self.properties.iter().map(|property| property.name.as_ref());
        names.filter(|name| self.is_encrypted(name))
    }

    pub(crate) fn is_encrypted(&self, name: &str) -> bool {
        self.encrypted.iter().any(|marked| marked == name)
    }

    /// Returns an entity with the same keys, Timestamp, ETag and marks, and other properties.
    pub(super) fn with_properties(&self, properties: Vec<Property<'static>>) -> Self {
        let Self { partition_key, row_key, timestamp, etag, encrypted, .. } = self;
        let (partition_key, row_key) = (partition_key.clone(), row_key.clone());
        let (etag, encrypted) = (etag.clone(), encrypted.clone());
        Self { partition_key, row_key, timestamp: *timestamp, etag, properties, encrypted }
    }

    pub(crate) fn take_properties(&mut self) -> Vec<Property<'static>> {
        std::mem::take(&mut self.properties)
    }

    /// Converts the entity of a response. Properties with one of the given names are not allocated a name of their own.
    pub(crate) fn from_response(parsed: AnsweredEntity<'_>, mut names: KnownNames) -> Self {
        let own = |key: Option<Cow<'_, str>>| key.map(Cow::into_owned).unwrap_or_default();
        let properties = parsed.body.properties.into_iter();
        Self {
            partition_key: own(parsed.body.partition_key),
            row_key: own(parsed.body.row_key),
            timestamp: parsed.timestamp,
            etag: parsed.etag.map(|etag| Etag::from(etag.into_owned())),
            properties: properties
                .map(|Property { name, value }| Property {
                    name: names.find(&name).map_or_else(|| Cow::Owned(name.into_owned()), Cow::Borrowed),
                    value: value.into_owned(),
                })
                .collect(),
            encrypted: Vec::new(),
        }
    }
}

/// Sets a property, or replaces its value.
pub(super) fn set(properties: &mut Vec<Property<'static>>, name: String, value: Value<'static>) {
    match properties.iter_mut().find(|property| property.name == name) {
        Some(property) => property.value = value,
        None => properties.push(Property { name: Cow::Owned(name), value }),
    }
}

/// Converts the value of a property, if it has one.
pub(super) fn convert<T: PropertyValue>(name: &str, value: Option<&Value<'static>>) -> Result<T, EntityError> {
    let value = match value {
        Some(value) => T::from_value(value.clone()),
        None => T::absent().ok_or_else(|| EntityError::missing(name)),
    };
    value.map_err(|error| error.with_property(name))
}

/// Compares all but the marks for encryption.
impl PartialEq for Entity {
    fn eq(&self, other: &Self) -> bool {
        fn compared(entity: &Entity) -> (&str, &str, Option<DateTime>, Option<&Etag>, &[Property<'static>]) {
            let Entity { partition_key, row_key, timestamp, etag, properties, encrypted: _ } = entity;
            (partition_key, row_key, *timestamp, etag.as_ref(), properties)
        }
        compared(self) == compared(other)
    }
}

impl FromEntity for Entity {
    const SELECT: Option<&'static [&'static str]> = None;

    fn from_entity(entity: Entity) -> Result<Self, EntityError> {
        Ok(entity)
    }
}

impl ToProperties for Entity {
    fn append_to(&self, entity: &mut Entity) -> Result<(), EntityError> {
        Properties::of(self, self.properties.clone()).append_to(entity)
    }
}

impl TableEntity for Entity {
    fn to_entity(&self) -> Result<Entity, EntityError> {
        Ok(self.clone())
    }
}
