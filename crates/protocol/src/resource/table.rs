//! The resource that a path of the Table service addresses.
//!
//! Keys may contain any of `(),='` and percent escapes, and clients differ in what they encode, so the key
//! predicate is read as a stream of tokens after decoding, never split.

use std::borrow::Cow;

use memchr::{memchr, memchr2};
use percent_encoding::percent_decode_str;

use crate::{ErrorCode, ServiceError};

/// A resource of the Table service. Names and keys are as sent: not checked beyond their syntax.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableResource {
    /// The service root: properties and stats.
    Service,
    /// `/Tables`: the set of all tables.
    Tables,
    /// `/Tables('name')`.
    Table {
        /// The name of the table.
        name: String,
    },
    /// `/T` or `/T()`: the set of a table's entities.
    Entities {
        /// The name of the table.
        table: String,
    },
    /// `/T(PartitionKey='..',RowKey='..')`.
    Entity {
        /// The name of the table.
        table: String,
        /// The partition key.
        partition_key: String,
        /// The row key.
        row_key: String,
    },
    /// `/$batch`.
    Batch,
    /// `/T/Tables` and the like, which a client produces when its endpoint already ends in a table's name.
    Nested {
        /// The name of the table.
        table: String,
        /// Whether the second segment has keys.
        with_keys: bool,
    },
}

impl TableResource {
    /// Reads the path below the account's root, still percent-encoded. Repeated slashes are tolerated: clients
    /// whose endpoint ends in a slash produce them.
    pub fn parse(raw_path: &str) -> Result<Self, ServiceError> {
        let mut segments = raw_path.split('/').filter(|segment| !segment.is_empty());
        let Some(first) = segments.next() else { return Ok(Self::Service) };
        let first = Segment::parse(first)?;
        match (segments.next(), segments.next()) {
            (None, _) => first.into_resource(),
            (Some(second), None) if matches!(first.keys, Keys::Absent | Keys::Empty) => {
                let second = Segment::parse(second)?;
                Ok(Self::Nested { table: first.name, with_keys: !matches!(second.keys, Keys::Absent | Keys::Empty) })
            }
            _ => Err(ErrorCode::InvalidUri.into()),
        }
    }
}

struct Segment {
    name: String,
    keys: Keys,
}

enum Keys {
    /// `T`
    Absent,
    /// `T()`
    Empty,
    /// `T('x')`
    Single(String),
    /// `T(PartitionKey='a',RowKey='b')`
    Both { partition_key: String, row_key: String },
    /// Another number of keys, or others by name.
    Other,
}

impl Segment {
    fn parse(raw: &str) -> Result<Self, ServiceError> {
        let decoded = match memchr(b'%', raw.as_bytes()) {
            Some(_) => percent_decode_str(raw).decode_utf8().map_err(|_| syntax_error())?,
            None => Cow::Borrowed(raw),
        };
        let Some((name, predicate)) = split_at_byte(&decoded, b'(') else {
            return Ok(Self { name: decoded.into_owned(), keys: Keys::Absent });
        };
        let keys = KeyReader { rest: predicate }.keys().ok_or_else(syntax_error)?;
        Ok(Self { name: name.to_owned(), keys })
    }

    fn into_resource(self) -> Result<TableResource, ServiceError> {
        let table = self.name;
        let is_tables = table.eq_ignore_ascii_case("Tables");
        match self.keys {
            Keys::Absent | Keys::Empty if is_tables => Ok(TableResource::Tables),
            Keys::Absent if table == "$batch" => Ok(TableResource::Batch),
            Keys::Absent | Keys::Empty => Ok(TableResource::Entities { table }),
            Keys::Single(name) if is_tables => Ok(TableResource::Table { name }),
            Keys::Both { partition_key, row_key } if !is_tables => {
                // The service splits the path where an encoded slash was, for every method.
                let is_split = |key: &str| memchr2(b'/', b'\\', key.as_bytes()).is_some();
                if is_split(&partition_key) || is_split(&row_key) {
                    return Err(syntax_error());
                }
                Ok(TableResource::Entity { table, partition_key, row_key })
            }
            _ => Err(key_count_error(&table)),
        }
    }
}

/// The service's response to a key predicate that it cannot read.
fn syntax_error() -> ServiceError {
    ServiceError::with_message(ErrorCode::InvalidInput, "Bad Request - Error in query syntax.")
}

/// The service's response to `T('x')`, `Tables(PartitionKey=…)` and the like.
pub fn key_count_error(resource: &str) -> ServiceError {
    ServiceError::with_message(
        ErrorCode::InvalidInput,
        format!(
            "The number of keys specified in the URI does not match number of key properties for the resource \
             '{resource}'."
        ),
    )
}

/// The text before and after the first of an ASCII character.
fn split_at_byte(text: &str, byte: u8) -> Option<(&str, &str)> {
    let place = memchr(byte, text.as_bytes())?;
    Some((&text[..place], &text[place + 1..]))
}

struct KeyReader<'a> {
    rest: &'a str,
}

