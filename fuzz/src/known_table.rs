//! A table whose entities are known, so that whatever a query returns can be held against a look at each of them.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use tablerock_kv::{ManualClock, Store};
use tablerock_protocol::{DateTime, PARTITION_KEY, Property, ROW_KEY, TIMESTAMP, TableName, Uuid, Value};
use tablerock_services::table::{Change, EntityGroup, EntityOperation, EntityQuery, Properties};
use tablerock_services::{TableService, ThrottleTargets};
use tokio::runtime::Runtime;

pub(crate) const ACCOUNT: &str = "acct";
pub(crate) const TABLE: &str = "People";
/// Some day in 2022, in ticks.
pub(crate) const NOON: u64 = 638_000_000_000_000_000;

/// Keys in no order: empty ones, prefixes of one another, a quote, and characters on either side of the surrogates,
/// where the order of UTF-16 differs from that of UTF-8.
const PARTITION_KEYS: [&str; 6] = ["b", "", "a", "a'b", "\u{10000}", "\u{ffff}"];
const ROW_KEYS: [&str; 5] = ["1", "", "10", "2", "é"];
/// So many that what a filter learns about a piece of the table is not about all of it.
const ROWS: usize = 30;

/// An entity as a filter sees it: system properties among the others.
pub(crate) struct KnownEntity {
    pub(crate) partition_key: &'static str,
    pub(crate) row_key: String,
    properties: Vec<(&'static str, Value<'static>)>,
}

impl KnownEntity {
    pub(crate) fn value(&self, property: &str) -> Option<&Value<'static>> {
        self.properties.iter().find(|(name, _)| *name == property).map(|(_, value)| value)
    }
}

/// The table in a service of its own, and its entities in the service's order.
pub(crate) struct KnownTable {
    runtime: Runtime,
    service: TableService,
    pub(crate) entities: Vec<KnownEntity>,
}

impl KnownTable {
    pub(crate) fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let (service, mut entities) = runtime.block_on(fill());
        entities.sort_by(|a, b| utf16(a.partition_key, b.partition_key).then_with(|| utf16(&a.row_key, &b.row_key)));
        Self { runtime, service, entities }
    }

    /// The keys of everything that a query finds, over as many pages as it takes.
    pub(crate) fn query(&self, mut query: EntityQuery) -> Vec<(String, String)> {
        let mut found = Vec::new();
        loop {
            let page = self.runtime.block_on(self.service.query_entities(ACCOUNT, TABLE, &query)).expect("a page");
            assert!(query.top.is_none_or(|top| page.entities.len() <= top));
            found.extend(page.entities.into_iter().map(|entity| (entity.partition_key, entity.row_key)));
            assert!(found.len() <= self.entities.len(), "an entity comes twice");
            if page.next.is_none() {
                return found;
            }
            query.from = page.next;
        }
    }

    /// The keys of the entities that are meant, in the order in which a query must return them.
    pub(crate) fn keys_of(&self, is_meant: impl Fn(&KnownEntity) -> bool) -> Vec<(String, String)> {
        let meant = self.entities.iter().filter(|entity| is_meant(entity));
        meant.map(|entity| (entity.partition_key.to_owned(), entity.row_key.clone())).collect()
    }
}

/// The service's order of text, by its definition.
pub(crate) fn utf16(left: &str, right: &str) -> Ordering {
    left.encode_utf16().cmp(right.encode_utf16())
}

async fn fill() -> (TableService, Vec<KnownEntity>) {
    let clock = Arc::new(ManualClock::at(NOON));
    let service = TableService::open(Store::in_memory(), clock, ThrottleTargets::default()).await.expect("a store");
    service.create_table(ACCOUNT, &TableName::parse(TABLE).expect("a name")).await.expect("a table");
    let mut entities = Vec::new();
    for (place, partition_key) in PARTITION_KEYS.into_iter().enumerate() {
        for row in 0..ROWS {
            let row_key = ROW_KEYS.get(row).map_or_else(|| format!("r{row:02}"), |&key| key.to_owned());
            entities.push(insert(&service, partition_key, row_key, properties_of(place, row)).await);
        }
    }
    (service, entities)
}

async fn insert(
    service: &TableService,
    partition_key: &'static str,
    row_key: String,
    mut properties: Vec<(&'static str, Value<'static>)>,
) -> KnownEntity {
    let own = properties.iter().map(|(name, value)| Property { name: Cow::Borrowed(*name), value: value.clone() });
    let operation = EntityOperation {
        table: TABLE.to_owned(),
        partition_key: partition_key.to_owned(),
        row_key: row_key.clone(),
        change: Change::Insert(Properties::encode(&own.collect::<Vec<_>>())),
    };
    service.apply(ACCOUNT, &EntityGroup::single(operation)).await.expect("an insert");
    let stored = service.query_entity(ACCOUNT, TABLE, partition_key, &row_key).await.expect("the entity");
    properties.extend([
        (PARTITION_KEY, Value::String(partition_key.into())),
        (ROW_KEY, Value::String(row_key.clone().into())),
        (TIMESTAMP, Value::DateTime(stored.timestamp())),
    ]);
    KnownEntity { partition_key, row_key, properties }
}

/// Every type, values at the edges of their types, the same names with different types, names that are missing, and
/// values that are rare.
fn properties_of(place: usize, row: usize) -> Vec<(&'static str, Value<'static>)> {
    let seed = place + row;
    let date = |text: &str| Value::DateTime(DateTime::parse(text).expect("a date"));
    let all = [
        ("n", Value::Int32([0, 5, -5, i32::MAX, i32::MIN][seed % 5])),
        ("s", Value::String(["", "a", "A", "é", "\u{10000}"][seed % 5].into())),
        ("l", Value::Int64([0, 5, i64::MAX, i64::MIN, 1 << 53][seed % 5])),
        ("d", Value::Double([0.0, -0.0, 5.5, f64::NAN, f64::INFINITY][seed % 5])),
        ("t", Value::Boolean(seed.is_multiple_of(2))),
        ("w", date(["2020-01-01", "1601-01-01", "9999-12-31T23:59:59.9999999Z"][seed % 3])),
        ("g", Value::Guid(Uuid::from_u128([0, 1, u128::MAX][seed % 3]))),
        ("x", Value::Binary([&b""[..], b"\0", b"\xff"][seed % 3].into())),
        ("rare", Value::Int32(row as i32)),
        ("any", [Value::Int32(5), Value::Int64(5), Value::Double(5.0), Value::String("5".into())][seed % 4].clone()),
    ];
    all.into_iter().enumerate().filter(|(index, _)| (index + seed) % 4 != 3).map(|(_, property)| property).collect()
}
