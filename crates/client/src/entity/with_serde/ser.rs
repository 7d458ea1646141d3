//! From a type of serde to properties.

use serde::ser::{Impossible, SerializeMap, SerializeStruct};
use serde::{Serialize, Serializer};
use tablerock_protocol::Value;

use crate::EntityError;
use crate::entity::PropertyValue;

type Properties = Vec<(String, Value<'static>)>;

pub(super) fn properties<T: Serialize>(value: &T) -> Result<Properties, EntityError> {
    value.serialize(EntitySerializer)
}

/// Serializes a struct or a map.
struct EntitySerializer;

/// The properties so far, and the key of the next one.
#[derive(Default)]
struct Fields {
    properties: Properties,
    key: Option<String>,
}

impl Fields {
    fn put<T: Serialize + ?Sized>(&mut self, name: String, value: &T) -> Result<(), EntityError> {
        let property = match value.serialize(ScalarSerializer) {
            Ok(property) => property,
            Err(NotScalar::Compound) => {
                let json = serde_json::to_string(value).map_err(|error| EntityError::new(error.to_string()));
                Some(Value::from(json.map_err(|error| error.with_property(&name))?))
            }
            Err(NotScalar::Failed(error)) => return Err(error.with_property(&name)),
        };
        self.properties.extend(property.map(|value| (name, value)));
        Ok(())
    }
}

impl SerializeStruct for Fields {
    type Ok = Properties;
    type Error = EntityError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), EntityError> {
        self.put(name.to_owned(), value)
    }

    fn end(self) -> Result<Properties, EntityError> {
        Ok(self.properties)
    }
}

impl SerializeMap for Fields {
    type Ok = Properties;
    type Error = EntityError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), EntityError> {
        match key.serialize(ScalarSerializer) {
            Ok(Some(Value::String(key))) => self.key = Some(key.into_owned()),
            _ => return Err(EntityError::new("the key of a map is not a string, so it cannot be a property's name")),
        }
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EntityError> {
        let name = self.key.take().ok_or_else(|| EntityError::new("a map has a value without a key"))?;
        self.put(name, value)
    }

    fn end(self) -> Result<Properties, EntityError> {
        Ok(self.properties)
    }
}

/// The kinds of a value that is one property: a number or a truth value.
macro_rules! for_numbers {
    ($apply:ident) => {
        $apply! {
            serialize_bool(bool);
            serialize_i8(i8);
            serialize_i16(i16);
            serialize_i32(i32);
            serialize_i64(i64);
            serialize_u8(u8);
            serialize_u16(u16);
            serialize_u32(u32);
            serialize_u64(u64);
            serialize_f32(f32);
            serialize_f64(f64);
        }
    };
}

/// The kinds of a value that neither an entity nor a property is.
macro_rules! reject_compounds {
    ($error:ty, $rejection:expr) => {
        type SerializeSeq = Impossible<Self::Ok, $error>;
        type SerializeTuple = Impossible<Self::Ok, $error>;
        type SerializeTupleStruct = Impossible<Self::Ok, $error>;
        type SerializeTupleVariant = Impossible<Self::Ok, $error>;
        type SerializeStructVariant = Impossible<Self::Ok, $error>;

        fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, $error> {
            Err($rejection)
        }

        fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, $error> {
            Err($rejection)
        }

        fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, $error> {
            Err($rejection)
        }

        fn serialize_tuple_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeTupleVariant, $error> {
            Err($rejection)
        }

        fn serialize_struct_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeStructVariant, $error> {
            Err($rejection)
        }

        fn serialize_newtype_variant<T: Serialize + ?Sized>(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: &T,
        ) -> Result<Self::Ok, $error> {
            Err($rejection)
        }

        fn serialize_newtype_struct<T: Serialize + ?Sized>(
            self,
            _: &'static str,
            value: &T,
        ) -> Result<Self::Ok, $error> {
            value.serialize(self)
        }

        fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Self::Ok, $error> {
            value.serialize(self)
        }
    };
}

fn not_a_struct() -> EntityError {
    EntityError::new("an entity is a struct or a map with text as keys")
}

macro_rules! reject {
    ($($function:ident($($argument:ty),*);)*) => {
        $(fn $function(self $(, _: $argument)*) -> Result<Properties, EntityError> {
            Err(not_a_struct())
        })*
    };
}

impl Serializer for EntitySerializer {
    type Ok = Properties;
    type Error = EntityError;
    type SerializeMap = Fields;
    type SerializeStruct = Fields;

    for_numbers!(reject);

    reject! {
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(&'static str);
        serialize_unit_variant(&'static str, u32, &'static str);
    }

    reject_compounds!(EntityError, not_a_struct());

    fn serialize_map(self, _: Option<usize>) -> Result<Fields, EntityError> {
        Ok(Fields::default())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Fields, EntityError> {
        Ok(Fields::default())
    }
}

/// Serializes one property.
struct ScalarSerializer;

/// A value that is not one property.
#[derive(Debug)]
enum NotScalar {
    /// It is stored as JSON.
    Compound,
    Failed(EntityError),
}

impl std::fmt::Display for NotScalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Compound => f.write_str("is not one value"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NotScalar {}

impl serde::ser::Error for NotScalar {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self::Failed(EntityError::new(message.to_string()))
    }
}

type Scalar = Result<Option<Value<'static>>, NotScalar>;

macro_rules! scalars {
    ($($function:ident($rust:ty);)*) => {
        $(fn $function(self, value: $rust) -> Scalar {
            value.to_value().map_err(NotScalar::Failed)
        })*
    };
}

impl Serializer for ScalarSerializer {
    type Ok = Option<Value<'static>>;
    type Error = NotScalar;
    type SerializeMap = Impossible<Self::Ok, NotScalar>;
    type SerializeStruct = Impossible<Self::Ok, NotScalar>;

    for_numbers!(scalars);

    reject_compounds!(NotScalar, NotScalar::Compound);

    fn serialize_char(self, value: char) -> Scalar {
        Ok(Some(Value::from(value.to_string())))
    }

    fn serialize_str(self, value: &str) -> Scalar {
        Ok(Some(Value::from(value.to_owned())))
    }

    fn serialize_bytes(self, value: &[u8]) -> Scalar {
        Ok(Some(Value::Binary(value.to_vec().into())))
    }

    fn serialize_none(self) -> Scalar {
        Ok(None)
    }

    fn serialize_unit(self) -> Scalar {
        Ok(None)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Scalar {
        Ok(None)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Scalar {
        Ok(Some(Value::from(variant)))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, NotScalar> {
        Err(NotScalar::Compound)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, NotScalar> {
        Err(NotScalar::Compound)
    }
}
