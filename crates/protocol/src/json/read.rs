//! Request bodies: a JSON object into typed properties, in one pass over the bytes.

use std::borrow::Cow;
use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use uuid::Uuid;

use crate::entity::{EntityBody, PARTITION_KEY, Property, ROW_KEY, TIMESTAMP};
use crate::{DateTime, EdmType, ErrorCode, ServiceError, Value, limits};

const TYPE_ANNOTATION: &str = "@odata.type";
const ETAG: &str = "odata.etag";

/// Reads an entity and checks it by the rules of [`EntityBody::check`].
pub fn parse_entity(body: &[u8]) -> Result<EntityBody<'_>, ServiceError> {
    let entity = typed_entity(parse_members(body)?, DateTime::MIN_STORED)?;
    entity.check()?;
    Ok(entity)
}

/// Reads the changes of an entity whose keys are in the URL. Those in the body count for nothing, and may be declared as
/// any type: the SDK for Python writes a key that was a date, a GUID or bytes with its type.
pub fn parse_changes(body: &[u8]) -> Result<Vec<Property<'_>>, ServiceError> {
    let mut members = parse_members(body)?;
    members.types.retain(|(name, _)| !matches!(name.as_ref(), PARTITION_KEY | ROW_KEY));
    let entity = typed_entity(members, DateTime::MIN_STORED)?;
    entity.check()?;
    Ok(entity.properties)
}

/// Gives members their types. The entity is not checked, but for dates before the given one.
pub(super) fn typed_entity(members: Members<'_>, oldest: DateTime) -> Result<EntityBody<'_>, ServiceError> {
    let mut entity = EntityBody::default();
    let Members { values, types, .. } = members;
    entity.properties.reserve(values.len());
    for (name, raw) in values {
        let declared = declared_type(&types, &name)?;
        let target = match name.as_ref() {
            PARTITION_KEY => &mut entity.partition_key,
            ROW_KEY => &mut entity.row_key,
            _ => {
                if let Some(value) = typed(&name, raw, declared, oldest)? {
                    entity.properties.push(Property { name, value });
                }
                continue;
            }
        };
        if target.is_some() {
            return Err(ErrorCode::DuplicatePropertiesSpecified.into());
        }
        *target = key(raw, declared)?;
    }
    Ok(entity)
}

/// Reads the body of Create Table.
pub fn parse_table_name(body: &[u8]) -> Result<Cow<'_, str>, ServiceError> {
    let members = parse_members(body)?;
    match members.values.into_iter().find(|(name, _)| name == "TableName") {
        Some((_, Raw::Text(name))) => Ok(name),
        None | Some((_, Raw::Null)) => Err(ErrorCode::PropertiesNeedValue.into()),
        Some(_) => Err(ServiceError::unreadable_body()),
    }
}

/// A value as JSON has it. Objects and arrays are only remembered as such: no property can hold one.
#[derive(Debug)]
enum Raw<'a> {
    Null,
    Boolean(bool),
    Integer(i64),
    Number(f64),
    Text(Cow<'a, str>),
    Compound,
}

impl<'a> Raw<'a> {
    fn text(self) -> Option<Cow<'a, str>> {
        if let Raw::Text(text) = self { Some(text) } else { None }
    }
}

#[derive(Debug, Default)]
pub(super) struct Members<'a> {
    values: Vec<(Cow<'a, str>, Raw<'a>)>,
    /// Names of properties with the types that are declared for them, in the order of the names.
    types: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// The version in a response. Requests ignore both.
    pub(super) timestamp: Option<Cow<'a, str>>,
    pub(super) etag: Option<Cow<'a, str>>,
}

/// Room for the members of most entities, annotations apart.
const MEMBERS_EXPECTED: usize = 16;
/// More members than any entity and its annotations could need.
const MEMBERS_MAX: usize = 8 * limits::ENTITY_PROPERTIES_MAX;

pub(super) fn parse_members(body: &[u8]) -> Result<Members<'_>, ServiceError> {
    let mut json = serde_json::Deserializer::from_str(text(body)?);
    let members = json.deserialize_map(MembersVisitor).and_then(|members| json.end().map(|()| members));
    let members = members.map_err(|_| ServiceError::unreadable_body())?;
    if members.values.len() > MEMBERS_MAX { Err(ErrorCode::TooManyProperties.into()) } else { Ok(members) }
}

/// The text of a body. Checking it as a whole costs less than checking each of its strings.
pub(super) fn text(body: &[u8]) -> Result<&str, ServiceError> {
    std::str::from_utf8(body).map_err(|_| ServiceError::unreadable_body())
}

pub(super) struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Members { values: Vec::with_capacity(MEMBERS_EXPECTED), ..Members::default() };
        while let Some(Text(name)) = map.next_key()? {
            let value: Raw<'de> = map.next_value()?;
            // Clients send back what they read, `odata.etag` and the like included, and Timestamp is ours.
            if name.ends_with(TYPE_ANNOTATION) {
                if let Raw::Text(edm) = value {
                    members.types.push((without_annotation(name), edm));
                }
            } else if name == TIMESTAMP {
                members.timestamp = value.text();
            } else if name == ETAG {
                members.etag = value.text();
            } else if !name.starts_with("odata.") && !name.contains('@') {
                members.values.push((name, value));
            }
        }
        members.types.sort_by(|(left, _), (right, _)| left.cmp(right));
        Ok(members)
    }
}

