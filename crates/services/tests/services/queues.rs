//! The life of a queue.

use std::sync::Arc;

use crate::support::manual_clock;
use tablerock_kv::fault::{Call, Fault};
use tablerock_kv::{Error, FaultEngine, MemoryEngine, Range, ScanLimits, Store};
use tablerock_protocol::xml::{StoredAccessPolicies, StoredAccessPolicy};
use tablerock_protocol::{ErrorCode, Metadata, QueueName};
use tablerock_services::queue::{Created, QueueQuery};
use tablerock_testkit::queue_model::{ACCOUNT, code, jobs, message, service_on, service_with_queue};

fn metadata(pairs: &[(&str, &str)]) -> Metadata {
    let owned = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Metadata::new(owned.collect()).expect("it is metadata")
}

#[tokio::test]
async fn creating_again_is_fine_with_the_same_metadata_only() {
    let service = service_on(&Store::in_memory(), manual_clock()).await;
    let create = async |pairs: &[(&str, &str)]| service.create_queue(ACCOUNT, &jobs(), &metadata(pairs)).await;
    assert_eq!(create(&[("Color", "red")]).await.unwrap(), Created::New);
    assert_eq!(create(&[("COLOR", "red")]).await.unwrap(), Created::Before);
    assert_eq!(code(create(&[("Color", "blue")]).await), ErrorCode::QueueAlreadyExists);
    assert_eq!(code(create(&[]).await), ErrorCode::QueueAlreadyExists);
    assert!(service.create_queue("other", &jobs(), &metadata(&[])).await.is_ok(), "accounts are apart");
}

#[tokio::test]
async fn metadata_and_policies_are_replaced_whole_and_survive_a_clearing() {
    let service = service_with_queue(&Store::in_memory(), manual_clock()).await;
    service.set_queue_metadata(ACCOUNT, &jobs(), &metadata(&[("a", "1"), ("b", "2")])).await.unwrap();
    service.set_queue_metadata(ACCOUNT, &jobs(), &metadata(&[("C", "3")])).await.unwrap();
    let policy = StoredAccessPolicy { id: "p".into(), start: None, expiry: None, permissions: Some("raup".into()) };
    let policies = StoredAccessPolicies { policies: vec![policy] };
    service.set_queue_acl(ACCOUNT, &jobs(), &policies).await.unwrap();
    service.put_message(ACCOUNT, &jobs(), message("x")).await.unwrap();
    let state = service.queue_metadata(ACCOUNT, &jobs()).await.unwrap();
    assert_eq!((state.metadata, state.messages), (metadata(&[("C", "3")]), 1));

    service.clear_messages(ACCOUNT, &jobs()).await.unwrap();
    let state = service.queue_metadata(ACCOUNT, &jobs()).await.unwrap();
    assert_eq!((state.metadata, state.messages), (metadata(&[("C", "3")]), 0));
    assert_eq!(service.queue_acl(ACCOUNT, &jobs()).await.unwrap(), policies);
    assert!(service.get_messages(ACCOUNT, &jobs(), 1, 30).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_queue_that_is_not_there_is_not_found_by_any_operation() {
    let service = service_on(&Store::in_memory(), manual_clock()).await;
    let none = metadata(&[]);
    let receipt = tablerock_protocol::PopReceipt { visible: 1, number: 1, changes: 0 };
    let id = tablerock_protocol::Uuid::from_bytes([1; 16]);
    for found in [
        service.delete_queue(ACCOUNT, &jobs()).await,
        service.clear_messages(ACCOUNT, &jobs()).await,
        service.queue_metadata(ACCOUNT, &jobs()).await.map(drop),
        service.set_queue_metadata(ACCOUNT, &jobs(), &none).await,
        service.queue_acl(ACCOUNT, &jobs()).await.map(drop),
        service.set_queue_acl(ACCOUNT, &jobs(), &StoredAccessPolicies::default()).await,
        service.put_message(ACCOUNT, &jobs(), message("x")).await.map(drop),
        service.get_messages(ACCOUNT, &jobs(), 1, 30).await.map(drop),
        service.peek_messages(ACCOUNT, &jobs(), 1).await.map(drop),
        service.delete_message(ACCOUNT, &jobs(), id, receipt).await,
    ] {
        assert_eq!(code(found), ErrorCode::QueueNotFound);
    }
}

#[tokio::test]
async fn queues_are_listed_in_order_by_prefix_and_by_pages() {
    let service = service_on(&Store::in_memory(), manual_clock()).await;
    for name in ["queue-b", "queue-a", "other", "queue-c", "zebra"] {
        service.create_queue(ACCOUNT, &QueueName::parse(name).unwrap(), &metadata(&[("n", name)])).await.unwrap();
    }
    service.delete_queue(ACCOUNT, &QueueName::parse("zebra").unwrap()).await.unwrap();
    let list = async |prefix: &str, from: &str, count_max: Option<usize>| {
        let query = QueueQuery { prefix: prefix.to_owned(), from: from.to_owned(), count_max };
        let page = service.list_queues(ACCOUNT, &query).await.unwrap();
        let names: Vec<_> = page.queues.iter().map(|queue| queue.name.clone()).collect();
        (names.join(" "), page.next)
    };
    assert_eq!(list("", "", None).await, ("other queue-a queue-b queue-c".to_owned(), None));
    assert_eq!(list("queue-", "", Some(2)).await, ("queue-a queue-b".to_owned(), Some("queue-c".to_owned())));
    assert_eq!(list("queue-", "queue-c", Some(2)).await, ("queue-c".to_owned(), None));
    assert_eq!(list("queue-", "a", Some(9)).await, ("queue-a queue-b queue-c".to_owned(), None));
    assert_eq!(list("queue-", "zz", None).await, (String::new(), None), "a marker after the prefix");
    assert_eq!(list("none", "", None).await, (String::new(), None));
}

#[tokio::test]
async fn a_deletion_cut_short_is_one_and_is_finished_later() {
    let engine = Arc::new(FaultEngine::new(Arc::new(MemoryEngine::new())));
    let store = Store::new(engine.clone());
    let service = service_with_queue(&store, manual_clock()).await;
    service.put_message(ACCOUNT, &jobs(), message("x")).await.unwrap();
    engine.script(Call::DropRange, [Fault::Fail(Error::unavailable("killed here"))]);
    service.delete_queue(ACCOUNT, &jobs()).await.expect("no reader can reach it any more");
    assert_eq!(code(service.queue_metadata(ACCOUNT, &jobs()).await), ErrorCode::QueueNotFound);

    let everything = ScanLimits { records_max: 1000, bytes_max: 1 << 20, deadline: None };
    let stored = async |tag: &[u8]| store.scan(&Range::partitions(tag), everything).await.unwrap().records.len();
    assert_eq!((stored(b"m").await, stored(b"q").await), (3, 1), "message, expiry and count, and the note");
    service.sweep_if_ours(&[ACCOUNT.to_owned()]).await.unwrap();
    assert_eq!((stored(b"m").await, stored(b"q").await), (0, 0));
}
