//! An entity as bytes: small, and readable property by property without decoding the rest.
//!
//! ```text
//! entity     := format (1 byte, 1) · Timestamp in ticks (8 bytes) · properties
//! properties := count · (name length · name · type (1 byte) · value)*
//! value      := String, Binary: length · bytes; the others: 1, 4, 8 or 16 bytes
//! ```
//!
//! Counts and lengths are LEB128, fixed numbers big-endian. The keys are not here: they are the record's key.

use std::borrow::Cow;
use std::cell::Cell;

use tablerock_kv::{Bytes, Error, Result};
use tablerock_protocol::entity::property_size;
use tablerock_protocol::filter::Row;
use tablerock_protocol::{DateTime, PARTITION_KEY, Property, ROW_KEY, TIMESTAMP, Uuid, Value};

use crate::fields;

const FORMAT: u8 = 1;
const HEAD_BYTES: usize = 9;

/// The properties of an entity in stored form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Properties {
    encoded: Bytes,
    count: usize,
    /// By the service's formula, without the keys.
    size: usize,
}

impl Properties {
    pub fn encode(properties: &[Property<'_>]) -> Self {
        Self::from_pairs(properties.len(), properties.iter().map(|property| (property.name.as_ref(), &property.value)))
    }

    fn from_pairs<'v>(count: usize, pairs: impl Iterator<Item = (&'v str, &'v Value<'v>)> + Clone) -> Self {
        let bytes_max = pairs.clone().map(|(name, value)| name.len() + value_bytes_max(value) + LENGTH_BYTES_MAX);
        let mut out = Vec::with_capacity(LENGTH_BYTES_MAX + bytes_max.sum::<usize>());
        put_length(&mut out, count);
        let mut size = 0;
        for (name, value) in pairs {
            size += property_size(name, value);
            put_length(&mut out, name.len());
            out.extend_from_slice(name.as_bytes());
            put_value(&mut out, value);
        }
        Self { encoded: out.into(), count, size }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn size(&self) -> usize {
        self.size
    }

    /// The entity with these properties, written at `timestamp`.
    pub fn at(&self, timestamp: DateTime) -> StoredEntity {
        let mut value = Vec::with_capacity(HEAD_BYTES + self.encoded.len());
        value.push(FORMAT);
        value.extend_from_slice(&timestamp.ticks().to_be_bytes());
        value.extend_from_slice(&self.encoded);
        StoredEntity { bytes: value.into() }
    }

    /// The result of a merge: the properties of `current`, overridden and extended by these.
    pub fn merged_onto(&self, current: &StoredEntity) -> Result<Self> {
        let mut merged = collect(&current.bytes[HEAD_BYTES..])?;
        for (name, value) in collect(&self.encoded)? {
            match merged.iter_mut().find(|(existing, _)| *existing == name) {
                Some((_, old)) => *old = value,
                None => merged.push((name, value)),
            }
        }
        Ok(Self::from_pairs(merged.len(), merged.iter().map(|(name, value)| (*name, value))))
    }
}

fn collect(encoded: &[u8]) -> Result<Vec<(&str, Value<'_>)>> {
    let mut cursor = Cursor::new(encoded)?;
    let mut all = Vec::with_capacity(cursor.left.min(256));
    while let Some(property) = cursor.next()? {
        all.push(property);
    }
    Ok(all)
}

/// An entity as the store has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEntity {
    bytes: Bytes,
}

impl StoredEntity {
    /// Takes a stored value; whether its properties are readable shows when they are read.
    pub fn open(bytes: Bytes) -> Result<Self> {
        match bytes.first() {
            Some(&FORMAT) if bytes.len() > HEAD_BYTES => Ok(Self { bytes }),
            _ => Err(corrupt()),
        }
    }

    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }

    pub fn bytes_len(&self) -> usize {
        self.bytes.len()
    }

    pub fn timestamp(&self) -> DateTime {
        let ticks = self.bytes[1..HEAD_BYTES].try_into().expect("the head was checked when opened");
        DateTime::from_ticks(u64::from_be_bytes(ticks))
    }

    /// Hands each property to `with`, in stored order.
    pub fn read<'s, T>(&'s self, with: impl FnOnce(&mut dyn Iterator<Item = (&'s str, Value<'s>)>) -> T) -> Result<T> {
        let mut cursor = Cursor::new(&self.bytes[HEAD_BYTES..])?;
        let mut failure = None;
        let mut properties = std::iter::from_fn(|| {
            cursor.next().unwrap_or_else(|error| {
                failure = Some(error);
                None
            })
        });
        let result = with(&mut properties);
        failure.map_or(Ok(result), Err)
    }

    fn property(&self, name: &str) -> Result<Option<Value<'_>>> {
        Cursor::new(&self.bytes[HEAD_BYTES..])?.find(name)
    }
}

/// A stored entity with its keys, as a filter looks at it.
pub(super) struct EntityRow<'a> {
    pub(super) partition_key: &'a str,
    pub(super) row_key: &'a str,
    pub(super) entity: &'a StoredEntity,
    /// Set when a property could not be read; the filter's result is then meaningless.
    pub(super) corrupt: Cell<bool>,
}

