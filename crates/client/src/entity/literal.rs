//! Literals of filters. A column compares only with literals of its type: the service would silently match nothing.

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
    u32 => Int64;
    f64 => Double;
    f32 => Double;
    i32 => Double;
    bool => Boolean;
    Uuid => Guid;
    String => String;
    Vec<u8> => Binary;
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
