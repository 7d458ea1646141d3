//! From an entity to a type of serde.

use std::borrow::Cow;

use serde::de::value::{SeqDeserializer, StringDeserializer};
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;
use tablerock_protocol::{PARTITION_KEY, ROW_KEY, TIMESTAMP, Value};

use super::{ETAG, is_system};
use crate::{Entity, EntityError};

/// Deserializes an entity as a struct or a map.
pub(super) struct EntityDeserializer {
    fields: Vec<(Cow<'static, str>, Value<'static>)>,
}

impl EntityDeserializer {
    pub(super) fn new(mut entity: Entity) -> Self {
        let mut fields = vec![
            (PARTITION_KEY.into(), Value::from(std::mem::take(&mut entity.partition_key))),
            (ROW_KEY.into(), Value::from(std::mem::take(&mut entity.row_key))),
        ];
        fields.extend(entity.timestamp.map(|timestamp| (TIMESTAMP.into(), Value::DateTime(timestamp))));
        fields.extend(entity.etag.take().map(|etag| (ETAG.into(), Value::from(etag.to_string()))));
        fields.extend(entity.into_properties().into_iter().map(|property| (property.name, property.value)));
        Self { fields }
    }
}

impl<'de> Deserializer<'de> for EntityDeserializer {
    type Error = EntityError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, EntityError> {
        visitor.visit_map(Fields { rest: self.fields.into_iter(), next: None })
    }

    /// A struct that rejects unknown fields gets keys, Timestamp and ETag only if it has them.
    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, EntityError> {
        self.fields.retain(|(name, _)| !is_system(name) || fields.contains(&name.as_ref()));
        self.deserialize_any(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, EntityError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, EntityError> {
        visitor.visit_some(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map enum identifier ignored_any
    }
}

struct Fields {
    rest: std::vec::IntoIter<(Cow<'static, str>, Value<'static>)>,
    next: Option<(Cow<'static, str>, Value<'static>)>,
}

impl<'de> MapAccess<'de> for Fields {
    type Error = EntityError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, EntityError> {
        self.next = self.rest.next();
        let Some((name, _)) = &self.next else { return Ok(None) };
        let key: StringDeserializer<EntityError> = name.clone().into_owned().into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, EntityError> {
        let (name, value) = self.next.take().ok_or_else(|| EntityError::new("a value was read before its name"))?;
        seed.deserialize(ValueDeserializer(value)).map_err(|error| error.with_property(&name))
    }
}

/// Deserializes one property.
struct ValueDeserializer(Value<'static>);

/// Deserializes JSON in a string.
macro_rules! from_json {
    ($self:expr, $visitor:ident, $function:ident($($argument:expr),*)) => {
        match $self.0 {
            Value::String(json) => {
                let mut json = serde_json::Deserializer::from_reader(json.as_bytes());
                let value = json.$function($($argument,)* $visitor);
                value.and_then(|value| json.end().map(|()| value)).map_err(|error| EntityError::new(error.to_string()))
            }
            other => Self(other).deserialize_any($visitor),
        }
    };
}

impl<'de> Deserializer<'de> for ValueDeserializer {
    type Error = EntityError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, EntityError> {
        match self.0 {
            Value::String(text) => visitor.visit_string(text.into_owned()),
            Value::Int32(number) => visitor.visit_i32(number),
            Value::Int64(number) => visitor.visit_i64(number),
            Value::Double(number) => visitor.visit_f64(number),
            Value::Boolean(flag) => visitor.visit_bool(flag),
            Value::DateTime(date) => visitor.visit_string(date.to_string()),
            Value::Guid(id) => visitor.visit_string(id.to_string()),
            Value::Binary(bytes) => visitor.visit_byte_buf(bytes.into_owned()),
            #[allow(unreachable_patterns, reason = "the type is exhaustive in a build with the server")]
            other => Err(EntityError::new(format!("serde has no value for {}", other.edm_type().name()))),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, EntityError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, EntityError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, EntityError> {
        from_json!(self, visitor, deserialize_unit())
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, EntityError> {
        from_json!(self, visitor, deserialize_unit_struct(name))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, EntityError> {
        match self.0 {
            Value::Binary(bytes) => visitor.visit_seq(SeqDeserializer::new(bytes.iter().copied())),
            other => from_json!((Self(other)), visitor, deserialize_seq()),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, EntityError> {
        match self.0 {
            Value::Binary(bytes) => visitor.visit_seq(SeqDeserializer::new(bytes.iter().copied())),
            other => from_json!((Self(other)), visitor, deserialize_tuple(len)),
        }
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, EntityError> {
        from_json!(self, visitor, deserialize_tuple_struct(name, len))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, EntityError> {
        from_json!(self, visitor, deserialize_map())
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, EntityError> {
        from_json!(self, visitor, deserialize_struct(name, fields))
    }

    /// A variant without fields is its name, any other JSON.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, EntityError> {
        match self.0 {
            Value::String(text) if !text.starts_with('{') => {
                let variant: StringDeserializer<EntityError> = text.into_owned().into_deserializer();
                variant.deserialize_enum(name, variants, visitor)
            }
            other => from_json!((Self(other)), visitor, deserialize_enum(name, variants)),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf identifier ignored_any
    }
}
