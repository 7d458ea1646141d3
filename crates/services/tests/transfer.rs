//! An account that moves to another store is the same there, whatever else is in that store and however often the move was
//! cut off.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

#[path = "support/blob_model.rs"]
mod blob_model;
#[path = "support/queue_model.rs"]
mod queue_model;
mod support;

use std::sync::Arc;

use support::{ACCOUNT, TABLE, apply_one, create, delete, insert, manual_clock, upsert};
use tablerock_kv::fault::{Call, Fault};
use tablerock_kv::{Error as StoreError, ErrorKind, FaultEngine, MemoryEngine, Store};
use tablerock_protocol::TableName;
use tablerock_protocol::xml::BlockSource;
use tablerock_services::transfer::{accounts_of, copy_account, export_account};
use tablerock_services::{TableService, ThrottleTargets};

async fn export(store: &Store, account: &str) -> String {
    let mut text = Vec::new();
    export_account(store, account, &mut text).await.unwrap();
    String::from_utf8(text).unwrap()
}

fn bytes(length: usize, seed: u8) -> Vec<u8> {
    (0..length).map(|at| (at as u8).wrapping_mul(31).wrapping_add(seed)).collect()
}

/// Something of everything.
async fn fill(store: &Store) {
    let clock = manual_clock();
    let tables = support::service_on(store, clock.clone()).await;
    for number in 0..2_500 {
        apply_one(&tables, insert(&format!("p{:02}", number % 40), &format!("r{number:05}"), number)).await.unwrap();
    }
    create(&tables, "Empty").await;
    tables.close().await.unwrap();

    let queues = queue_model::service_with_queue(store, clock.clone()).await;
    for number in 0..300 {
        let message = queue_model::message(&format!("text {number} <&>"));
        queues.put_message(ACCOUNT, &queue_model::jobs(), message).await.unwrap();
    }
    assert_eq!(queues.get_messages(ACCOUNT, &queue_model::jobs(), 32, 60).await.unwrap().len(), 32);
    queues.close().await.unwrap();

    let blobs = blob_model::service_with_container(store, clock).await;
    for (name, length) in [("empty", 0), ("small", 100), ("chunks", 700_001)] {
        blob_model::put(&blobs, name, &bytes(length, 1)).await.unwrap();
    }
    for number in 0..6 {
        blob_model::put_block(&blobs, "blocks", number, &bytes(20_000 + usize::from(number), number)).await.unwrap();
    }
    let list: Vec<_> = (0..6).map(|number| (BlockSource::Latest, number)).collect();
    blob_model::put_list(&blobs, "blocks", &list).await.unwrap();
    blob_model::put_block(&blobs, "blocks", 9, &bytes(50_000, 9)).await.unwrap();
    blob_model::create_append(&blobs, "log").await.unwrap();
    for number in 0..5 {
        blob_model::append(&blobs, "log", &bytes(30_000, number)).await.unwrap();
    }
    blobs.rest().await;
    blobs.close().await.unwrap();
}

/// A store that has given out numbers of its own.
async fn with_another_account(store: Store) -> Store {
    let tables = TableService::open(store.clone(), manual_clock(), ThrottleTargets::default()).await.unwrap();
    tables.create_table("other", &TableName::parse(TABLE).unwrap()).await.unwrap();
    fill_other(&store).await;
    store
}

async fn fill_other(store: &Store) {
    let scratch = Store::in_memory();
    fill(&scratch).await;
    copy_account(&scratch, store, ACCOUNT, &|_| {}).await.unwrap();
    // The account that is to come must not be there: this one only used up numbers.
    for directory in [
        tablerock_services::keys::directory_partition(ACCOUNT),
        tablerock_services::queue::keys::directory_partition(ACCOUNT),
        tablerock_services::blob::keys::directory_partition(ACCOUNT),
    ] {
        store.drop_range(tablerock_kv::Range::partition(&directory)).await.unwrap();
    }
}

#[tokio::test]
async fn an_account_is_the_same_text_wherever_it_is() {
    let from = Store::in_memory();
    fill(&from).await;
    let text = export(&from, ACCOUNT).await;
    assert_eq!(text.matches("{\"entity\":").count(), 2_500);
    assert_eq!(text.matches("{\"message\":").count(), 300);
    assert_eq!(text.matches("{\"blob\":{").count(), 5);
    assert_eq!(text.matches("{\"block\":").count(), 1);

    for target in [Store::in_memory(), Store::new(Arc::new(MemoryEngine::shared()))] {
        let target = with_another_account(target).await;
        let done = copy_account(&from, &target, ACCOUNT, &|_| {}).await.unwrap();
        assert_eq!(done.holdings, done.holdings_done);
        assert!(done.records > 2_800, "{done:?}");
        assert!(export(&target, ACCOUNT).await == text, "the text differs");
        assert_eq!(accounts_of(&target).await.unwrap(), [ACCOUNT, "other"]);
    }
    assert!(export(&from, ACCOUNT).await == text, "the old store has changed");
}