impl Row for EntityRow<'_> {
    fn value(&self, property: &str) -> Option<Value<'_>> {
        match property {
            PARTITION_KEY => Some(Value::String(Cow::Borrowed(self.partition_key))),
            ROW_KEY => Some(Value::String(Cow::Borrowed(self.row_key))),
            TIMESTAMP => Some(Value::DateTime(self.entity.timestamp())),
            name => self.entity.property(name).unwrap_or_else(|_| {
                self.corrupt.set(true);
                None
            }),
        }
    }
}

pub(super) fn corrupt() -> Error {
    fields::corrupt("a stored entity")
}

/// Of a number in LEB128 that [`Cursor::length`] reads.
const LENGTH_BYTES_MAX: usize = 4;

/// How much room a value takes at most, its type included.
fn value_bytes_max(value: &Value<'_>) -> usize {
    match value {
        Value::String(text) => 1 + LENGTH_BYTES_MAX + text.len(),
        Value::Binary(bytes) => 1 + LENGTH_BYTES_MAX + bytes.len(),
        _ => 1 + size_of::<Uuid>(),
    }
}

fn put_length(out: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

fn put_value(out: &mut Vec<u8>, value: &Value<'_>) {
    out.push(tag(value));
    match value {
        Value::String(text) => {
            put_length(out, text.len());
            out.extend_from_slice(text.as_bytes());
        }
        Value::Binary(bytes) => {
            put_length(out, bytes.len());
            out.extend_from_slice(bytes);
        }
        Value::Int32(number) => out.extend_from_slice(&number.to_be_bytes()),
        Value::Int64(number) => out.extend_from_slice(&number.to_be_bytes()),
        Value::Double(number) => out.extend_from_slice(&number.to_be_bytes()),
        Value::Boolean(truth) => out.push(u8::from(*truth)),
        Value::DateTime(date) => out.extend_from_slice(&date.ticks().to_be_bytes()),
        Value::Guid(guid) => out.extend_from_slice(guid.as_bytes()),
    }
}

/// Stored for ever: a number is never given to another type.
const fn tag(value: &Value<'_>) -> u8 {
    match value {
        Value::String(_) => 1,
        Value::Int32(_) => 2,
        Value::Int64(_) => 3,
        Value::Double(_) => 4,
        Value::Boolean(_) => 5,
        Value::DateTime(_) => 6,
        Value::Guid(_) => 7,
        Value::Binary(_) => 8,
    }
}

/// Walks over encoded properties.
struct Cursor<'a> {
    rest: &'a [u8],
    left: usize,
}

impl<'a> Cursor<'a> {
    fn new(encoded: &'a [u8]) -> Result<Self> {
        let mut cursor = Self { rest: encoded, left: 0 };
        cursor.left = cursor.length()?;
        Ok(cursor)
    }

    fn next(&mut self) -> Result<Option<(&'a str, Value<'a>)>> {
        let Some(name) = self.name()? else { return Ok(None) };
        let name = std::str::from_utf8(name).map_err(|_| corrupt())?;
        Ok(Some((name, self.value()?)))
    }

    /// The value of one property; the others are stepped over, not decoded.
    fn find(mut self, wanted: &str) -> Result<Option<Value<'a>>> {
        while let Some(name) = self.name()? {
            if name == wanted.as_bytes() {
                return self.value().map(Some);
            }
            self.skip_value()?;
        }
        Ok(None)
    }

    fn name(&mut self) -> Result<Option<&'a [u8]>> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        let length = self.length()?;
        self.take(length).map(Some)
    }

    fn skip_value(&mut self) -> Result<()> {
        let length = match self.take(1)?[0] {
            1 | 8 => self.length()?,
            2 => 4,
            3 | 4 | 6 => 8,
            5 => 1,
            7 => 16,
            _ => return Err(corrupt()),
        };
        self.take(length).map(drop)
    }

    fn value(&mut self) -> Result<Value<'a>> {
        Ok(match self.take(1)?[0] {
            1 => {
                let length = self.length()?;
                Value::String(Cow::Borrowed(std::str::from_utf8(self.take(length)?).map_err(|_| corrupt())?))
            }
            2 => Value::Int32(i32::from_be_bytes(self.array()?)),
            3 => Value::Int64(i64::from_be_bytes(self.array()?)),
            4 => Value::Double(f64::from_be_bytes(self.array()?)),
            5 => Value::Boolean(self.take(1)?[0] != 0),
            6 => Value::DateTime(DateTime::from_ticks(u64::from_be_bytes(self.array()?))),
            7 => Value::Guid(Uuid::from_bytes(self.array()?)),
            8 => {
                let length = self.length()?;
                Value::Binary(Cow::Borrowed(self.take(length)?))
            }
            _ => return Err(corrupt()),
        })
    }

    fn length(&mut self) -> Result<usize> {
        let mut length = 0;
        for shift in (0..28).step_by(7) {
            let byte = self.take(1)?[0];
            length |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(length);
            }
        }
        Err(corrupt())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        Ok(self.take(N)?.try_into().expect("take gives as many bytes as asked for"))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(corrupt)?;
        self.rest = rest;
        Ok(taken)
    }
}
