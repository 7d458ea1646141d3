//! Entities as JSON at the three metadata levels.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::number::{append_double, append_integer};
use super::text::{append_escaped, append_json_string};
use crate::etag::append_etag;
use crate::{DateTime, MetadataLevel, PARTITION_KEY, ROW_KEY, Select, TIMESTAMP, Value};

/// The characters that the service escapes in the keys of an address. An apostrophe is then doubled, not encoded.
const ADDRESS_ESCAPES: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'!')
    .remove(b'*')
    .remove(b'(')
    .remove(b')');

/// The location of the addressed table: the parts of every URL in a response.
#[derive(Debug, Clone, Copy)]
pub struct Location<'a> {
    /// The service root as the client addressed it, without a trailing slash.
    pub base: &'a str,
    /// The name of the account.
    pub account: &'a str,
    /// The table as the client spelled it.
    pub table: &'a str,
}

/// The format of the entities of one response.
#[derive(Debug, Clone, Copy)]
pub struct EntityShape<'a> {
    /// The base URL and the table.
    pub location: Location<'a>,
    /// The amount of metadata.
    pub level: MetadataLevel,
    /// The properties to write.
    pub select: &'a Select,
}

/// Appends `T(PartitionKey='p',RowKey='r')`, the relative address of an entity.
pub fn append_address(out: &mut Vec<u8>, table: &str, partition_key: &str, row_key: &str) {
    out.extend_from_slice(table.as_bytes());
    out.extend_from_slice(b"(PartitionKey='");
    append_address_key(out, partition_key);
    out.extend_from_slice(b"',RowKey='");
    append_address_key(out, row_key);
    out.extend_from_slice(b"')");
}

fn append_address_key(out: &mut Vec<u8>, key: &str) {
    for piece in utf8_percent_encode(key, ADDRESS_ESCAPES) {
        out.extend_from_slice(if piece == "%27" { b"''" } else { piece.as_bytes() });
    }
}

/// Appends one entity. `standalone` is an entity that is a whole body; in a collection the metadata URL stands
/// outside, once.
pub fn append_entity<'v>(
    out: &mut Vec<u8>,
    shape: &EntityShape<'_>,
    standalone: bool,
    partition_key: &str,
    row_key: &str,
    timestamp: DateTime,
    properties: impl Iterator<Item = (&'v str, Value<'v>)>,
) {
    let mut object = Object { out, shape, is_request: false, empty: true };
    object.out.push(b'{');
    object.metadata(standalone, partition_key, row_key, timestamp);
    object.system(partition_key, row_key, timestamp);
    object.properties(properties);
    out.push(b'}');
}

pub(super) struct Object<'a> {
    pub(super) out: &'a mut Vec<u8>,
    pub(super) shape: &'a EntityShape<'a>,
    /// Requests annotate every Double: some servers do not recognize one in a whole number.
    pub(super) is_request: bool,
    pub(super) empty: bool,
}

