//! The dynamic entity: keys, version and any properties.

use std::borrow::Cow;

use tablerock_protocol::json::AnsweredEntity;
use tablerock_protocol::{DateTime, Property, Value};

use super::{EntityError, Etag, FromEntity, IntoValue, PropertyValue, TableEntity};

/// An entity of any shape. Properties keep the order in which they came.
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
#[derive(Debug, Clone, Default)]
pub struct Entity {
    /// Which partition the entity is in.
    pub partition_key: String,
    /// Which entity of the partition it is.
    pub row_key: String,
    /// When it was last written, by the service's clock. What is written here is never sent.
    pub timestamp: Option<DateTime>,
    /// The version that was read; conditional writes hold against it.
    pub etag: Option<Etag>,
    properties: Vec<Property<'static>>,
    /// The properties that are encrypted when the entity is written: those that its type marks, and those that were
    /// encrypted when it was read, so that what was a secret stays one.
    encrypted: Vec<Cow<'static, str>>,
}

impl Entity {
    /// An entity without properties.
    pub fn new(partition_key: impl Into<String>, row_key: impl Into<String>) -> Self {
        Self { partition_key: partition_key.into(), row_key: row_key.into(), ..Self::default() }
    }

    /// The same with a property set.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl IntoValue) -> Self {
        self.set(name, value);
        self
    }

    /// Sets a property, whether it was there or not.
    pub fn set(&mut self, name: impl Into<String>, value: impl IntoValue) {
        let (name, value) = (name.into(), value.into_value());
        match self.properties.iter_mut().find(|property| property.name == name) {
            Some(property) => property.value = value,
            None => self.properties.push(Property { name: Cow::Owned(name), value }),
        }
    }

    /// A property's value.
    pub fn get(&self, name: &str) -> Option<&Value<'static>> {
        self.properties.iter().find(|property| property.name == name).map(|property| &property.value)
    }

    /// A property as a Rust type. One that may be missing is read as an `Option`.
    pub fn property<T: PropertyValue>(&self, name: &str) -> Result<T, EntityError> {
        let value = match self.get(name) {
            Some(value) => T::from_value(value.clone()),
            None => T::absent().ok_or_else(|| EntityError::missing(name)),
        };
        value.map_err(|error| error.at(name))
    }

    /// Takes a property out.
    pub fn remove(&mut self, name: &str) -> Option<Value<'static>> {
        let place = self.properties.iter().position(|property| property.name == name)?;
        Some(self.properties.remove(place).value)
    }

    /// The properties, without keys and Timestamp.
    pub fn properties(&self) -> &[Property<'static>] {
        &self.properties
    }

    /// The properties, to be taken apart.
    pub fn into_properties(self) -> Vec<Property<'static>> {
        self.properties
    }

    /// The entity with these properties only: what a merge needs to change some and leave the others alone.
    #[must_use]
    pub fn only(mut self, names: &[&str]) -> Self {
        self.properties.retain(|property| names.contains(&property.name.as_ref()));
        self
    }

    /// The same properties under other keys: a copy, which has no version yet. What is to be encrypted stays so.
    #[must_use]
    pub fn copy_at(&self, partition_key: impl Into<String>, row_key: impl Into<String>) -> Self {
        let (partition_key, row_key) = (partition_key.into(), row_key.into());
        Self { partition_key, row_key, timestamp: None, etag: None, ..self.clone() }
    }

    /// Adds a property that is known to be new.
    pub(crate) fn push(&mut self, name: impl Into<Cow<'static, str>>, value: Value<'static>) {
        self.properties.push(Property { name: name.into(), value });
    }

    /// Has a property encrypted when the entity is written, as `#[entity(encrypt)]` does for a struct. A table's client
    /// that has no encryption refuses to write it.
    ///
    /// ```
    /// use tablerock_client::Entity;
    ///
    /// let mut ann = Entity::new("Sales", "00001").with("Name", "Ann").with("Salary", "93,000");
    /// ann.mark_encrypted("Salary");
    /// assert_eq!(ann.encrypted().collect::<Vec<_>>(), ["Salary"]);
    /// ```
    pub fn mark_encrypted(&mut self, name: impl Into<Cow<'static, str>>) {
        let name = name.into();
        if !self.is_encrypted(&name) {
            self.encrypted.push(name);
        }
    }

    /// The properties that are encrypted when the entity is written: those that its type marks with
    /// `#[entity(encrypt)]`, and those that were encrypted when it was read.
    pub fn encrypted(&self) -> impl Iterator<Item = &str> {
        let names = self.properties.iter().map(|property| property.name.as_ref());
        names.filter(|name| self.is_encrypted(name))
    }

    pub(crate) fn is_encrypted(&self, name: &str) -> bool {
        self.encrypted.iter().any(|marked| marked == name)
    }

    pub(crate) fn take_properties(&mut self) -> Vec<Property<'static>> {
        std::mem::take(&mut self.properties)
    }

    /// An entity as the service told it.
    pub(crate) fn from_answer(answer: AnsweredEntity<'_>) -> Self {
        let own = |key: Option<Cow<'_, str>>| key.map(Cow::into_owned).unwrap_or_default();
        let properties = answer.body.properties.into_iter();
        Self {
            partition_key: own(answer.body.partition_key),
            row_key: own(answer.body.row_key),
            timestamp: answer.timestamp,
            etag: answer.etag.map(|etag| Etag::from(etag.into_owned())),
            properties: properties
                .map(|Property { name, value }| Property {
                    name: Cow::Owned(name.into_owned()),
                    value: value.into_owned(),
                })
                .collect(),
            encrypted: Vec::new(),
        }
    }
}

/// Two entities are equal if what they say is, whether or not it is to be encrypted.
impl PartialEq for Entity {
    fn eq(&self, other: &Self) -> bool {
        fn said(entity: &Entity) -> (&str, &str, Option<DateTime>, Option<&Etag>, &[Property<'static>]) {
            let Entity { partition_key, row_key, timestamp, etag, properties, encrypted: _ } = entity;
            (partition_key, row_key, *timestamp, etag.as_ref(), properties)
        }
        said(self) == said(other)
    }
}

impl FromEntity for Entity {
    const SELECT: Option<&'static [&'static str]> = None;

    fn from_entity(entity: Entity) -> Result<Self, EntityError> {
        Ok(entity)
    }
}

impl TableEntity for Entity {
    fn to_entity(&self) -> Result<Entity, EntityError> {
        Ok(self.clone())
    }
}
