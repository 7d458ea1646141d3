//! What is left when something fails between two steps: nothing for ever, and never a blob without its content.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::fault::{Call, Fault};
use tablerock_kv::{Bytes, Error, FaultEngine, MemoryEngine, Store};
use tablerock_protocol::blob::Conditions;
use tablerock_protocol::xml::BlockSource;
use tablerock_protocol::{ErrorCode, ServiceError};
use tablerock_services::Result;
use tablerock_services::blob::{BlobService, ContentSource, DeleteSnapshots, WriteTerms};
use tablerock_testkit::blob_model::*;

use crate::last_commit::{OTHER, Restarted, die_at};

/// Far more commits than any of the requests below takes.
const COMMITS_MAX: usize = 40;

fn content(seed: u8) -> Vec<u8> {
    (0..600_000u32).map(|n| (n % 253) as u8 ^ seed).collect()
}

/// Writes a blob of two blocks, replaces it as a whole, puts blocks again and lists them, and deletes it.
async fn write(service: &BlobService, step: usize) -> Result<()> {
    match step {
        0 => put(service, "b", &content(1)).await.map(drop),
        1 => put_block(service, "b", 1, &content(2)).await,
        2 => put_block(service, "b", 1, &content(3)).await,
        3 => put_block(service, "b", 2, &content(4)).await,
        4 => put_list(service, "b", &[(BlockSource::Latest, 1)]).await.map(drop),
        5 => service.snapshot_blob(at("b"), &WriteTerms::default(), None).await.map(drop),
        6 => put(service, "b", b"small").await.map(drop),
        _ => service.delete_blob(at("b"), &WriteTerms::default(), DeleteSnapshots::Include).await,
    }
}

async fn crash_at(commit: usize, fault: fn(Error) -> Fault) {
    let Restarted { store, service, done } = die_at(commit, fault, 8, write).await;
    let whole = read(&service, "b", None).await;
    let wanted: &[Option<Vec<u8>>] = &match done {
        None => vec![None, Some(content(1))],
        Some(0..=2) => vec![Some(content(1))],
        Some(3) => vec![Some(content(1)), Some(content(3))],
        Some(4) => vec![Some(content(3))],
        Some(5) => vec![Some(content(3)), Some(b"small".to_vec())],
        Some(6) => vec![Some(b"small".to_vec()), None],
        _ => vec![None],
    };
    let found = whole.ok().map(|bytes| bytes.to_vec());
    assert!(wanted.contains(&found), "after step {done:?} and {commit} commits, {:?} bytes", found.map(|f| f.len()));

    let _ = service.delete_blob(at("b"), &WriteTerms::default(), DeleteSnapshots::Include).await;
    put(&service, "b", b"").await.unwrap();
    service.delete_blob(at("b"), &WriteTerms::default(), DeleteSnapshots::Include).await.unwrap();
    service.delete_blob(at(OTHER), &WriteTerms::default(), DeleteSnapshots::Include).await.unwrap();
    service.rest().await;
    assert_eq!(records(&store, b"bo").await, [], "after {commit} commits");
}

#[tokio::test]
async fn wherever_a_process_dies_the_next_one_finds_whole_blobs_and_no_garbage() {
    for commit in 0..COMMITS_MAX {
        crash_at(commit, Fault::Fail).await;
    }
}

#[tokio::test]
async fn a_commit_whose_answer_was_lost_leaves_no_garbage_either() {
    for commit in 0..COMMITS_MAX {
        crash_at(commit, Fault::FailAfter).await;
    }
}

#[tokio::test]
async fn an_upload_that_nobody_takes_gives_its_space_back() {
    let store = Store::in_memory();
    let service = service_with_container(&store, manual_clock()).await;
    let received = receive(&service, "b", &content(1)).await.unwrap();
    assert_eq!(records(&store, b"o").await.len(), 3);
    drop(received);
    service.rest().await;
    assert_eq!(records(&store, b"on").await, []);
}

#[tokio::test]
async fn a_deleted_container_takes_its_blobs_with_it_also_when_that_is_cut_short() {
    let engine = Arc::new(FaultEngine::new(Arc::new(MemoryEngine::new())));
    let store = Store::new(engine.clone());
    let service = service_with_container(&store, manual_clock()).await;
    put(&service, "b", &content(1)).await.unwrap();
    service.rest().await;
    engine.script(Call::DropRange, [Fault::Pass, Fault::Fail(Error::unavailable("killed here"))]);
    let deleted = service.delete_container(ACCOUNT, CONTAINER, &Conditions::default(), None).await;
    deleted.expect("no reader can reach it any more");
    assert_eq!(records(&store, b"o").await.len(), 3, "the content is still stored");
    service.sweep_if_ours(&[ACCOUNT.to_owned()]).await.unwrap();
    assert_eq!(records(&store, b"boc").await, []);
}

/// Content that arrives while its container is deleted.
struct DeletedMeanwhile<'a>(&'a BlobService, u8);

impl ContentSource for DeletedMeanwhile<'_> {
    async fn next(&mut self) -> Result<Option<Bytes>, ServiceError> {
        self.1 += 1;
        if self.1 == 2 {
            let deleted = self.0.delete_container(ACCOUNT, CONTAINER, &Conditions::default(), None).await;
            deleted.map_err(tablerock_services::Error::into_service_error)?;
        }
        Ok((self.1 < 4).then(|| content(1).into()))
    }

    fn bytes_left(&self) -> Option<u64> {
        None
    }
}

#[tokio::test]
async fn an_upload_that_fails_because_its_container_went_returns_that() {
    let engine = Arc::new(FaultEngine::new(Arc::new(MemoryEngine::new())));
    let service = service_with_container(&Store::new(engine.clone()), manual_clock()).await;
    // The commits of the intent, of two chunks, of the deletion, and of its tombstone.
    let gone = || Error::unavailable("the folder is gone");
    engine.script(Call::Commit, (0..5).map(|_| Fault::Pass).chain((0..20).map(|_| Fault::Fail(gone()))));
    let outcome = service.receive_blob(at("b"), &mut DeletedMeanwhile(&service, 0), false).await;
    assert_eq!(code(outcome), ErrorCode::ContainerNotFound);
}

/// The first cleanup has found the list of pieces that the blob has, and reads it after a second list has replaced it and its
/// cleanup has deleted it.
#[tokio::test(start_paused = true)]
async fn a_block_that_one_list_takes_from_another_stays_while_both_are_cleaned_up() {
    let engine = Arc::new(FaultEngine::new(Arc::new(MemoryEngine::new())));
    let service = service_with_container(&Store::new(engine.clone()), manual_clock()).await;
    put_block(&service, "b", 1, &content(1)).await.unwrap();
    put_list(&service, "b", &[(BlockSource::Latest, 1)]).await.unwrap();
    service.rest().await;
    put_block(&service, "b", 2, &content(2)).await.unwrap();
    service.rest().await;
    // Two scans of the request, and then those of its cleanup: blocks, snapshots, the old list, and the list of the blob.
    engine.script(Call::Scan, (0..5).map(|_| Fault::Pass).chain([Fault::Delay(Duration::from_secs(60))]));
    put_list(&service, "b", &[(BlockSource::Committed, 1), (BlockSource::Uncommitted, 2)]).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    put_list(&service, "b", &[(BlockSource::Committed, 1)]).await.unwrap();
    service.rest().await;
    assert!(read(&service, "b", None).await.unwrap() == content(1));
}
