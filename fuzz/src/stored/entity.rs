//! Stored entities.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value as Json;
use tablerock_kv::{Error, ErrorKind, ManualClock};
use tablerock_protocol::filter::{Comparison, Operator};
use tablerock_protocol::json::{EntityShape, Location, append_entity};
use tablerock_protocol::{Filter, MetadataLevel, Property, Select, Value};
use tablerock_services::table::{EntityQuery, Properties, StoredEntity, keys};
use tablerock_services::{TableService, ThrottleTargets};

use super::{store_with, unless_corrupt};
use crate::known_table::{ACCOUNT, NOON, TABLE};

/// The value alone.
pub(super) fn check(stored: &Bytes) {
    let entity = match StoredEntity::open(stored.clone()) {
        Ok(entity) => entity,
        Err(error) => return assert_corrupt(&error),
    };
    let properties = match entity.read(|properties| properties.map(owned).collect::<Vec<_>>()) {
        Ok(properties) => properties,
        Err(error) => return assert_corrupt(&error),
    };
    let again = Properties::encode(&properties).at(entity.timestamp());
    assert_eq!(again.timestamp(), entity.timestamp());
    let read_again = again.read(|properties| properties.map(owned).collect::<Vec<_>>()).expect("just encoded");
    assert_eq!(format!("{properties:?}"), format!("{read_again:?}"));
    assert!(again.bytes_len() <= stored.len(), "our own encoding is the shortest");

    let merged = Properties::encode(&properties).merged_onto(&entity).expect("both were read");
    assert!(merged.count() <= properties.len());
    check_written(&entity);
}

/// An entity that can be read can be sent in a response.
fn check_written(entity: &StoredEntity) {
    let location = Location { base: "http://127.0.0.1:10002/acct", account: ACCOUNT, table: TABLE };
    let shape = EntityShape { location, level: MetadataLevel::Full, select: &Select::default() };
    let mut body = Vec::new();
    let timestamp = entity.timestamp();
    let written = entity.read(|properties| append_entity(&mut body, &shape, true, "p", "r", timestamp, properties));
    written.expect("it has been read before");
    let json: Result<Json, _> = serde_json::from_slice(&body);
    assert!(json.is_ok_and(|json| json.is_object()) && body.is_ascii());
}

/// The value as the only entity of a table: a query returns what reading the value gives, and a filter over each
/// property finds it. A look at single properties may miss damage behind them, but never finds what is not there.
pub(super) async fn check_in_table(stored: &Bytes) {
    const TABLE_ID: u64 = 1;
    let store = store_with(&keys::entity_partition(TABLE_ID, "p"), b"r", stored).await;
    let clock = Arc::new(ManualClock::at(NOON));
    let service = TableService::open(store, clock, ThrottleTargets::default()).await.expect("an open store");
    let name = tablerock_protocol::TableName::parse(TABLE).expect("a name");
    service.create_table(ACCOUNT, &name).await.expect("the first table, which gets the first id");

    let all = service.query_entities(ACCOUNT, TABLE, &EntityQuery::default()).await;
    let Some(page) = unless_corrupt(all) else { return };
    let entity = &page.entities[0].entity;
    let Ok(properties) = entity.read(|properties| properties.map(owned).collect::<Vec<_>>()) else { return };
    for Property { name, value } in &properties {
        let is_first =
            properties.iter().find(|other| other.name == *name).is_some_and(|first| same(&first.value, value));
        let comparison =
            Comparison { property: name.clone().into_owned(), operator: Operator::Eq, literal: value.clone() };
        let is_nan = matches!(value, Value::Double(number) if number.is_nan());
        let is_system = matches!(name.as_ref(), "PartitionKey" | "RowKey" | "Timestamp");
        let query = EntityQuery { filter: Some(Filter::Compare(comparison)), ..EntityQuery::default() };
        let found = service.query_entities(ACCOUNT, TABLE, &query).await.expect("it has been read before");
        if is_first && !is_nan && !is_system {
            assert_eq!(found.entities.len(), 1, "{name:?} is not found by {value:?}");
        }
    }
}

fn owned((name, value): (&str, Value<'_>)) -> Property<'static> {
    Property { name: Cow::Owned(name.to_owned()), value: value.into_owned() }
}

fn same(left: &Value<'_>, right: &Value<'_>) -> bool {
    format!("{left:?}") == format!("{right:?}")
}

fn assert_corrupt(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
}
