//! A bag of properties without keys: what `#[entity(rest)]` holds.

use std::borrow::Cow;

use tablerock_protocol::{Property, Value};

use super::{Entity, EntityError, IntoValue, PropertyValue, ToProperties};

/// Properties of any names and types, without keys.
///
/// A field with `#[entity(rest)]` has the properties that no other field of its struct has. A struct that is read and
/// replaced then keeps the properties that a newer version of the program has added.
///
/// ```
/// use tablerock_client::entity::Properties;
/// use tablerock_client::{Entity, FromEntity, TableEntity};
///
/// #[derive(TableEntity)]
/// struct Employee {
///     #[entity(partition_key)]
///     department: String,
///     #[entity(row_key)]
///     id: String,
///     age: i32,
///     #[entity(rest)]
///     rest: Properties,
/// }
///
/// let stored = Entity::new("Sales", "00001").with("age", 41).with("Badge", "blue");
/// let mut ann = Employee::from_entity(stored)?;
/// ann.age += 1;
/// assert_eq!(ann.rest.property::<String>("Badge")?, "blue");
/// assert_eq!(ann.to_entity()?.get("Badge"), ann.rest.get("Badge"));
/// # Ok::<(), tablerock_client::EntityError>(())
/// ```
#[doc(alias = "dynamic")]
#[doc(alias = "extra")]
#[derive(Debug, Clone, Default)]
pub struct Properties {
    properties: Vec<Property<'static>>,
    /// Those that were encrypted when they were read, and are encrypted again when they are written.
    encrypted: Vec<Cow<'static, str>>,
}

impl Properties {
    /// Returns an empty bag.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the properties of an entity with their marks for encryption.
    pub(super) fn of(entity: &Entity, properties: Vec<Property<'static>>) -> Self {
        let names = properties.iter().map(|property| &property.name);
        let encrypted = names.filter(|name| entity.is_encrypted(name)).cloned().collect();
        Self { properties, encrypted }
    }

    /// Returns the value of a property.
    pub fn get(&self, name: &str) -> Option<&Value<'static>> {
        self.properties.iter().find(|property| property.name == name).map(|property| &property.value)
    }

    /// Returns a property as a Rust type. Use an `Option` for a property that may be missing.
    pub fn property<T: PropertyValue>(&self, name: &str) -> Result<T, EntityError> {
        super::dynamic::convert(name, self.get(name))
    }

    /// Sets a property, or replaces its value.
    pub fn set(&mut self, name: impl Into<String>, value: impl IntoValue) {
        super::dynamic::set(&mut self.properties, name.into(), value.into_value());
    }

    /// Removes a property and returns its value.
    pub fn remove(&mut self, name: &str) -> Option<Value<'static>> {
        let index = self.properties.iter().position(|property| property.name == name)?;
        Some(self.properties.remove(index).value)
    }

    /// Returns the properties in their order.
    pub fn iter(&self) -> std::slice::Iter<'_, Property<'static>> {
        self.properties.iter()
    }

    /// Returns the number of properties.
    pub fn len(&self) -> usize {
        self.properties.len()
    }

    /// Whether there are no properties.
    pub fn is_empty(&self) -> bool {
        self.properties.is_empty()
    }
}

/// Compares all but the marks for encryption.
impl PartialEq for Properties {
    fn eq(&self, other: &Self) -> bool {
        self.properties == other.properties
    }
}

impl<'a> IntoIterator for &'a Properties {
    type Item = &'a Property<'static>;
    type IntoIter = std::slice::Iter<'a, Property<'static>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl ToProperties for Properties {
    fn append_to(&self, entity: &mut Entity) -> Result<(), EntityError> {
        for Property { name, value } in &self.properties {
            entity.push(name.clone(), value.clone());
        }
        self.encrypted.iter().for_each(|name| entity.mark_encrypted(name.clone()));
        Ok(())
    }
}
