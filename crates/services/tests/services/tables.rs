//! The life of a table.

use std::sync::Arc;

use crate::support::*;
use tablerock_kv::fault::{Call, Fault};
use tablerock_kv::{Error, FaultEngine, MemoryEngine, Range, ScanLimits, Store};
use tablerock_protocol::{ErrorCode, Filter, TableName};
use tablerock_services::table::TableQuery;

#[tokio::test]
async fn a_dropped_name_is_free_at_once_and_comes_back_empty() {
    let store = Store::in_memory();
    let service = service_on(&store, manual_clock()).await;
    for n in 0..50 {
        apply_one(&service, insert("p", &n.to_string(), n)).await.unwrap();
    }
    service.delete_table(ACCOUNT, "pEOPLE").await.unwrap();
    assert_eq!(code(apply_one(&service, insert("p", "r", 0)).await), ErrorCode::TableNotFound);
    assert_eq!(code(service.delete_table(ACCOUNT, TABLE).await), ErrorCode::ResourceNotFound);
    create(&service, TABLE).await;
    assert!(query(&service, "", None).await.entities.is_empty());
}

#[tokio::test]
async fn names_match_in_any_case_and_keep_their_first_spelling() {
    let service = service().await;
    let again = service.create_table(ACCOUNT, &TableName::parse("PEOPLE").unwrap()).await;
    assert_eq!(code(again), ErrorCode::TableAlreadyExists);
    assert_eq!(service.query_table(ACCOUNT, "people").await.unwrap().name, "People");
    assert_eq!(code(service.query_table("other", "people").await), ErrorCode::ResourceNotFound);
}

#[tokio::test]
async fn tables_are_listed_in_order_by_pages_and_by_filter() {
    let service = service().await;
    for name in ["beta", "Alpha", "alphb", "Gamma"] {
        create(&service, name).await;
    }
    let list = async |query: TableQuery| service.query_tables(ACCOUNT, &query).await.unwrap();
    assert_eq!(list(TableQuery::default()).await.names, ["Alpha", "alphb", "beta", "Gamma", "People"]);
    let first = list(TableQuery { top: Some(2), ..Default::default() }).await;
    assert_eq!((first.names.len(), first.next.as_deref()), (2, Some("beta")));
    let rest = list(TableQuery { from: first.next, ..Default::default() }).await;
    assert_eq!((rest.names.len(), rest.next), (3, None));
    let filter = Filter::parse("TableName ge 'al' and TableName lt 'b'").unwrap();
    assert_eq!(list(TableQuery { filter, ..Default::default() }).await.names, ["Alpha", "alphb"]);
    let other = TableQuery { filter: Filter::parse("Name eq 'x'").unwrap(), ..Default::default() };
    assert_eq!(code(service.query_tables(ACCOUNT, &other).await), ErrorCode::InvalidInput);
}

#[tokio::test]
async fn a_deletion_cut_short_is_one_and_is_finished_later() {
    let engine = Arc::new(FaultEngine::new(Arc::new(MemoryEngine::new())));
    let store = Store::new(engine.clone());
    let service = service_on(&store, manual_clock()).await;
    apply_one(&service, insert("p", "r", 0)).await.unwrap();
    engine.script(Call::DropRange, [Fault::Fail(Error::unavailable("killed here"))]);
    service.delete_table(ACCOUNT, TABLE).await.expect("no reader can reach it any more");
    assert_eq!(code(service.query_table(ACCOUNT, TABLE).await), ErrorCode::ResourceNotFound);

    let everything = ScanLimits { records_max: 1000, bytes_max: 1 << 20, deadline: None };
    let entities = async || store.scan(&Range::partitions(b"e"), everything).await.unwrap().records.len();
    assert_eq!(entities().await, 1, "the entity is still stored");
    service.sweep_if_ours(&[ACCOUNT.to_owned()]).await.unwrap();
    assert_eq!(entities().await, 0);
    let directory = store.scan(&Range::partitions(b"d"), everything).await.unwrap().records;
    assert!(directory.is_empty(), "the note is gone too: {directory:?}");
}
