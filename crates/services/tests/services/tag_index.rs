//! Finding blobs by their tags: no blob is missed and none is wrong, also after a failure and with concurrent writes.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tablerock_kv::fault::{Call, Fault};
use tablerock_kv::{Bytes, Error, ErrorKind, FaultEngine, MemoryEngine, Store, SystemClock};
use tablerock_protocol::blob::{TagQuery, Tags};
use tablerock_protocol::xml::{BlockListRequest, BlockSource};
use tablerock_services::Result;
use tablerock_services::blob::{
    BlobKind, BlobService, DeleteSnapshots, FoundPage, NewBlob, ReadTerms, TagSearch, WriteTerms,
};
use tablerock_services::transfer::{CopyTerms, copy_account};
use tablerock_testkit::blob_model::*;

fn tags(header: &str) -> Tags {
    Tags::parse_header(header).unwrap()
}

fn tagged(header: &str) -> NewBlob {
    NewBlob { tags: tags(header), ..new_blob(BlobKind::Block) }
}

async fn put_tagged(service: &BlobService, name: &str, header: &str) -> Result<()> {
    let received = receive(service, name, b"content").await?;
    service.put_blob(at(name), &WriteTerms::default(), &tagged(header), received).await.map(drop)
}

async fn set_tags(service: &BlobService, name: &str, header: &str) -> Result<()> {
    service.set_blob_tags(at(name), &WriteTerms::default(), &tags(header)).await
}

async fn page(service: &BlobService, expression: &str, marker: Option<String>, items_max: usize) -> FoundPage {
    let query = TagQuery::parse(expression).unwrap();
    let search = TagSearch { container: Some(CONTAINER.to_owned()), query, marker, items_max };
    service.find_blobs_by_tags(ACCOUNT, &search).await.unwrap()
}

async fn find(service: &BlobService, expression: &str) -> Vec<String> {
    let (mut names, mut marker) = (Vec::new(), None);
    loop {
        let found = page(service, expression, marker, 2).await;
        names.extend(found.blobs.into_iter().map(|blob| blob.name));
        marker = found.next;
        if marker.is_none() {
            return names;
        }
    }
}

/// Every way in which tags come and go.
async fn write(service: &BlobService, step: usize) -> Result<()> {
    match step {
        0 => put_tagged(service, "b", "k=1&x=y").await,
        1 => set_tags(service, "b", "k=2").await,
        2 => service.snapshot_blob(at("b"), &WriteTerms::default(), None).await.map(drop),
        3 => put_tagged(service, "b", "k=1").await,
        4 => {
            put_block(service, "b", 1, b"block").await?;
            let list = BlockListRequest { blocks: vec![(BlockSource::Latest, block_id(1))] };
            service.put_block_list(at("b"), &WriteTerms::default(), &tagged("k=2"), &list).await.map(drop)
        }
        5 => set_tags(service, "b", "").await,
        6 => put_tagged(service, "b", "k=1").await,
        _ => service.delete_blob(at("b"), &WriteTerms::default(), DeleteSnapshots::Include).await,
    }
}

/// Lets the n-th commit be the last, and compares what the next process finds with the blob's own tags.
async fn crash_at(commit: usize, fault: fn(Error) -> Fault) {
    let memory = Arc::new(MemoryEngine::new());
    let engine = Arc::new(FaultEngine::new(memory.clone()));
    let service = service_with_container(&Store::new(engine.clone()), manual_clock()).await;
    put_tagged(&service, "other", "k=1").await.unwrap();
    service.rest().await;
    let died = || Error::unavailable("the process died here");
    engine.script(Call::Commit, (0..commit).map(|_| Fault::Pass).chain([fault(died())]));
    engine.always(Call::Commit, Fault::Fail(died()));
    for step in 0..8 {
        if write(&service, step).await.is_err() {
            break;
        }
    }
    service.rest().await;
    drop(service);

    let store = Store::new(memory);
    let service = service_on(&store, manual_clock()).await;
    let blob = service.blob(at("b"), None, &ReadTerms::default()).await.ok();
    for value in ["1", "2"] {
        let mut wanted = vec![];
        if blob.as_ref().is_some_and(|blob| blob.tags.value("k") == Some(value)) {
            wanted.push("b");
        }
        if value == "1" {
            wanted.push("other");
        }
        assert_eq!(find(&service, &format!("k='{value}'")).await, wanted, "after {commit} commits");
    }
    for name in ["b", "other"] {
        let _ = service.delete_blob(at(name), &WriteTerms::default(), DeleteSnapshots::Include).await;
    }
    service.rest().await;
    assert_eq!(records(&store, b"t").await, [], "entries of no blob after {commit} commits");
}

