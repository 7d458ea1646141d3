//! The eight EDM types that a property can have.

use std::borrow::Cow;

use uuid::Uuid;

use crate::DateTime;

/// The type of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum EdmType {
    /// `Edm.String`.
    String,
    /// `Edm.Int32`.
    Int32,
    /// `Edm.Int64`.
    Int64,
    /// `Edm.Double`.
    Double,
    /// `Edm.Boolean`.
    Boolean,
    /// `Edm.DateTime`.
    DateTime,
    /// `Edm.Guid`.
    Guid,
    /// `Edm.Binary`.
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

    /// Returns the type with this name, such as `Edm.Int32`.
    pub fn from_name(name: &str) -> Option<Self> {
        use EdmType::*;
        [String, Int32, Int64, Double, Boolean, DateTime, Guid, Binary].into_iter().find(|edm| edm.name() == name)
    }
}

/// A property's value. Text and bytes are borrowed from the request or the stored record where possible.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum Value<'a> {
    /// Text.
    String(Cow<'a, str>),
    /// A 32-bit integer.
    Int32(i32),
    /// A 64-bit integer.
    Int64(i64),
    /// A 64-bit floating point number.
    Double(f64),
    /// True or false.
    Boolean(bool),
    /// A time with ticks of 100 ns.
    DateTime(DateTime),
    /// A UUID.
    Guid(Uuid),
    /// Bytes.
    Binary(Cow<'a, [u8]>),
}

impl Value<'_> {
    /// Returns the type of the value.
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

    /// Returns the value without borrowed parts.
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