fn without_annotation(name: Cow<'_, str>) -> Cow<'_, str> {
    let length = name.len() - TYPE_ANNOTATION.len();
    match name {
        Cow::Borrowed(name) => Cow::Borrowed(&name[..length]),
        Cow::Owned(mut name) => {
            name.truncate(length);
            Cow::Owned(name)
        }
    }
}

/// A string that borrows from the body unless it had escapes.
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl<'de> serde::Deserialize<'de> for Text<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

impl<'de> serde::Deserialize<'de> for Raw<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Raw::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Self::Value, E> {
        Ok(Raw::Boolean(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Raw::Integer(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(number).map_or(Raw::Number(number as f64), Raw::Integer))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Raw::Number(number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Raw::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Raw::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Raw::Compound)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Raw::Compound)
    }
}

/// The type that is declared for a property; of several, the last.
fn declared_type(types: &[(Cow<'_, str>, Cow<'_, str>)], name: &str) -> Result<Option<EdmType>, ServiceError> {
    let after = types.partition_point(|(annotated, _)| annotated.as_ref() <= name);
    match types[..after].last() {
        Some((annotated, edm)) if annotated == name => {
            EdmType::from_name(edm).map(Some).ok_or_else(ServiceError::unreadable_body)
        }
        _ => Ok(None),
    }
}

/// A key is a String, and is declared as nothing else.
fn key(raw: Raw<'_>, declared: Option<EdmType>) -> Result<Option<Cow<'_, str>>, ServiceError> {
    match (raw, declared) {
        (Raw::Text(text), None | Some(EdmType::String)) => Ok(Some(text)),
        (Raw::Null, None | Some(EdmType::String)) => Ok(None),
        _ => Err(ErrorCode::InvalidInput.into()),
    }
}

/// The value of a property: by its annotation if it has one, else by what JSON shows. `None` is null.
fn typed<'a>(
    name: &str,
    raw: Raw<'a>,
    declared: Option<EdmType>,
    oldest: DateTime,
) -> Result<Option<Value<'a>>, ServiceError> {
    if matches!(raw, Raw::Null) {
        return Ok(None);
    }
    let value = match declared {
        None => plain(raw),
        Some(EdmType::DateTime) => return date(name, raw, oldest).map(Some),
        Some(edm) => annotated(raw, edm),
    };
    value.map(Some).ok_or_else(ServiceError::unreadable_body)
}

/// Without an annotation, an integer outside Int32 is a Double: that is what the live service makes of it.
fn plain(raw: Raw<'_>) -> Option<Value<'_>> {
    Some(match raw {
        Raw::Boolean(truth) => Value::Boolean(truth),
        Raw::Integer(number) => i32::try_from(number).map_or(Value::Double(number as f64), Value::Int32),
        Raw::Number(number) => Value::Double(number),
        Raw::Text(text) => Value::String(text),
        Raw::Null | Raw::Compound => return None,
    })
}

fn annotated(raw: Raw<'_>, edm: EdmType) -> Option<Value<'_>> {
    Some(match (edm, raw) {
        (EdmType::String, Raw::Text(text)) => Value::String(text),
        (EdmType::Int32, Raw::Integer(number)) => Value::Int32(number.try_into().ok()?),
        (EdmType::Int32, Raw::Text(text)) => Value::Int32(text.parse().ok()?),
        (EdmType::Int64, Raw::Integer(number)) => Value::Int64(number),
        (EdmType::Int64, Raw::Text(text)) => Value::Int64(text.parse().ok()?),
        (EdmType::Double, Raw::Integer(number)) => Value::Double(number as f64),
        (EdmType::Double, Raw::Number(number)) => Value::Double(number),
        (EdmType::Double, Raw::Text(text)) => Value::Double(double(&text)?),
        (EdmType::Boolean, Raw::Boolean(truth)) => Value::Boolean(truth),
        (EdmType::Boolean, Raw::Text(text)) => Value::Boolean(text.to_ascii_lowercase().parse().ok()?),
        (EdmType::Guid, Raw::Text(text)) => Value::Guid(Uuid::try_parse(&text).ok()?),
        (EdmType::Binary, Raw::Text(text)) => Value::Binary(Cow::Owned(STANDARD.decode(text.as_bytes()).ok()?)),
        _ => return None,
    })
}

fn double(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" | "INF" => Some(f64::INFINITY),
        "-Infinity" | "-INF" => Some(f64::NEG_INFINITY),
        _ if text.bytes().any(|byte| byte.is_ascii_digit()) => {
            text.parse().ok().filter(|number: &f64| number.is_finite())
        }
        _ => None,
    }
}

/// A date that is well-formed and impossible to store is out of range, which has its own error.
fn date<'a>(name: &str, raw: Raw<'a>, oldest: DateTime) -> Result<Value<'a>, ServiceError> {
    let Raw::Text(text) = raw else { return Err(ServiceError::unreadable_body()) };
    match DateTime::parse(&text) {
        Ok(date) if date < oldest => Err(ServiceError::parameter_out_of_range(name, &date.to_message_form())),
        Ok(date) => Ok(Value::DateTime(date)),
        Err(_) => Err(ServiceError::unreadable_body()),
    }
}
