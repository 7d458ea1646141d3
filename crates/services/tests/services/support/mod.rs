//! A Table service on a memory engine, and short names for what tests do with it.

// Each test file uses its own part of this.
#![allow(dead_code)]

pub(crate) mod engines;

use std::borrow::Cow;
use std::sync::Arc;

use tablerock_kv::{Clock, ManualClock, Store, SystemClock};
use tablerock_protocol::{ErrorCode, EtagCondition, Filter, Property, TableName, Value};
use tablerock_services::table::{Change, EntityGroup, EntityOperation, EntityPage, EntityQuery, Outcome, Properties};
use tablerock_services::{Error, TableService, ThrottleTargets};

pub(crate) const ACCOUNT: &str = "acct";
pub(crate) const TABLE: &str = "People";
pub(crate) const NOON: u64 = 638_000_000_000_000_000;

/// A service with one empty table.
pub(crate) async fn service() -> TableService {
    service_on(&Store::in_memory(), Arc::new(SystemClock)).await
}

pub(crate) async fn service_on(store: &Store, clock: Arc<dyn Clock>) -> TableService {
    let service =
        TableService::open(store.clone(), clock, ThrottleTargets::default()).await.expect("a fresh store opens");
    create(&service, TABLE).await;
    service
}

pub(crate) fn manual_clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(NOON))
}

/// Creates a table if it is not there.
pub(crate) async fn create(service: &TableService, table: &str) {
    match service.create_table(ACCOUNT, &TableName::parse(table).expect("a table name")).await {
        Ok(()) => {}
        Err(Error::Refused(error)) if error.code == ErrorCode::TableAlreadyExists => {}
        Err(error) => panic!("{error}"),
    }
}

pub(crate) fn properties(pairs: &[(&str, Value<'_>)]) -> Properties {
    let owned: Vec<_> =
        pairs.iter().map(|(name, value)| Property { name: Cow::Borrowed(*name), value: value.clone() }).collect();
    Properties::encode(&owned)
}

pub(crate) fn number(n: i32) -> Properties {
    properties(&[("n", Value::Int32(n))])
}

pub(crate) fn operation(partition_key: &str, row_key: &str, change: Change) -> EntityOperation {
    EntityOperation {
        table: TABLE.to_owned(),
        partition_key: partition_key.to_owned(),
        row_key: row_key.to_owned(),
        change,
    }
}

pub(crate) fn insert(partition_key: &str, row_key: &str, n: i32) -> EntityOperation {
    operation(partition_key, row_key, Change::Insert(number(n)))
}

pub(crate) fn upsert(partition_key: &str, row_key: &str, n: i32) -> EntityOperation {
    operation(partition_key, row_key, Change::Replace { properties: number(n), condition: None })
}

pub(crate) fn delete(partition_key: &str, row_key: &str) -> EntityOperation {
    operation(partition_key, row_key, Change::Delete { condition: EtagCondition::Any })
}

pub(crate) async fn apply(service: &TableService, operations: Vec<EntityOperation>) -> Result<Vec<Outcome>, Error> {
    service.apply(ACCOUNT, &EntityGroup::new(operations)?).await
}

pub(crate) async fn apply_one(service: &TableService, operation: EntityOperation) -> Result<Outcome, Error> {
    Ok(service.apply(ACCOUNT, &EntityGroup::single(operation)).await?.remove(0))
}

pub(crate) fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorCode {
    result.expect_err("an error").into_service_error().code
}

pub(crate) async fn query(service: &TableService, filter: &str, top: Option<usize>) -> EntityPage {
    let query = EntityQuery { filter: Filter::parse(filter).expect("a filter"), top, ..Default::default() };
    service.query_entities(ACCOUNT, TABLE, &query).await.expect("a page")
}

pub(crate) fn row_keys(page: &EntityPage) -> Vec<&str> {
    page.entities.iter().map(|found| found.row_key.as_str()).collect()
}
