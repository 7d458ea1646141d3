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

fn not_a_struct<T>() -> Result<T, EntityError> {
    Err(EntityError::new("an entity is a struct or a map with text as keys"))
}

macro_rules! reject {
    ($($function:ident($($argument:ty),*);)*) => {
        $(fn $function(self $(, _: $argument)*) -> Result<Properties, EntityError> {
            not_a_struct()
        })*
    };
}

impl Serializer for EntitySerializer {
    type Ok = Properties;
    type Error = EntityError;
    type SerializeSeq = Impossible<Properties, EntityError>;
    type SerializeTuple = Impossible<Properties, EntityError>;
    type SerializeTupleStruct = Impossible<Properties, EntityError>;
    type SerializeTupleVariant = Impossible<Properties, EntityError>;
    type SerializeMap = Fields;
    type SerializeStruct = Fields;
    type SerializeStructVariant = Impossible<Properties, EntityError>;

    reject! {
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
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(&'static str);
        serialize_unit_variant(&'static str, u32, &'static str);
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Properties, EntityError> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Properties, EntityError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Properties, EntityError> {
        not_a_struct()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, EntityError> {
        not_a_struct()
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, EntityError> {
        not_a_struct()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, EntityError> {
        not_a_struct()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, EntityError> {
        not_a_struct()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Fields, EntityError> {
        Ok(Fields::default())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Fields, EntityError> {
        Ok(Fields::default())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, EntityError> {
        not_a_struct()
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
    type SerializeSeq = Impossible<Self::Ok, NotScalar>;
    type SerializeTuple = Impossible<Self::Ok, NotScalar>;
    type SerializeTupleStruct = Impossible<Self::Ok, NotScalar>;
    type SerializeTupleVariant = Impossible<Self::Ok, NotScalar>;
    type SerializeMap = Impossible<Self::Ok, NotScalar>;
    type SerializeStruct = Impossible<Self::Ok, NotScalar>;
    type SerializeStructVariant = Impossible<Self::Ok, NotScalar>;

    scalars! {
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

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Scalar {
        value.serialize(self)
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

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Scalar {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Scalar {
        Err(NotScalar::Compound)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, NotScalar> {
        Err(NotScalar::Compound)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, NotScalar> {
        Err(NotScalar::Compound)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, NotScalar> {
        Err(NotScalar::Compound)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, NotScalar> {
        Err(NotScalar::Compound)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, NotScalar> {
        Err(NotScalar::Compound)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, NotScalar> {
        Err(NotScalar::Compound)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, NotScalar> {
        Err(NotScalar::Compound)
    }
}