#[tokio::test]
async fn services_go_on_in_the_new_store() {
    let (from, to) = (Store::in_memory(), with_another_account(Store::new(Arc::new(MemoryEngine::shared()))).await);
    fill(&from).await;
    copy_account(&from, &to, ACCOUNT, &|_| {}).await.unwrap();
    let clock = manual_clock();

    let tables = TableService::open(to.clone(), clock.clone(), ThrottleTargets::default()).await.unwrap();
    let old = tables.query_entity(ACCOUNT, TABLE, "p07", "r00007").await.unwrap().timestamp();
    let newest = tables.query_entity(ACCOUNT, TABLE, "p19", "r02499").await.unwrap().timestamp();
    apply_one(&tables, upsert("p07", "r00007", 1)).await.unwrap();
    let new = tables.query_entity(ACCOUNT, TABLE, "p07", "r00007").await.unwrap().timestamp();
    assert!(new > old && new > newest, "no ETag comes twice: {old:?}, {newest:?}, {new:?}");
    apply_one(&tables, delete("p07", "r00007")).await.unwrap();

    let queues = queue_model::service_on(&to, clock.clone()).await;
    let state = queues.queue_metadata(ACCOUNT, &queue_model::jobs()).await.unwrap();
    assert_eq!(state.messages, 300);
    let got = queues.get_messages(ACCOUNT, &queue_model::jobs(), 1, 30).await.unwrap();
    assert_eq!(got[0].text, "text 32 <&>", "those that were given out are still invisible");
    queues.delete_message(ACCOUNT, &queue_model::jobs(), got[0].id, got[0].receipt).await.unwrap();

    let blobs = blob_model::service_on(&to, clock).await;
    assert_eq!(blob_model::read(&blobs, "chunks", None).await.unwrap(), bytes(700_001, 1));
    let blocks: Vec<u8> = (0..6).flat_map(|number| bytes(20_000 + usize::from(number), number)).collect();
    assert_eq!(blob_model::read(&blobs, "blocks", None).await.unwrap(), blocks);
    blob_model::put_list(&blobs, "blocks", &[(BlockSource::Uncommitted, 9)]).await.unwrap();
    assert_eq!(blob_model::read(&blobs, "blocks", None).await.unwrap(), bytes(50_000, 9));
    // New contents do not fall on those that came.
    blob_model::put(&blobs, "more", &bytes(300_000, 4)).await.unwrap();
    assert_eq!(blob_model::read(&blobs, "chunks", None).await.unwrap(), bytes(700_001, 1));
    let log: Vec<u8> = (0..5).flat_map(|number| bytes(30_000, number)).collect();
    assert_eq!(blob_model::read(&blobs, "log", None).await.unwrap(), log);
}

#[tokio::test]
async fn a_copy_that_is_cut_off_again_and_again_arrives() {
    let from = Store::in_memory();
    fill(&from).await;
    let engine = Arc::new(FaultEngine::new(Arc::new(MemoryEngine::shared())));
    let to = Store::new(engine.clone());
    let mut failures = 0;
    loop {
        // Each run gets a little further than the one before it.
        let passing = std::iter::repeat_n(Fault::Pass, 3 + 10 * failures);
        engine.script(Call::Commit, passing.chain([Fault::FailAfter(StoreError::unavailable("cut off"))]));
        match copy_account(&from, &to, ACCOUNT, &|_| {}).await {
            Ok(_) => break,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}"),
        }
        failures += 1;
        assert!(failures < 100);
        assert!(accounts_of(&to).await.unwrap().is_empty() || failures > 1, "nothing is to be seen before the end");
    }
    assert!(failures > 2, "{failures}");
    assert!(export(&to, ACCOUNT).await == export(&from, ACCOUNT).await, "the text differs");
}

#[tokio::test]
async fn an_account_that_is_there_is_not_written_over() {
    let (from, to) = (Store::in_memory(), Store::in_memory());
    fill(&from).await;
    support::service_on(&to, manual_clock()).await;
    let refused = copy_account(&from, &to, ACCOUNT, &|_| {}).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid, "{refused}");
}
