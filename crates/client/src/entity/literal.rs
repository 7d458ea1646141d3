//! Literals of filters. A column compares only with literals of its type: the service would silently match nothing.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use tablerock_protocol::{Uuid, Value};

use super::dates::IntoDateTime;
use super::value::IntoValue;

/// The types of properties as Rust types, for [`Column`](super::Column).
pub mod edm {
    /// `Edm.String`.
    #[derive(Debug, Clone, Copy)]
    pub struct String;
    /// `Edm.Int32`.
    #[derive(Debug, Clone, Copy)]
    pub struct Int32;
    /// `Edm.Int64`.
    #[derive(Debug, Clone, Copy)]
    pub struct Int64;
    /// `Edm.Double`.
    #[derive(Debug, Clone, Copy)]
    pub struct Double;
    /// `Edm.Boolean`.
    #[derive(Debug, Clone, Copy)]
    pub struct Boolean;
    /// `Edm.DateTime`, in ticks of 100 ns.
    #[derive(Debug, Clone, Copy)]
    pub struct DateTime;
    /// `Edm.Guid`.
    #[derive(Debug, Clone, Copy)]
    pub struct Guid;
    /// `Edm.Binary`.
    #[derive(Debug, Clone, Copy)]
    pub struct Binary;
    /// An unknown type, which compares with values of any type.
    #[derive(Debug, Clone, Copy)]
    pub struct Any;
}

/// A Rust value that compares with a column of type `E`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not compare with a column of type `{E}`",
    label = "the service would match nothing",
    note = "a value has to have the type of the column: the macro `TableEntity` has a table of the types"
)]
pub trait IntoLiteral<E> {
    /// Converts to a literal.
    fn into_literal(self) -> Value<'static>;
}

impl<T: IntoValue> IntoLiteral<edm::Any> for T {
    fn into_literal(self) -> Value<'static> {
        self.into_value()
    }
}

impl<T: IntoDateTime> IntoLiteral<edm::DateTime> for T {
    fn into_literal(self) -> Value<'static> {
        Value::DateTime(self.into_date_time())
    }
}

macro_rules! literals {
    ($($rust:ty => $edm:ident;)*) => {
        $(impl IntoLiteral<edm::$edm> for $rust {
            fn into_literal(self) -> Value<'static> {
                Value::$edm(self.into())
            }
        })*
    };
}

literals! {
    i32 => Int32;
    i16 => Int32;
    i8 => Int32;
    u16 => Int32;
    u8 => Int32;
    i64 => Int64;
    i32 => Int64;
    i16 => Int64;
    i8 => Int64;
    u8 => Int64;
    u16 => Int64;
    u32 => Int64;
    f64 => Double;
    f32 => Double;
    i32 => Double;
    bool => Boolean;
    Uuid => Guid;
    String => String;
    Vec<u8> => Binary;
}

/// Implements integers that the service's type does not hold. A literal outside of its range is its nearest value.
macro_rules! saturated {
    ($($rust:ty => $nearest:ident),*) => {
        $(impl IntoLiteral<edm::Int64> for $rust {
            fn into_literal(self) -> Value<'static> {
                Value::Int64(i64::try_from(self).unwrap_or(i64::$nearest))
            }
        })*
    };
}

impl IntoLiteral<edm::Int64> for isize {
    fn into_literal(self) -> Value<'static> {
        Value::Int64(self as i64)
    }
}

saturated!(u64 => MAX, usize => MAX);

impl IntoLiteral<edm::String> for Cow<'_, str> {
    fn into_literal(self) -> Value<'static> {
        Value::String(self.into_owned().into())
    }
}

impl IntoLiteral<edm::String> for Box<str> {
    fn into_literal(self) -> Value<'static> {
        Value::String(String::from(self).into())
    }
}

impl IntoLiteral<edm::String> for Arc<str> {
    fn into_literal(self) -> Value<'static> {
        Value::String(self.as_ref().to_owned().into())
    }
}

impl<const N: usize> IntoLiteral<edm::Binary> for [u8; N] {
    fn into_literal(self) -> Value<'static> {
        Value::Binary(self.to_vec().into())
    }
}

impl IntoLiteral<edm::String> for &str {
    fn into_literal(self) -> Value<'static> {
        Value::String(self.to_owned().into())
    }
}

impl IntoLiteral<edm::String> for &String {
    fn into_literal(self) -> Value<'static> {
        Value::String(self.clone().into())
    }
}

impl IntoLiteral<edm::Binary> for &[u8] {
    fn into_literal(self) -> Value<'static> {
        Value::Binary(self.to_vec().into())
    }
}

impl<const N: usize> IntoLiteral<edm::Binary> for &[u8; N] {
    fn into_literal(self) -> Value<'static> {
        Value::Binary(self.to_vec().into())
    }
}

/// Formats a GUID in lower case with hyphens, for keys.
impl IntoLiteral<edm::String> for Uuid {
    fn into_literal(self) -> Value<'static> {
        Value::String(self.to_string().into())
    }
}

impl IntoLiteral<edm::Binary> for Bytes {
    fn into_literal(self) -> Value<'static> {
        Value::Binary(self.to_vec().into())
    }
}
