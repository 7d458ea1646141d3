//! The eight EDM types that a property can have.

use std::borrow::Cow;

use uuid::Uuid;

use crate::DateTime;

/// The type of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EdmType {
    String,
    Int32,
    Int64,
    Double,
    Boolean,
    DateTime,
    Guid,
    Binary,
}

impl EdmType {
    /// As annotations name it.
    pub const fn name(self) -> &'static str {
        match self {
            EdmType::String => "Edm.String",
            EdmType::Int32 => "Edm.Int32",
            EdmType::Int64 => "Edm.Int64",
            EdmType::Double => "Edm.Double",
            EdmType::Boolean => "Edm.Boolean",
            EdmType::DateTime => "Edm.DateTime",
            EdmType::Guid => "Edm.Guid",
            EdmType::Binary => "Edm.Binary",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        use EdmType::*;
        [String, Int32, Int64, Double, Boolean, DateTime, Guid, Binary].into_iter().find(|edm| edm.name() == name)
    }
}

/// A property's value. Text and bytes are borrowed from the request or the stored record where possible.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    String(Cow<'a, str>),
    Int32(i32),
    Int64(i64),
    Double(f64),
    Boolean(bool),
    DateTime(DateTime),
    Guid(Uuid),
    Binary(Cow<'a, [u8]>),
}

impl Value<'_> {
    pub const fn edm_type(&self) -> EdmType {
        match self {
            Value::String(_) => EdmType::String,
            Value::Int32(_) => EdmType::Int32,
            Value::Int64(_) => EdmType::Int64,
            Value::Double(_) => EdmType::Double,
            Value::Boolean(_) => EdmType::Boolean,
            Value::DateTime(_) => EdmType::DateTime,
            Value::Guid(_) => EdmType::Guid,
            Value::Binary(_) => EdmType::Binary,
        }
    }

    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::String(text) => Value::String(Cow::Owned(text.into_owned())),
            Value::Binary(bytes) => Value::Binary(Cow::Owned(bytes.into_owned())),
            Value::Int32(number) => Value::Int32(number),
            Value::Int64(number) => Value::Int64(number),
            Value::Double(number) => Value::Double(number),
            Value::Boolean(truth) => Value::Boolean(truth),
            Value::DateTime(date) => Value::DateTime(date),
            Value::Guid(guid) => Value::Guid(guid),
        }
    }
}