impl Object<'_> {
    fn metadata(&mut self, standalone: bool, partition_key: &str, row_key: &str, timestamp: DateTime) {
        let EntityShape { location: Location { base, account, table }, level, select } = *self.shape;
        if level == MetadataLevel::None {
            return;
        }
        if standalone {
            self.own_member("odata.metadata");
            self.text(&[base, "/$metadata#", table, "/@Element", &select.metadata_suffix()]);
        }
        if level == MetadataLevel::Full {
            self.own_member("odata.type");
            self.text(&[account, ".", table]);
            self.own_member("odata.id");
            self.out.push(b'"');
            append_escaped(self.out, base);
            self.out.push(b'/');
            append_address(self.out, table, partition_key, row_key);
            self.out.push(b'"');
        }
        self.own_member("odata.etag");
        self.out.push(b'"');
        append_etag(self.out, timestamp, b"\\\"");
        self.out.push(b'"');
        if level == MetadataLevel::Full {
            self.own_member("odata.editLink");
            self.out.push(b'"');
            append_address(self.out, table, partition_key, row_key);
            self.out.push(b'"');
        }
    }

    fn system(&mut self, partition_key: &str, row_key: &str, timestamp: DateTime) {
        let select = self.shape.select;
        for (name, key) in [(PARTITION_KEY, partition_key), (ROW_KEY, row_key)] {
            if select.includes(name) {
                self.own_member(name);
                append_json_string(self.out, key);
            }
        }
        if select.includes(TIMESTAMP) {
            if self.shape.level == MetadataLevel::Full {
                self.annotation(TIMESTAMP, "Edm.DateTime");
            }
            self.own_member(TIMESTAMP);
            self.date(timestamp);
        }
    }

    /// With a projection, a name that the entity lacks comes back as null.
    fn properties<'v>(&mut self, properties: impl Iterator<Item = (&'v str, Value<'v>)>) {
        let Some(names) = self.shape.select.names() else {
            properties.for_each(|(name, value)| self.property(name, &value));
            return;
        };
        let is_system = |name: &str| matches!(name, PARTITION_KEY | ROW_KEY | TIMESTAMP);
        let mut missing: Vec<&str> = names.iter().map(String::as_str).filter(|name| !is_system(name)).collect();
        for (name, value) in properties {
            if let Some(place) = missing.iter().position(|wanted| *wanted == name) {
                missing.remove(place);
                self.property(name, &value);
            }
        }
        for name in missing {
            self.member(name);
            self.out.extend_from_slice(b"null");
        }
    }

    pub(super) fn property(&mut self, name: &str, value: &Value<'_>) {
        let is_annotated = is_annotated(value) || (self.is_request && matches!(value, Value::Double(_)));
        if self.shape.level != MetadataLevel::None && is_annotated {
            self.annotation(name, value.edm_type().name());
        }
        self.member(name);
        match value {
            Value::String(text) => append_json_string(self.out, text),
            Value::Int32(number) => append_integer(self.out, number),
            Value::Int64(number) => {
                self.out.push(b'"');
                append_integer(self.out, number);
                self.out.push(b'"');
            }
            Value::Double(number) => self.double(*number),
            Value::Boolean(truth) => self.out.extend_from_slice(if *truth { b"true" } else { b"false" }),
            Value::DateTime(date) => self.date(*date),
            Value::Guid(guid) => append_json_string(self.out, guid.hyphenated().encode_lower(&mut [0; 36])),
            Value::Binary(bytes) => {
                self.out.push(b'"');
                self.out.extend_from_slice(STANDARD.encode(bytes).as_bytes());
                self.out.push(b'"');
            }
        }
    }

    fn double(&mut self, number: f64) {
        match number {
            _ if number.is_finite() => append_double(self.out, number),
            _ if number.is_nan() => self.out.extend_from_slice(b"\"NaN\""),
            _ if number > 0.0 => self.out.extend_from_slice(b"\"Infinity\""),
            _ => self.out.extend_from_slice(b"\"-Infinity\""),
        }
    }

    /// A string out of several pieces.
    fn text(&mut self, pieces: &[&str]) {
        self.out.push(b'"');
        pieces.iter().for_each(|piece| append_escaped(self.out, piece));
        self.out.push(b'"');
    }

    fn date(&mut self, date: DateTime) {
        self.out.push(b'"');
        date.append_trimmed(self.out, b":");
        self.out.push(b'"');
    }

    fn annotation(&mut self, name: &str, edm: &str) {
        self.separator();
        self.out.push(b'"');
        append_escaped(self.out, name);
        self.out.extend_from_slice(b"@odata.type\":\"");
        self.out.extend_from_slice(edm.as_bytes());
        self.out.push(b'"');
    }

    fn member(&mut self, name: &str) {
        self.separator();
        append_json_string(self.out, name);
        self.out.push(b':');
    }

    /// A member whose name is known to need no escape.
    pub(super) fn own_member(&mut self, name: &'static str) {
        self.separator();
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    fn separator(&mut self) {
        if !std::mem::take(&mut self.empty) {
            self.out.push(b',');
        }
    }
}

/// Types that JSON itself cannot show.
fn is_annotated(value: &Value<'_>) -> bool {
    match value {
        Value::Int64(_) | Value::DateTime(_) | Value::Guid(_) | Value::Binary(_) => true,
        Value::Double(number) => !number.is_finite(),
        Value::String(_) | Value::Boolean(_) | Value::Int32(_) => false,
    }
}
