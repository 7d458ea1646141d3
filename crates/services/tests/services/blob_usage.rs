//! The bytes and objects of a container, kept and counted.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::sync::Arc;

use tablerock_kv::{MemoryEngine, Rng, Store};
use tablerock_protocol::blob::Conditions;
use tablerock_services::blob::{BlobService, DeleteSnapshots, Usage, WriteTerms};
use tablerock_testkit::blob_model::{
    ACCOUNT, CONTAINER, Comparison, at, manual_clock, put, put_block, records, service_on, service_with_container,
    usage,
};

/// Counts the container, with a step between two pages.
async fn recount(service: &BlobService, between: impl AsyncFn()) -> usize {
    let container = service.containers_in_use(ACCOUNT).await.unwrap()[0];
    let mut recount = service.begin_recount(container).await.unwrap();
    let mut pages = 1;
    while !service.recount_page(&mut recount).await.unwrap() {
        between().await;
        pages += 1;
    }
    pages
}

#[tokio::test]
async fn the_usage_of_a_container_follows_every_change() {
    for seed in 0..6 {
        println!("seed {seed}");
        let store = if seed % 2 == 0 { Store::in_memory() } else { Store::new(Arc::new(MemoryEngine::shared())) };
        let mut comparison = Comparison::new(store, seed).await;
        for _ in 0..120 {
            comparison.step().await;
            let (kept, expected) = comparison.usages().await;
            assert_eq!(kept, Some(expected));
        }
    }
}

#[tokio::test]
async fn a_clean_stop_keeps_the_usage_and_a_crash_makes_it_unknown_until_it_is_counted() {
    let store = Store::in_memory();
    let service = service_with_container(&store, manual_clock()).await;
    put(&service, "a", b"12345").await.unwrap();
    put_block(&service, "only-blocks", 1, b"123").await.unwrap();
    let expected = Some(Usage { bytes: 8, objects: 2 });
    assert_eq!(usage(&service).await, expected);
    service.close().await.unwrap();

    let service = service_on(&store, manual_clock()).await;
    assert_eq!(usage(&service).await, expected);
    put(&service, "a", b"1").await.unwrap();
    drop(service);

    let service = service_on(&store, manual_clock()).await;
    assert_eq!(usage(&service).await, None);
    recount(&service, async || ()).await;
    assert_eq!(usage(&service).await, Some(Usage { bytes: 4, objects: 2 }));
    service.close().await.unwrap();
    let service = service_on(&store, manual_clock()).await;
    assert_eq!(usage(&service).await, Some(Usage { bytes: 4, objects: 2 }));
}

#[tokio::test]
async fn changes_during_a_count_are_counted_once() {
    let store = Store::in_memory();
    let service = service_with_container(&store, manual_clock()).await;
    for number in 0..2_500 {
        put(&service, &format!("{number:04}"), b"1").await.unwrap();
    }
    let between = async || {
        for name in ["0000", "2499", "new-at-the-end"] {
            put(&service, name, b"123").await.unwrap();
        }
        for name in ["0001", "2498"] {
            let _ = service.delete_blob(at(name), &WriteTerms::default(), DeleteSnapshots::Refuse).await;
        }
        put(&service, "0000-new", b"1234").await.unwrap();
    };
    assert!(recount(&service, between).await > 2);
    let expected = Usage { bytes: 2_496 + 3 * 3 + 4, objects: 2_500 };
    assert_eq!(usage(&service).await, Some(expected));
    drop(service);
    // A count without changes comes to the same.
    let service = service_on(&store, manual_clock()).await;
    recount(&service, async || ()).await;
    assert_eq!(usage(&service).await, Some(expected));
}

#[tokio::test]
async fn a_deleted_container_leaves_no_usage_behind() {
    let store = Store::in_memory();
    let service = service_with_container(&store, manual_clock()).await;
    let other = BlobService::open(store.clone(), manual_clock(), Rng::seeded(8)).await.unwrap();
    put(&service, "a", b"1").await.unwrap();
    put(&other, "b", b"1").await.unwrap();
    service.delete_container(ACCOUNT, CONTAINER, &Conditions::default(), None).await.unwrap();
    service.close().await.unwrap();
    other.close().await.unwrap();
    assert_eq!(records(&store, b"u").await, []);
}
