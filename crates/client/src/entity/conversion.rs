//! Lossless conversion between Rust types and property values.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use tablerock_protocol::{DateTime, EdmType, Uuid, Value};

use super::EntityError;
use super::literal::edm;

/// A Rust type that can be a property. `#[derive(PropertyValue)]` implements it for enums of unit variants and for
/// newtypes. The macro [`TableEntity`](macro@crate::TableEntity) has a table of the types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type of a property",
    label = "cannot be stored as a property",
    note = "for an enum without fields or a newtype of a property, add `#[derive(PropertyValue)]`",
    note = "`#[entity(json)]` stores the field as JSON, `#[entity(flatten)]` its properties, `#[entity(skip)]` nothing"
)]
#[doc(alias = "EntityProperty")]
pub trait PropertyValue: Sized {
    /// The type of the property, which determines the values that a column compares with.
    type Edm;

    /// Converts to a stored value; `None` omits the property.
    fn to_value(&self) -> Result<Option<Value<'static>>, EntityError>;

    /// Converts from a stored value.
    fn from_value(value: Value<'static>) -> Result<Self, EntityError>;

    /// Returns the value of a missing property; `None` if the property is required.
    fn absent() -> Option<Self> {
        None
    }
}

impl<T: PropertyValue> PropertyValue for Option<T> {
    type Edm = T::Edm;

    fn to_value(&self) -> Result<Option<Value<'static>>, EntityError> {
        self.as_ref().map_or(Ok(None), T::to_value)
    }

    fn from_value(value: Value<'static>) -> Result<Self, EntityError> {
        T::from_value(value).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// Implements types of a value, which are also read from narrower types.
macro_rules! plain {
    ($($rust:ty => $variant:ident $(, $narrow:ident)*;)*) => {
        $(impl PropertyValue for $rust {
            type Edm = edm::$variant;

            fn to_value(&self) -> Result<Option<Value<'static>>, EntityError> {
                Ok(Some(Value::$variant(self.clone().into())))
            }

            fn from_value(value: Value<'static>) -> Result<Self, EntityError> {
                match value {
                    Value::$variant(value) => Ok(value.into()),
                    $(Value::$narrow(value) => Ok(value.into()),)*
                    other => Err(EntityError::wrong_type(EdmType::$variant, &other)),
                }
            }
        })*
    };
}

plain! {
    i32 => Int32;
    i64 => Int64, Int32;
    f64 => Double, Int32;
    bool => Boolean;
    DateTime => DateTime;
    Uuid => Guid;
    String => String;
    Vec<u8> => Binary;
}

impl PropertyValue for Bytes {
    type Edm = edm::Binary;

    fn to_value(&self) -> Result<Option<Value<'static>>, EntityError> {
        Ok(Some(Value::Binary(self.to_vec().into())))
    }

    fn from_value(value: Value<'static>) -> Result<Self, EntityError> {
        Vec::from_value(value).map(Self::from)
    }
}

/// Reading fails if an `f32` does not hold the value exactly.
impl PropertyValue for f32 {
    type Edm = edm::Double;

    fn to_value(&self) -> Result<Option<Value<'static>>, EntityError> {
        Ok(Some(Value::Double((*self).into())))
    }

    fn from_value(value: Value<'static>) -> Result<Self, EntityError> {
        let wide = f64::from_value(value)?;
        let narrow = wide as f32;
        let is_exact = f64::from(narrow) == wide || wide.is_nan();
        is_exact.then_some(narrow).ok_or_else(|| EntityError::new(format!("{wide} is out of range for f32")))
    }
}

/// Implements integers that the service has no type for, in the next wider type. Reading checks the range.
macro_rules! widened {
    ($($rust:ty => $variant:ident as $wide:ty;)*) => {
        $(impl PropertyValue for $rust {
            type Edm = edm::$variant;

            fn to_value(&self) -> Result<Option<Value<'static>>, EntityError> {
                Ok(Some(Value::$variant(<$wide>::from(*self))))
            }

            fn from_value(value: Value<'static>) -> Result<Self, EntityError> {
                let wide = <$wide>::from_value(value)?;
                wide.try_into().map_err(|_| {
                    EntityError::new(format!("{wide} is out of range for {}", stringify!($rust)))
                })
            }
        })*
    };
}

widened! {
    i8 => Int32 as i32;
    i16 => Int32 as i32;
    u8 => Int32 as i32;
    u16 => Int32 as i32;
    u32 => Int64 as i64;
}

