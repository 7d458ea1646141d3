//! Blobs in a store that servers share: what one of them is about to write, no other one takes for garbage.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::fault::{Call, Fault};
use tablerock_kv::{Error, ErrorKind, FaultEngine, MemoryEngine, Store};
use tablerock_protocol::blob::BlockId;
use tablerock_services::blob::{AppendTerms, BlobKind, BlobQuery, WriteTerms};
use tablerock_testkit::blob_model::*;

fn content(seed: u8) -> Vec<u8> {
    (0..600_000_u32).map(|n| (n % 253) as u8 ^ seed).collect()
}

#[tokio::test]
async fn a_server_that_starts_leaves_the_uploads_of_others_alone() {
    let store = Store::new(Arc::new(MemoryEngine::shared()));
    let one = service_with_container(&store, manual_clock()).await;
    let received = receive(&one, "b", &content(1)).await.unwrap();
    let other = service_on(&store, manual_clock()).await;
    other.rest().await;
    one.put_blob(at("b"), &WriteTerms::default(), &new_blob(BlobKind::Block), received).await.unwrap();
    assert_eq!(read(&other, "b", None).await.unwrap(), content(1));
}

#[tokio::test]
async fn a_write_that_arrives_after_its_failure_was_told_finds_its_content() {
    let memory = Arc::new(MemoryEngine::shared());
    let engine = Arc::new(FaultEngine::new(memory.clone()));
    let store = Store::new(engine.clone());
    let service = service_with_container(&store, manual_clock()).await;
    put(&service, "b", &content(1)).await.unwrap();
    service.rest().await;

    // The commit that refers to the new content happens, and its response is lost.
    let received = receive(&service, "b", &content(2)).await.unwrap();
    let lost = Error::unavailable("the connection broke");
    // Before it comes the note about the content that it replaces.
    engine.script(Call::Commit, [Fault::Pass, Fault::FailAfter(lost)]);
    let outcome = service.put_blob(at("b"), &WriteTerms::default(), &new_blob(BlobKind::Block), received).await;
    assert!(is_store_error(&outcome), "{outcome:?}");
    service.rest().await;
    assert_eq!(read(&service, "b", None).await.unwrap(), content(2));
}

/// A database that stalls for longer than any caller waits, or whose standby does, makes a commit after all when its
/// content has been taken for unreferenced. The commit must find that it comes too late.
#[tokio::test(start_paused = true)]
async fn a_commit_that_arrives_after_its_content_was_given_up_is_refused() {
    let engine = Arc::new(FaultEngine::new(Arc::new(MemoryEngine::shared())));
    let store = Store::new(engine.clone());
    let service = service_with_container(&store, manual_clock()).await;
    let lost = || Fault::Strand(Error::unavailable("the database does not respond"));
    put(&service, "old", &content(1)).await.unwrap();
    create_append(&service, "log").await.unwrap();
    service.rest().await;

    // Before the commit that replaces a blob comes the note about what it replaces.
    for (name, before) in [("old", Some(Fault::Pass)), ("new", None)] {
        let received = receive(&service, name, &content(2)).await.unwrap();
        engine.script(Call::Commit, before.into_iter().chain([lost()]));
        let outcome = service.put_blob(at(name), &WriteTerms::default(), &new_blob(BlobKind::Block), received).await;
        assert!(is_store_error(&outcome), "{outcome:?}");
    }
    let received = receive(&service, "log", &content(3)).await.unwrap();
    engine.script(Call::Commit, [lost()]);
    let outcome = service.append_block(at("log"), &AppendTerms::default(), received).await;
    assert!(outcome.is_err(), "{outcome:?}");
    let received = service.receive_block(at("block"), &mut Some(content(4).into()), false).await.unwrap();
    // The first block of a blob is watched over before it is put.
    engine.script(Call::Commit, [Fault::Pass, Fault::Pass, lost()]);
    service.put_block(at("block"), None, &block_id(1), received).await.unwrap_err();

    tokio::time::sleep(Duration::from_secs(600)).await;
    let late = engine.deliver().await;
    assert_eq!(late.len(), 4);
    for outcome in late {
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Conflict);
    }
    assert_eq!(read(&service, "old", None).await.unwrap(), content(1));
    assert_eq!(read(&service, "log", None).await.unwrap(), "");
    let query = BlobQuery { items_max: 10, with_uncommitted: true, ..BlobQuery::default() };
    let listed = service.list_blobs(ACCOUNT, CONTAINER, &query).await.unwrap();
    assert_eq!(listed.entries.len(), 2, "{listed:?}");

    // No client notices it, whatever comes next.
    put(&service, "new", &content(5)).await.unwrap();
    assert_eq!(read(&service, "new", None).await.unwrap(), content(5));
    let received = service.receive_block(at("block"), &mut Some(content(6).into()), false).await.unwrap();
    service.put_block(at("block"), None, &BlockId::from_bytes(b"longer id"), received).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_arrives_in_time_keeps_its_content() {
    let engine = Arc::new(FaultEngine::new(Arc::new(MemoryEngine::shared())));
    let store = Store::new(engine.clone());
    let service = service_with_container(&store, manual_clock()).await;
    put(&service, "b", &content(1)).await.unwrap();
    service.rest().await;
    let received = receive(&service, "b", &content(2)).await.unwrap();
    engine.script(Call::Commit, [Fault::Pass, Fault::Strand(Error::unavailable("the database does not respond"))]);
    let outcome = service.put_blob(at("b"), &WriteTerms::default(), &new_blob(BlobKind::Block), received).await;
    assert!(is_store_error(&outcome), "{outcome:?}");
    tokio::time::sleep(Duration::from_secs(60)).await;
    engine.deliver().await.pop().unwrap().unwrap();
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(read(&service, "b", None).await.unwrap(), content(2));
}
