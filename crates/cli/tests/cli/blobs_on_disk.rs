//! The Blob service on the engine that the binary uses: random steps compared with a model, a restart, and reclaimed space.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tablerock_kv::{Store, SystemClock};
use tablerock_kv_local::{LocalEngine, LocalOptions};
use tablerock_protocol::blob::{TagQuery, Tags};
use tablerock_services::blob::{BlobKind, DeleteSnapshots, NewBlob, ReadTerms, TagSearch, WriteTerms};
use tablerock_services::transfer::{CopyTerms, Progress, copy_account};
use tablerock_testkit::blob_model::*;

const MIB: usize = 1 << 20;

fn store_in(folder: &Path) -> Store {
    let options = LocalOptions { sweep_delay: Duration::ZERO, write_buffer_bytes: 4 << 20, ..LocalOptions::default() };
    Store::new(Arc::new(LocalEngine::open_with(folder, &options).expect("the folder is free")))
}

fn content(length: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; length];
    fastrand::Rng::with_seed(seed).fill(&mut bytes);
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn blobs_on_disk_do_what_the_model_does() {
    for seed in 100..102 {
        println!("seed {seed}");
        let folder = tempfile::tempdir().unwrap();
        let store = store_in(folder.path());
        let mut comparison = Comparison::new(store.clone(), seed).await;
        for _ in 0..100 {
            comparison.step().await;
        }
        store.close().await.unwrap();
    }
}

/// A client may go away at any moment, also while the commit of its blob is being synced.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_was_abandoned_leaves_a_blob_that_can_be_read_and_found() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path());
    let service = service_with_container(&store, Arc::new(SystemClock)).await;
    let new = |round: u64| {
        let tags = Tags::parse_header(&format!("round={round}")).unwrap();
        NewBlob { tags, ..new_blob(BlobKind::Block) }
    };
    for round in 0..200 {
        let received = receive(&service, "b", &content(20_000, round)).await.unwrap();
        let (terms, new) = (WriteTerms::default(), new(round));
        let put = service.put_blob(at("b"), &terms, &new, received);
        let _ = tokio::time::timeout(Duration::from_micros(round * 25), put).await;
        service.rest().await;
        // Whatever was accepted is durable after the next commit.
        put_list(&service, "other", &[]).await.unwrap();
        let Ok(blob) = service.blob(at("b"), None, &ReadTerms::default()).await else { continue };
        let seed = blob.tags.value("round").unwrap().parse().unwrap();
        assert!(read(&service, "b", None).await.unwrap() == content(20_000, seed), "{round}");
        let query = TagQuery::parse(&format!("round='{seed}'")).unwrap();
        let search = TagSearch { container: Some(CONTAINER.to_owned()), query, marker: None, items_max: 10 };
        let found = service.find_blobs_by_tags(ACCOUNT, &search).await.unwrap();
        assert_eq!(found.blobs.len(), 1, "{round}");
    }
    store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_is_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path());
    let service = service_with_container(&store, Arc::new(SystemClock)).await;
    put(&service, "small", b"abc").await.unwrap();
    let large = content(3 * MIB, 1);
    put(&service, "large", &large).await.unwrap();
    // An upload in progress, of which the next process knows only its intent.
    let unfinished = receive(&service, "unfinished", &content(MIB, 2)).await.unwrap();
    std::mem::forget(unfinished);
    store.close().await.unwrap();
    drop((service, store));

    let store = store_in(folder.path());
    let service = service_on(&store, Arc::new(SystemClock)).await;
    assert_eq!(read(&service, "small", None).await.unwrap(), "abc");
    assert!(read(&service, "large", None).await.unwrap() == large);
    let end = Instant::now() + Duration::from_secs(60);
    while records(&store, b"o").await.len() > 12 {
        assert!(Instant::now() < end, "the chunks of the upload are still there");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    store.close().await.unwrap();
}

/// A resumed copy has the ids of its earlier run, and so meets the files that this run had finished.
#[tokio::test(flavor = "multi_thread")]
async fn a_resumed_copy_replaces_the_files_of_its_earlier_run() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [from, to] = folders.each_ref().map(|folder| store_in(folder.path()));
    let service = service_with_container(&from, Arc::new(SystemClock)).await;
    let large = content(3 * MIB, 1);
    put(&service, "large", &large).await.unwrap();

    let terms = CopyTerms::from_store("the old store");
    let (source, target) = (from.clone(), to.clone());
    let interrupted = tokio::spawn(async move {
        let stop = |progress: Progress| assert_eq!(progress.records, 0, "the interruption");
        copy_account(&source, &target, ACCOUNT, &terms, &stop).await
    });
    assert!(interrupted.await.is_err_and(|error| error.is_panic()));
    assert!(folders[1].path().join("contents").read_dir().unwrap().count() > 1, "a content has arrived");

    copy_account(&from, &to, ACCOUNT, &terms, &|_| {}).await.unwrap();
    let service = service_on(&to, Arc::new(SystemClock)).await;
    assert!(read(&service, "large", None).await.unwrap() == large);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_space_of_what_was_replaced_and_deleted_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path());
    let service = service_with_container(&store, Arc::new(SystemClock)).await;
    for round in 0..8 {
        put(&service, "replaced", &content(16 * MIB, round)).await.unwrap();
        let name = format!("deleted/{round}");
        put(&service, &name, &content(4 * MIB, round)).await.unwrap();
        service.delete_blob(at(&name), &WriteTerms::default(), DeleteSnapshots::Refuse).await.unwrap();
    }
    service.rest().await;
    let end = Instant::now() + Duration::from_secs(60);
    while bytes_in(&folder.path().join("store/keyspaces/1/tables")) > 40 * MIB as u64 {
        assert!(Instant::now() < end, "{} bytes are left", bytes_in(folder.path()));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(read(&service, "replaced", None).await.unwrap() == content(16 * MIB, 7));
    store.close().await.unwrap();
}

fn bytes_in(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).expect("the folder is there");
    files.map(|file| file.unwrap().metadata().map_or(0, |data| data.len())).sum()
}

/// With several writers there is always a commit on its way to the disk, so no durable record is the newest one.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_snapshot_is_deleted_although_the_blob_is_written_to_all_the_time() {
    let folder = tempfile::tempdir().unwrap();
    let service = Arc::new(service_with_container(&store_in(folder.path()), Arc::new(SystemClock)).await);
    create_append(&service, "log").await.unwrap();
    let mut writers = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let service = service.clone();
        writers.spawn(async move {
            loop {
                append(&service, "log", b"line").await.unwrap();
            }
        });
    }
    for _ in 0..5 {
        let taken = service.snapshot_blob(at("log"), &WriteTerms::default(), None).await.unwrap().0;
        service.delete_snapshot(at("log"), &WriteTerms::default(), taken).await.unwrap();
    }
    writers.shutdown().await;
    service
        .delete_blob(at("log"), &WriteTerms::default(), DeleteSnapshots::Refuse)
        .await
        .expect("no snapshots are left");
}
