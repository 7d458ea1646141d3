//! Responses as a client reads them: entities with their version, pages of entities, names of tables.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::read::{Members, MembersVisitor, Text, parse_members, text, typed_entity};
use crate::{DateTime, EntityBody, ServiceError};

/// An entity of a response. With a projection, properties that were not selected are absent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AnsweredEntity<'a> {
    /// The keys and properties.
    pub body: EntityBody<'a>,
    /// The time of the last change.
    pub timestamp: Option<DateTime>,
    /// The ETag.
    pub etag: Option<Cow<'a, str>>,
}

/// Parses the response to a point read or an insert.
pub fn parse_answered_entity(body: &[u8]) -> Result<AnsweredEntity<'_>, ServiceError> {
    AnsweredEntity::from_members(parse_members(body)?)
}

/// Reads the entities of a page of a query.
pub fn parse_answered_entities(body: &[u8]) -> Result<Vec<AnsweredEntity<'_>>, ServiceError> {
    let page: Page<Members<'_>> = serde_json::from_str(text(body)?).map_err(|_| ServiceError::unreadable_body())?;
    page.value.into_iter().map(AnsweredEntity::from_members).collect()
}

/// Reads the names of a page of a listing of tables.
pub fn parse_answered_tables(body: &[u8]) -> Result<Vec<String>, ServiceError> {
    let page: Page<TableItem> = serde_json::from_str(text(body)?).map_err(|_| ServiceError::unreadable_body())?;
    Ok(page.value.into_iter().map(|item| item.name).collect())
}

impl<'a> AnsweredEntity<'a> {
    fn from_members(mut members: Members<'a>) -> Result<Self, ServiceError> {
        let timestamp = members.timestamp.take().map(|text| DateTime::parse(&text)).transpose();
        let timestamp = timestamp.map_err(|_| ServiceError::unreadable_body())?;
        let etag = members.etag.take();
        // The server decides which values may be stored, and other servers have other rules.
        Ok(Self { body: typed_entity(members, DateTime::from_ticks(0))?, timestamp, etag })
    }
}

/// The array `value` of a collection; the other members are not about the items.
struct Page<T> {
    value: Vec<T>,
}

#[derive(Deserialize)]
struct TableItem {
    #[serde(rename = "TableName")]
    name: String,
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Page<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PageVisitor(std::marker::PhantomData))
    }
}

struct PageVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PageVisitor<T> {
    type Value = Page<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a collection")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut value = None;
        while let Some(Text(name)) = map.next_key()? {
            if name == "value" {
                value = Some(map.next_value::<Items<T>>()?.0);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        let value = value.ok_or_else(|| serde::de::Error::missing_field("value"))?;
        Ok(Page { value })
    }
}

struct Items<T>(Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Items<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ItemsVisitor<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for ItemsVisitor<T> {
            type Value = Items<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Items(items))
            }
        }
        deserializer.deserialize_seq(ItemsVisitor(std::marker::PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Property, Value};

    #[test]
    fn an_entity_comes_with_its_version() {
        let body = br#"{"odata.metadata":"x","odata.etag":"W/\"datetime'2020'\"","PartitionKey":"p","RowKey":"r",
            "Timestamp":"2020-09-15T23:02:09.1767714Z","age@odata.type":"Edm.Int64","age":"39","gone":null}"#;
        let entity = parse_answered_entity(body).unwrap();
        assert_eq!(entity.etag.as_deref(), Some("W/\"datetime'2020'\""));
        assert_eq!(entity.timestamp.unwrap().to_string(), "2020-09-15T23:02:09.1767714Z");
        assert_eq!(entity.body.partition_key.as_deref(), Some("p"));
        assert_eq!(entity.body.properties, [Property { name: "age".into(), value: Value::Int64(39) }]);
    }

    #[test]
    fn an_answer_may_hold_any_date() {
        for date in ["0001-01-01T00:00:00Z", "1600-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.9999999Z"] {
            let body = format!(r#"{{"value":[{{"when@odata.type":"Edm.DateTime","when":"{date}"}}]}}"#);
            let entities = parse_answered_entities(body.as_bytes()).unwrap();
            assert_eq!(entities[0].body.properties[0].value, Value::DateTime(DateTime::parse(date).unwrap()));
        }
    }

    #[test]
    fn a_page_is_its_items_whatever_stands_beside_them() {
        let page = br#"{"odata.metadata":"x","value":[{"PartitionKey":"a"},{"RowKey":"b","x":1}],"more":[{}]}"#;
        let entities = parse_answered_entities(page).unwrap();
        assert_eq!(entities.len(), 2);
        assert_eq!(entities[0].body.row_key, None);
        assert_eq!(entities[1].body.properties.len(), 1);
        let tables = br#"{"value":[{"TableName":"a"},{"odata.id":"y","TableName":"b"}]}"#;
        assert_eq!(parse_answered_tables(tables).unwrap(), ["a", "b"]);
    }

    #[test]
    fn what_is_no_page_is_an_error() {
        for body in ["", "[]", "{}", "{\"value\":{}}", "{\"value\":[1]}", "{\"value\":[]"] {
            assert!(parse_answered_entities(body.as_bytes()).is_err(), "{body}");
        }
        assert!(parse_answered_entity(b"{\"Timestamp\":\"yesterday\"}").is_err());
    }
}