/// Implements integers that the widest type of the service does not hold. Writing checks the range as well.
macro_rules! checked {
    ($($rust:ty),*) => {
        $(impl PropertyValue for $rust {
            type Edm = edm::Int64;

            fn to_value(&self) -> Result<Option<Value<'static>>, EntityError> {
                let stored = i64::try_from(*self);
                let out_of_range = |_| EntityError::new(format!("{self} is out of range for Edm.Int64"));
                stored.map(|stored| Some(Value::Int64(stored))).map_err(out_of_range)
            }

            fn from_value(value: Value<'static>) -> Result<Self, EntityError> {
                let wide = i64::from_value(value)?;
                wide.try_into().map_err(|_| {
                    EntityError::new(format!("{wide} is out of range for {}", stringify!($rust)))
                })
            }
        })*
    };
}

checked!(u64, usize, isize);

/// Implements text in other containers than `String`.
macro_rules! texts {
    ($($rust:ty),*) => {
        $(impl PropertyValue for $rust {
            type Edm = edm::String;

            fn to_value(&self) -> Result<Option<Value<'static>>, EntityError> {
                Ok(Some(Value::String(Cow::Owned(String::from(&**self)))))
            }

            fn from_value(value: Value<'static>) -> Result<Self, EntityError> {
                String::from_value(value).map(Self::from)
            }
        })*
    };
}

texts!(Cow<'_, str>, Box<str>, Arc<str>);

/// Reading fails if the property has another number of bytes.
impl<const N: usize> PropertyValue for [u8; N] {
    type Edm = edm::Binary;

    fn to_value(&self) -> Result<Option<Value<'static>>, EntityError> {
        Ok(Some(Value::Binary(self.to_vec().into())))
    }

    fn from_value(value: Value<'static>) -> Result<Self, EntityError> {
        let bytes = Vec::from_value(value)?;
        bytes.try_into().map_err(|bytes: Vec<u8>| EntityError::new(format!("has {} bytes instead of {N}", bytes.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round<T: PropertyValue>(value: &T) -> T {
        T::from_value(value.to_value().unwrap().unwrap()).unwrap()
    }

    #[test]
    fn values_survive_exactly() {
        for number in [i64::MIN, -1, 0, i64::MAX, (1 << 53) + 1] {
            assert_eq!(round(&number), number);
        }
        for ticks in [DateTime::MIN_STORED.ticks(), DateTime::MAX.ticks(), 637_000_000_000_000_001] {
            assert_eq!(round(&DateTime::from_ticks(ticks)).ticks(), ticks);
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(round(&all), all);
        assert_eq!(round(&Bytes::from(all.clone())), all);
        assert_eq!(round(&-0.0_f64).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(round(&u32::MAX), u32::MAX);
        assert_eq!(round(&(i64::MAX as u64)), i64::MAX as u64);
        assert_eq!(round(&[7_u8; 16]), [7; 16]);
        assert_eq!(round(&Cow::Borrowed("x")), "x");
        assert_eq!(round(&0.1_f32), 0.1);
        assert!(round(&f32::NAN).is_nan());
        assert_eq!(round(&Some("x".to_owned())).as_deref(), Some("x"));
    }

    #[test]
    fn only_what_loses_nothing_is_converted() {
        assert_eq!(i64::from_value(Value::Int32(7)), Ok(7));
        assert_eq!(f64::from_value(Value::Int32(7)), Ok(7.0));
        assert!(i32::from_value(Value::Int64(7)).is_err());
        assert!(f64::from_value(Value::Int64(7)).is_err());
        assert!(f32::from_value(Value::Double(0.1)).is_err());
        let error = u8::from_value(Value::Int32(300)).unwrap_err().with_property("Age");
        assert_eq!(error.to_string(), "property Age: 300 is out of range for u8");
        let error = u64::MAX.to_value().unwrap_err();
        assert_eq!(error.to_string(), "18446744073709551615 is out of range for Edm.Int64");
        assert!(usize::from_value(Value::Int64(-1)).is_err());
        let error = <[u8; 16]>::from_value(Value::Binary(vec![1, 2].into())).unwrap_err();
        assert_eq!(error.to_string(), "has 2 bytes instead of 16");
        let error = String::from_value(Value::Int32(3)).unwrap_err();
        assert_eq!(error.to_string(), "is Edm.Int32, not Edm.String");
    }

    #[test]
    fn an_option_leaves_its_property_out() {
        assert_eq!(None::<i32>.to_value(), Ok(None));
        assert_eq!(Option::<i32>::absent(), Some(None));
        assert_eq!(i32::absent(), None);
    }
}
