//! Entities: their addresses, contents and versions.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use fastrand::Rng;
use serde_json::{Map, Value};

/// The table and the keys of an entity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    pub table: String,
    pub partition: String,
    pub row: String,
}

impl Address {
    pub fn new(table: impl Into<String>, partition: impl Into<String>, row: impl Into<String>) -> Self {
        Self { table: table.into(), partition: partition.into(), row: row.into() }
    }

    /// The path of the entity's own resource. The keys in use need no escaping.
    pub fn path(&self) -> String {
        format!("/{}(PartitionKey='{}',RowKey='{}')", self.table, self.partition, self.row)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.table, self.partition, self.row)
    }
}

/// The properties of an entity, without keys and Timestamp.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Content(BTreeMap<String, Value>);

impl Content {
    /// Properties that no other write has: each contains the name of the write.
    pub fn unique(write: &str, bytes: usize, rng: &mut Rng) -> Self {
        let mut properties = BTreeMap::new();
        properties.insert("Write".to_owned(), Value::from(write));
        let name = format!("P{}", rng.u8(0..6));
        properties.insert(name, Value::from(format!("{write} {}", filler(bytes, rng))));
        properties.insert("Number".to_owned(), Value::from(rng.i32(..)));
        Self(properties)
    }

    /// The result of merging `newer` into this.
    #[must_use]
    pub fn merged(&self, newer: &Content) -> Self {
        let mut properties = self.0.clone();
        properties.extend(newer.0.clone());
        Self(properties)
    }

    /// The value of one property.
    pub fn property(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The body of a request that writes it.
    pub fn body(&self, address: &Address) -> Value {
        let mut body: Map<String, Value> = self.0.clone().into_iter().collect();
        body.insert("PartitionKey".to_owned(), Value::from(address.partition.as_str()));
        body.insert("RowKey".to_owned(), Value::from(address.row.as_str()));
        Value::Object(body)
    }

    /// A hash, kept instead of the content to save memory.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for (name, value) in &self.0 {
            (name, value.to_string()).hash(&mut hasher);
        }
        hasher.finish()
    }
}

impl From<Map<String, Value>> for Content {
    fn from(properties: Map<String, Value>) -> Self {
        Self(properties.into_iter().collect())
    }
}

impl fmt::Display for Content {
    /// The names of the writes that its properties come from.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let marks = self.0.values().filter_map(Value::as_str).map(|text| text.split(' ').next().unwrap_or_default());
        write!(f, "{}", marks.collect::<Vec<_>>().join("+"))
    }
}

/// Text that compresses badly, so that files grow by its length.
fn filler(bytes: usize, rng: &mut Rng) -> String {
    (0..bytes).map(|_| rng.alphanumeric()).collect()
}

/// A stored version of an entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    pub content: Content,
    pub etag: Etag,
}

/// An ETag, which contains the Timestamp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Etag(String);

impl Etag {
    /// Parses `W/"datetime'2020-09-15T23%3A02%3A09.1767714Z'"`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let etag = Self(text.to_owned());
        if etag.inner().is_some() { Ok(etag) } else { Err(format!("{text} is not an ETag")) }
    }

    fn inner(&self) -> Option<&str> {
        self.0.strip_prefix("W/\"datetime'")?.strip_suffix("Z'\"")
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The Timestamp in the ETag.
    pub fn timestamp(&self) -> Timestamp {
        Timestamp::from_text(&self.inner().unwrap_or_default().replace("%3A", ":"))
    }
}

/// A Timestamp with all seven digits, so that text order is time order.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(String);

impl Timestamp {
    /// Parses `2020-09-15T23:02:09.17677`, with or without a `Z`. The service omits trailing zeros.
    pub fn from_text(text: &str) -> Self {
        let text = text.trim_end_matches('Z');
        let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
        Self(format!("{seconds}.{fraction:0<7}"))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_compare_as_times_do() {
        let etag = |fraction: &str| format!("W/\"datetime'2020-09-15T23%3A02%3A09{fraction}Z'\"");
        let at = |fraction: &str| Etag::parse(&etag(fraction)).unwrap().timestamp();
        assert!(at("") < at(".0000001") && at(".09") < at(".1") && at(".1") < at(".1000001"));
        assert_eq!(at(".17"), Timestamp::from_text("2020-09-15T23:02:09.17Z"));
        assert!(Etag::parse("*").is_err());
    }

    #[test]
    fn a_merge_keeps_what_it_does_not_name() {
        let mut rng = Rng::with_seed(1);
        let (older, newer) = (Content::unique("a", 4, &mut rng), Content::unique("b", 4, &mut rng));
        let merged = older.merged(&newer);
        assert_eq!(merged.property("Write"), Some(&Value::from("b")));
        assert_ne!(merged.fingerprint(), older.fingerprint());
        assert_eq!(merged, merged.merged(&newer));
    }
}
