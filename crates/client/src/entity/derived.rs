//! Functions for derived code. They may change with any release.

use std::collections::HashSet;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tablerock_protocol::{DateTime, Property, Value};

pub use super::names::Names;
use super::{Entity, EntityError, FromEntity, Properties, PropertyValue, ToProperties};

/// The names of a type that has those of other types.
pub trait Joined {
    const NAMES: Names;
}

/// Adds the name of a property to an error.
pub fn named<T>(name: &str, result: Result<T, EntityError>) -> Result<T, EntityError> {
    result.map_err(|error| error.with_property(name))
}

pub fn put(
    entity: &mut Entity,
    name: &'static str,
    value: Result<Option<Value<'static>>, EntityError>,
) -> Result<(), EntityError> {
    if let Some(value) = named(name, value)? {
        entity.push(name, value);
    }
    Ok(())
}

pub fn put_json<T: Serialize>(entity: &mut Entity, name: &'static str, value: &T) -> Result<(), EntityError> {
    let text = serde_json::to_string(value).map_err(|error| EntityError::new(error.to_string()).with_property(name))?;
    if text != "null" {
        entity.push(name, Value::from(text));
    }
    Ok(())
}

pub fn encrypt(entity: &mut Entity, names: &[&'static str]) {
    names.iter().for_each(|name| entity.mark_encrypted(*name));
}

/// Checks that a flattened struct or the rest has no property of another field.
pub fn check_unique(entity: &Entity) -> Result<(), EntityError> {
    let mut names = HashSet::new();
    match entity.properties().iter().find(|property| !names.insert(property.name.as_ref())) {
        Some(twice) => {
            let why = "two fields have it: remove it from the flattened struct or the rest";
            Err(EntityError::new(why).with_property(&twice.name))
        }
        None => Ok(()),
    }
}

pub fn properties(entity: &mut Entity) -> Vec<Property<'static>> {
    entity.take_properties()
}

/// A field with `#[entity(flatten)]`. Derived code calls this trait only, so a wrong type is one error.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be flattened into an entity",
    label = "not a struct of properties",
    note = "add `#[derive(TableEntity)]` to the type, or store the field as JSON with `#[entity(json)]`"
)]
pub trait Flatten: Sized {
    const SELECT: Option<&'static [&'static str]>;

    /// Converts the properties that the type has; leaves the others.
    fn take(entity: &Entity, others: &mut Vec<Property<'static>>) -> Result<Self, EntityError>;

    fn put(&self, entity: &mut Entity) -> Result<(), EntityError>;
}

#[diagnostic::do_not_recommend]
impl<T: FromEntity + ToProperties> Flatten for T {
    const SELECT: Option<&'static [&'static str]> = <T as FromEntity>::SELECT;

    fn take(entity: &Entity, others: &mut Vec<Property<'static>>) -> Result<T, EntityError> {
        let names = <T as FromEntity>::SELECT;
        let is_own =
            |property: &mut Property<'static>| names.is_none_or(|names| names.contains(&property.name.as_ref()));
        let own: Vec<Property<'static>> = others.extract_if(.., is_own).collect();
        T::from_entity(entity.with_properties(own))
    }

    fn put(&self, entity: &mut Entity) -> Result<(), EntityError> {
        self.append_to(entity)
    }
}

/// Returns the properties that no field has.
pub fn rest(entity: &Entity, others: Vec<Property<'static>>) -> Properties {
    Properties::of(entity, others)
}

pub fn take_json<T: DeserializeOwned>(name: &str, value: Value<'static>) -> Result<T, EntityError> {
    let text = named(name, String::from_value(value))?;
    serde_json::from_str(&text).map_err(|error| EntityError::new(error.to_string()).with_property(name))
}

pub fn required<T>(name: &str, value: Option<T>) -> Result<T, EntityError> {
    value.ok_or_else(|| EntityError::missing(name))
}

pub fn or_null<T: DeserializeOwned>(name: &str, value: Option<T>) -> Result<T, EntityError> {
    let null = || serde_json::from_value(serde_json::Value::Null).ok();
    required(name, value.or_else(null))
}

pub fn timestamp<T: PropertyValue>(timestamp: Option<DateTime>) -> Result<T, EntityError> {
    match timestamp {
        Some(timestamp) => named("Timestamp", T::from_value(Value::DateTime(timestamp))),
        None => required("Timestamp", T::absent()),
    }
}
