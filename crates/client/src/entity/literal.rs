//! What a column can be compared with: a literal of the column's own type, so that no filter compares a number with a
//! text and silently finds nothing.

use bytes::Bytes;
use tablerock_protocol::{Uuid, Value};

use super::dates::IntoDateTime;
use super::value::IntoValue;

/// The types of properties as types of Rust, to tell columns apart.
pub mod edm {
    /// Text.
    #[derive(Debug, Clone, Copy)]
    pub struct String;
    /// A number of 32 bits.
    #[derive(Debug, Clone, Copy)]
    pub struct Int32;
    /// A number of 64 bits.
    #[derive(Debug, Clone, Copy)]
    pub struct Int64;
    /// A floating-point number.
    #[derive(Debug, Clone, Copy)]
    pub struct Double;
    /// True or false.
    #[derive(Debug, Clone, Copy)]
    pub struct Boolean;
    /// A point in time, to 100 ns.
    #[derive(Debug, Clone, Copy)]
    pub struct DateTime;
    /// A GUID.
    #[derive(Debug, Clone, Copy)]
    pub struct Guid;
    /// Bytes.
    #[derive(Debug, Clone, Copy)]
    pub struct Binary;
    /// Not known: compared with whatever the caller gives.
    #[derive(Debug, Clone, Copy)]
    pub struct Any;
}

/// A Rust value that a column of type `E` can be compared with.
pub trait IntoLiteral<E> {
    /// The literal.
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

/// For keys that are GUIDs, which are written in lower case with hyphens.
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