#[tokio::test]
async fn wherever_a_process_dies_the_index_is_right() {
    for commit in 0..60 {
        crash_at(commit, Fault::Fail).await;
        crash_at(commit, Fault::FailAfter).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_never_misses_a_blob_whose_other_tags_change() {
    let service = Arc::new(service_with_container(&Store::in_memory(), Arc::new(SystemClock)).await);
    put_tagged(&service, "b", "k=1&n=0").await.unwrap();
    put_tagged(&service, "c", "k=1").await.unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn({
        let (service, is_over) = (service.clone(), is_over.clone());
        async move {
            let mut number = 0;
            while !is_over.load(Ordering::Relaxed) {
                number += 1;
                set_tags(&service, "b", &format!("k=1&n={}", number % 7)).await.unwrap();
            }
        }
    });
    for _ in 0..300 {
        assert_eq!(find(&service, "k='1'").await, ["b", "c"]);
        let mut found = find(&service, "n>='0'").await;
        found.dedup();
        assert_eq!(found, ["b"]);
        tokio::task::yield_now().await;
    }
    is_over.store(true, Ordering::Relaxed);
    writer.await.unwrap();
}

/// On a store that servers share, a commit may arrive when its entries have been given up.
#[tokio::test(start_paused = true)]
async fn a_commit_that_arrives_after_its_entries_were_given_up_is_refused() {
    let engine = Arc::new(FaultEngine::new(Arc::new(MemoryEngine::shared())));
    let store = Store::new(engine.clone());
    let service = service_with_container(&store, manual_clock()).await;
    put_tagged(&service, "b", "k=1").await.unwrap();
    service.rest().await;
    // Before the commit come the intent, the entries, and the intent about what it replaces.
    let lost = Fault::Strand(Error::unavailable("the database does not respond"));
    engine.script(Call::Commit, [Fault::Pass, Fault::Pass, Fault::Pass, lost]);
    assert!(is_store_error(&set_tags(&service, "b", "k=2").await));
    tokio::time::sleep(Duration::from_secs(600)).await;
    let late = engine.deliver().await;
    assert_eq!(late.into_iter().map(|outcome| outcome.unwrap_err().kind()).collect::<Vec<_>>(), [ErrorKind::Conflict]);
    assert_eq!(find(&service, "k='1'").await, ["b"]);
    assert_eq!(find(&service, "k='2'").await, [""; 0]);
    assert_eq!(records(&store, b"t").await.len(), 1);
}

#[tokio::test]
async fn blobs_that_came_without_entries_get_them_when_they_are_searched() {
    let (old, new) = (Store::in_memory(), Store::in_memory());
    let source = service_with_container(&old, manual_clock()).await;
    for number in 0..30 {
        put_tagged(&source, &format!("b{number:02}"), &format!("k={}", number % 2)).await.unwrap();
    }
    put(&source, "plain", b"x").await.unwrap();
    source.close().await.unwrap();
    let target = service_on(&new, manual_clock()).await;
    let terms = CopyTerms::from_store("the old store");
    copy_account(&old, &new, ACCOUNT, &terms, &|_| {}).await.unwrap();
    assert_eq!(records(&new, b"t").await, []);
    assert_eq!(find(&target, "k='0'").await.len(), 15);
    target.rest().await;
    assert_eq!(records(&new, b"t").await.len(), 30);
    let etag = |blob: tablerock_services::blob::Blob| blob.changed;
    let before = source.blob(at("b00"), None, &ReadTerms::default()).await.map(etag).unwrap();
    assert_eq!(target.blob(at("b00"), None, &ReadTerms::default()).await.map(etag).unwrap(), before);
    set_tags(&target, "b00", "k=1").await.unwrap();
    assert_eq!(find(&target, "k='0'").await.len(), 14);
}

#[tokio::test]
async fn untagged_blobs_cost_nothing_and_a_container_takes_its_entries_along() {
    let store = Store::in_memory();
    let service = service_with_container(&store, manual_clock()).await;
    put(&service, "plain", b"x").await.unwrap();
    service.rest().await;
    assert_eq!(records(&store, b"tn").await, []);
    put_tagged(&service, "b", "k=1").await.unwrap();
    service.rest().await;
    assert_eq!(records(&store, b"t").await.len(), 1);
    assert_eq!(records(&store, b"n").await, []);
    service.delete_container(ACCOUNT, CONTAINER, &Default::default(), None).await.unwrap();
    assert_eq!(records(&store, b"t").await, Vec::<(Bytes, Bytes)>::new());
}
