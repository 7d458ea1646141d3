//! Rust's own types as values of properties.

use std::borrow::Cow;

use uuid::Uuid;

use crate::{DateTime, Value};

macro_rules! value_from {
    ($($from:ty => $variant:ident;)*) => {
        $(impl From<$from> for Value<'_> {
            fn from(value: $from) -> Self {
                Self::$variant(value.into())
            }
        })*
    };
}

value_from! {
    i32 => Int32;
    i64 => Int64;
    f64 => Double;
    bool => Boolean;
    DateTime => DateTime;
    Uuid => Guid;
    String => String;
    Vec<u8> => Binary;
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::String(Cow::Borrowed(text))
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Self::String(Cow::Borrowed(text))
    }
}

impl<'a> From<Cow<'a, str>> for Value<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Self::String(text)
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Binary(Cow::Borrowed(bytes))
    }
}
