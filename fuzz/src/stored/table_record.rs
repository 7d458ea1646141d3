//! Records of the table directory, with the access policies inside them.

use std::sync::Arc;

use bytes::Bytes;
use tablerock_kv::ManualClock;
use tablerock_services::namespace::{Namespace, row_key};
use tablerock_services::table::{EntityQuery, TableQuery};
use tablerock_services::{TableService, ThrottleTargets};

use super::{store_with, unless_corrupt};
use crate::known_table::{ACCOUNT, NOON, TABLE};

pub(super) async fn check(stored: &Bytes) {
    let directory = Namespace::Tables.directory(ACCOUNT);
    let store = store_with(&directory, &row_key(&TABLE.to_ascii_lowercase()), stored).await;
    let clock = Arc::new(ManualClock::at(NOON));
    let service = TableService::open(store, clock, ThrottleTargets::default()).await.expect("an open store");

    let table = unless_corrupt(service.query_table(ACCOUNT, TABLE).await);
    let listed = unless_corrupt(service.query_tables(ACCOUNT, &TableQuery::default()).await);
    assert_eq!(table.is_some(), listed.is_some());
    let policies = unless_corrupt(service.table_acl(ACCOUNT, TABLE).await);
    let (Some(table), Some(listed)) = (table, listed) else {
        assert!(policies.is_none(), "policies are read from a record that cannot be");
        return;
    };
    // Tables of Storage Analytics are found by their names only.
    let is_listed = !table.name.starts_with('$');
    assert_eq!(listed.names, Vec::from_iter(is_listed.then_some(table.name.as_str())));
    let found = service.query_entities(ACCOUNT, TABLE, &EntityQuery::default()).await;
    assert_eq!(found.expect("a table without entities").entities.len(), 0);

    // Policies are kept as a document: storing what was read leaves the rest of the record alone.
    let Some(policies) = policies else { return };
    service.set_table_acl(ACCOUNT, TABLE, &policies).await.expect("a record that was read is written");
    assert_eq!(service.table_acl(ACCOUNT, TABLE).await.expect("just written"), policies);
    assert_eq!(service.query_table(ACCOUNT, TABLE).await.expect("just written").name, table.name);
    service.delete_table(ACCOUNT, TABLE).await.expect("a table that exists");
}
