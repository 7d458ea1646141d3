//! The server's own two numbers: the ceiling of timestamps and the next table id.

use std::sync::Arc;

use bytes::Bytes;
use tablerock_kv::ManualClock;
use tablerock_protocol::TableName;
use tablerock_services::table::{Change, EntityGroup, EntityOperation, Properties};
use tablerock_services::{TableService, ThrottleTargets, keys, table};

use super::{store_with, unless_corrupt};
use crate::known_table::{ACCOUNT, NOON, TABLE};

/// A server that starts on any ceiling writes, or fails to start.
pub(super) async fn check_timestamp_ceiling(stored: &Bytes) {
    let Some(service) = open(table::keys::TIMESTAMP_CEILING, stored).await else { return };
    let name = TableName::parse(TABLE).expect("a name");
    service.create_table(ACCOUNT, &name).await.expect("an empty store");
    let operation = EntityOperation {
        table: TABLE.to_owned(),
        partition_key: "p".to_owned(),
        row_key: "r".to_owned(),
        change: Change::Insert(Properties::encode(&[])),
    };
    if unless_corrupt(service.apply(ACCOUNT, &EntityGroup::single(operation)).await).is_none() {
        return;
    }
    let entity = service.query_entity(ACCOUNT, TABLE, "p", "r").await.expect("just written");
    let ceiling = stored[..].try_into().map(u64::from_be_bytes).expect("a ceiling that was read has eight bytes");
    assert!(entity.timestamp().ticks() >= ceiling, "an earlier process may have handed this timestamp out");
    service.close().await.expect("a memory engine");
}

/// Two tables in a row get ids, or the number is corrupt.
pub(super) async fn check_next_table_id(stored: &Bytes) {
    let service = open(table::keys::NEXT_TABLE_ID, stored).await.expect("the ceiling is not there, which is fine");
    for name in ["First", "Second"] {
        let name = TableName::parse(name).expect("a name");
        if unless_corrupt(service.create_table(ACCOUNT, &name).await).is_some() {
            assert!(service.query_table(ACCOUNT, name.as_str()).await.is_ok());
        }
    }
}

async fn open(key: &[u8], stored: &Bytes) -> Option<TableService> {
    let store = store_with(&keys::system_partition(), key, stored).await;
    let clock = Arc::new(ManualClock::at(NOON));
    unless_corrupt(TableService::open(store, clock, ThrottleTargets::default()).await)
}