impl<'a> KeyReader<'a> {
    fn keys(mut self) -> Option<Keys> {
        if self.accept(')') {
            return self.rest.is_empty().then_some(Keys::Empty);
        }
        if self.rest.trim_start().starts_with('\'') {
            let name = self.literal()?;
            return (self.accept(')') && self.rest.is_empty()).then_some(Keys::Single(name));
        }
        let (first, first_key) = self.named()?;
        let mut second = None;
        let mut more = false;
        while self.accept(',') {
            more = second.replace(self.named()?).is_some();
        }
        if !self.accept(')') || !self.rest.is_empty() {
            return None;
        }
        Some(match second.filter(|_| !more) {
            Some((second, row_key)) if (first, second) == ("PartitionKey", "RowKey") => {
                Keys::Both { partition_key: first_key, row_key }
            }
            Some((second, partition_key)) if (first, second) == ("RowKey", "PartitionKey") => {
                Keys::Both { partition_key, row_key: first_key }
            }
            _ => Keys::Other,
        })
    }

    /// `PartitionKey='a'`
    fn named(&mut self) -> Option<(&'a str, String)> {
        let name = self.identifier()?;
        self.accept('=').then_some(())?;
        Some((name, self.literal()?))
    }

    fn accept(&mut self, wanted: char) -> bool {
        let trimmed = self.rest.trim_start_matches(' ');
        match trimmed.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn identifier(&mut self) -> Option<&'a str> {
        let trimmed = self.rest.trim_start_matches(' ');
        let end = trimmed.find(|next: char| !next.is_alphanumeric()).unwrap_or(trimmed.len());
        let (name, rest) = trimmed.split_at(end);
        self.rest = rest;
        (!name.is_empty()).then_some(name)
    }

    /// A quoted string in which a quote is doubled.
    fn literal(&mut self) -> Option<String> {
        let mut rest = self.rest.trim_start_matches(' ').strip_prefix('\'')?;
        let mut text = String::new();
        loop {
            let (before, after) = split_at_byte(rest, b'\'')?;
            text.push_str(before);
            match after.strip_prefix('\'') {
                Some(again) => {
                    text.push('\'');
                    rest = again;
                }
                None => {
                    self.rest = after;
                    return Some(text);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(path: &str) -> (String, String) {
        match TableResource::parse(path) {
            Ok(TableResource::Entity { partition_key, row_key, .. }) => (partition_key, row_key),
            other => panic!("{path}: {other:?}"),
        }
    }

    #[test]
    fn every_clients_quoting_names_the_same_key() {
        let spellings = [
            "/People(PartitionKey='o%27%27b%20r%2B%28%C3%A9%29%25',RowKey='r')",
            "/People(PartitionKey='o''b%20r%2B(%C3%A9)%25',RowKey='r')",
            "/People(PartitionKey=%27o%27%27b%20r%2B(%C3%A9)%25%27,RowKey=%27r%27)",
            "//People(RowKey='r', PartitionKey='o''b%20r+(%C3%A9)%25')",
        ];
        for path in spellings {
            assert_eq!(entity(path), ("o'b r+(é)%".to_owned(), "r".to_owned()), "{path}");
        }
        assert_eq!(entity("/T(PartitionKey='',RowKey='')"), (String::new(), String::new()));
        assert_eq!(entity("/T(PartitionKey='a),RowKey=',RowKey='b''')"), ("a),RowKey=".to_owned(), "b'".to_owned()));
    }

    #[test]
    fn the_other_resources_are_told_apart() {
        assert_eq!(TableResource::parse("/"), Ok(TableResource::Service));
        assert_eq!(TableResource::parse("/Tables()"), Ok(TableResource::Tables));
        assert_eq!(TableResource::parse("/Tables(%27People%27)"), Ok(TableResource::Table { name: "People".into() }));
        assert_eq!(TableResource::parse("/%24batch"), Ok(TableResource::Batch));
        assert_eq!(TableResource::parse("/T()"), Ok(TableResource::Entities { table: "T".into() }));
        assert_eq!(
            TableResource::parse("/T/Tables"),
            Ok(TableResource::Nested { table: "T".into(), with_keys: false })
        );
        assert_eq!(
            TableResource::parse("/T/Tables('T')"),
            Ok(TableResource::Nested { table: "T".into(), with_keys: true })
        );
    }

    #[test]
    fn predicates_that_are_none_are_refused() {
        for path in [
            "/T('a')",
            "/T(PartitionKey='a')",
            "/T(A='a',B='b')",
            "/T(PartitionKey='a',PartitionKey='b')",
            "/T(PartitionKey='a',RowKey='b',RowKey='c')",
            "/T(PartitionKey='a',RowKey='b',RowKey='c',RowKey='d')",
            "/T(PartitionKey='a',RowKey='b'",
            "/T(PartitionKey='a' RowKey='b')",
            "/T(PartitionKey=a,RowKey=b)",
            "/T(%FF)",
            "/T(PartitionKey='a%2Fb',RowKey='b')",
            "/T(PartitionKey='a',RowKey='b%5Cc')",
            "/T()x",
        ] {
            assert_eq!(TableResource::parse(path).unwrap_err().code, ErrorCode::InvalidInput, "{path}");
        }
        assert_eq!(TableResource::parse("/a/b/c").unwrap_err().code, ErrorCode::InvalidUri);
    }
}
