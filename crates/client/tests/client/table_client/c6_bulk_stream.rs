//! Bulk writes from a stream, with bounded memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tablerock_client::{Entity, StreamExt, TableOperation, TryStreamExt};

use crate::support::Account;

#[tokio::test]
async fn every_operation_has_its_result_in_order() {
    let account = Account::open().await;
    let table = account.table().await;
    table.insert(&Entity::new("p1", "00007")).await.unwrap();
    let entities = |row: u32| Entity::new(format!("p{}", row % 3), format!("{row:05}")).with("Row", i64::from(row));
    let rows = futures_util::stream::iter(0..1_000_u32).map(move |row| TableOperation::insert(&entities(row)));
    let results: Vec<_> = table.bulk_stream(rows).concurrency(2).results().collect().await;
    assert_eq!(results.iter().map(|result| result.index).collect::<Vec<_>>(), (0..1_000).collect::<Vec<_>>());
    let failed: Vec<_> = results.iter().filter(|result| result.result.is_err()).collect();
    assert_eq!(failed.iter().map(|failed| failed.index).collect::<Vec<_>>(), [7]);
    assert_eq!(failed[0].operation.entity().unwrap().row_key, "00007");
    assert_eq!(table.query::<Entity>().count().await.unwrap(), 1_000);
}

/// Each write waits for those before it on the same entity, also in another window.
#[tokio::test]
async fn operations_on_one_entity_keep_their_order() {
    let account = Account::open().await;
    let table = account.table().await;
    let writes =
        (0..900).map(|number| TableOperation::insert_or_replace(&Entity::new("p", "r").with("Number", number)));
    let writes = futures_util::stream::iter(writes);
    let results: Vec<_> = table.bulk_stream(writes).concurrency(1).results().collect().await;
    assert!(results.iter().all(|result| result.result.is_ok()));
    assert_eq!(table.get::<Entity>("p", "r").await.unwrap().property::<i32>("Number").unwrap(), 899);
}

#[tokio::test]
async fn the_stream_is_not_read_ahead_of_the_writes() {
    let account = Account::open().await;
    let table = account.table().await;
    let read = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&read);
    let rows = futures_util::stream::iter(0..5_000).map(move |row| {
        counted.fetch_add(1, Ordering::Relaxed);
        TableOperation::insert(&Entity::new("p", format!("{row:05}")))
    });
    let mut results = table.bulk_stream(rows).concurrency(1).results();
    assert!(results.next().await.unwrap().result.is_ok());
    assert_eq!(read.load(Ordering::Relaxed), 400);
}

/// A table is copied while it is read.
#[tokio::test]
async fn a_query_can_be_the_source() {
    let account = Account::open().await;
    let (from, to) = (account.table().await, account.table().await);
    let rows = (0..250).map(|row| TableOperation::insert(&Entity::new("p", format!("{row:05}")).with("Row", row)));
    from.bulk(rows).await.into_result().unwrap();
    let source = from.query::<Entity>().page_size(100).stream();
    let source = source.map_ok(|entity| TableOperation::insert_or_replace(&entity));
    let source = source.take_while(|read| std::future::ready(read.is_ok())).map(|read| read.unwrap());
    let results: Vec<_> = to.bulk_stream(source).results().collect().await;
    assert_eq!((results.len(), to.query::<Entity>().count().await.unwrap()), (250, 250));
}
