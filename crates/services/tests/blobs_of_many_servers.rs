//! Blobs in a store that servers share: what one of them is about to write, no other one takes for garbage.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

#[path = "support/blob_model.rs"]
mod blob_model;

use std::sync::Arc;

use blob_model::*;
use tablerock_kv::fault::{Call, Fault};
use tablerock_kv::{Error, FaultEngine, MemoryEngine, Store};
use tablerock_services::blob::{BlobKind, WriteTerms};

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

    // The commit that refers to the new content happens, and its answer is lost.
    let received = receive(&service, "b", &content(2)).await.unwrap();
    let lost = Error::unavailable("the connection broke");
    // Before it comes the note about the content that it replaces.
    engine.script(Call::Commit, [Fault::Pass, Fault::FailAfter(lost)]);
    let outcome = service.put_blob(at("b"), &WriteTerms::default(), &new_blob(BlobKind::Block), received).await;
    assert!(is_store_error(&outcome), "{outcome:?}");
    service.rest().await;
    assert_eq!(read(&service, "b", None).await.unwrap(), content(2));
}
