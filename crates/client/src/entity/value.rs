//! Conversion of Rust values to property values, for [`Entity`](super::Entity) and columns of any type.

use std::borrow::Cow;
use std::time::SystemTime;

use bytes::Bytes;
use tablerock_protocol::{DateTime, Uuid, Value};

#[cfg(any(feature = "time", feature = "chrono"))]
use super::dates::IntoDateTime;

/// A Rust value whose type determines that of the property. A number that the service has no type for becomes the next
/// wider one.
pub trait IntoValue {
    /// Converts to a property value.
    fn into_value(self) -> Value<'static>;
}

impl IntoValue for Value<'_> {
    fn into_value(self) -> Value<'static> {
        self.into_owned()
    }
}

macro_rules! values {
    ($($rust:ty => $variant:ident;)*) => {
        $(impl IntoValue for $rust {
            fn into_value(self) -> Value<'static> {
                Value::$variant(self.into())
            }
        })*
    };
}

values! {
    i8 => Int32;
    i16 => Int32;
    i32 => Int32;
    u8 => Int32;
    u16 => Int32;
    u32 => Int64;
    i64 => Int64;
    f32 => Double;
    f64 => Double;
    bool => Boolean;
    DateTime => DateTime;
    SystemTime => DateTime;
    Uuid => Guid;
    String => String;
    Vec<u8> => Binary;
}

macro_rules! borrowed {
    ($($rust:ty => $variant:ident;)*) => {
        $(impl IntoValue for $rust {
            fn into_value(self) -> Value<'static> {
                Value::$variant(Cow::Owned((*self).to_owned().into()))
            }
        })*
    };
}

borrowed! {
    &str => String;
    &String => String;
    Cow<'_, str> => String;
    &[u8] => Binary;
    &Vec<u8> => Binary;
    Bytes => Binary;
}

impl<const N: usize> IntoValue for &[u8; N] {
    fn into_value(self) -> Value<'static> {
        Value::Binary(self.to_vec().into())
    }
}

impl<const N: usize> IntoValue for [u8; N] {
    fn into_value(self) -> Value<'static> {
        Value::Binary(self.to_vec().into())
    }
}

#[cfg(feature = "time")]
impl IntoValue for time::OffsetDateTime {
    fn into_value(self) -> Value<'static> {
        Value::DateTime(self.into_date_time())
    }
}

#[cfg(feature = "chrono")]
impl<Tz: chrono::TimeZone> IntoValue for chrono::DateTime<Tz> {
    fn into_value(self) -> Value<'static> {
        Value::DateTime(self.into_date_time())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entity, column, row_key};

    #[test]
    fn a_bag_takes_what_the_derive_takes() {
        let date = DateTime::parse("2026-01-02T03:04:05.1234567Z").unwrap();
        let entity = Entity::new("p", "r")
            .with("Int", 7)
            .with("Short", 7_u16)
            .with("Wide", u32::MAX)
            .with("Float", 0.5_f32)
            .with("Text", Cow::Borrowed("x"))
            .with("Bytes", Bytes::from_static(b"x"))
            .with("Array", b"x")
            .with("Start", SystemTime::UNIX_EPOCH)
            .with("Date", date);
        let found: Vec<Value<'static>> = entity.into_properties().into_iter().map(|property| property.value).collect();
        let epoch = DateTime::from_unix_seconds(0);
        assert_eq!(
            found,
            [
                Value::Int32(7),
                Value::Int32(7),
                Value::Int64(u32::MAX.into()),
                Value::Double(0.5),
                Value::from("x"),
                Value::Binary(b"x".as_slice().into()),
                Value::Binary(b"x".as_slice().into()),
                Value::DateTime(epoch),
                Value::DateTime(date),
            ]
        );
    }

    #[cfg(feature = "chrono")]
    #[test]
    fn a_bag_takes_dates_of_chrono() {
        let entity = Entity::new("p", "r").with("Date", chrono::DateTime::UNIX_EPOCH);
        assert_eq!(entity.get("Date"), Some(&Value::DateTime(DateTime::from_unix_seconds(0))));
    }

    #[cfg(feature = "time")]
    #[test]
    fn a_bag_takes_dates_of_time() {
        let entity = Entity::new("p", "r").with("Date", time::OffsetDateTime::UNIX_EPOCH);
        assert_eq!(entity.get("Date"), Some(&Value::DateTime(DateTime::from_unix_seconds(0))));
    }

    #[test]
    fn a_column_is_compared_with_the_same() {
        assert_eq!(column("Wide").eq(7_u32).to_string(), "Wide eq 7L");
        assert_eq!(column("Float").gt(0.5_f32).to_string(), "Float gt 0.5");
        let id = Uuid::from_u128(7);
        assert_eq!(row_key().eq(id).to_string(), format!("RowKey eq '{id}'"));
    }
}
