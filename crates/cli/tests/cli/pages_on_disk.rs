//! Page blobs on the engine that the binary uses: random steps compared with a model, a restart, a copy, and reclaimed space.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::{Store, SystemClock};
use tablerock_kv_local::{LocalEngine, LocalOptions};
use tablerock_protocol::blob::ByteRange;
use tablerock_services::blob::WriteTerms;
use tablerock_services::transfer::{CopyTerms, copy_account, export_account};
use tablerock_testkit::blob_model::*;
use tablerock_testkit::page_model::*;

fn store_in(folder: &Path) -> Store {
    let options = LocalOptions { sweep_delay: Duration::ZERO, write_buffer_bytes: 4 << 20, ..LocalOptions::default() };
    Store::new(Arc::new(LocalEngine::open_with(folder, &options).expect("the folder is free")))
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_on_disk_are_what_the_model_has() {
    for seed in 200..202 {
        println!("seed {seed}");
        let folder = tempfile::tempdir().unwrap();
        let store = store_in(folder.path());
        let mut comparison = PageComparison::new(store.clone(), seed).await;
        for _ in 0..60 {
            comparison.step().await;
        }
        store.close().await.unwrap();
    }
}

/// Whether any file of a folder has these bytes.
fn has_bytes(folder: &Path, wanted: &[u8]) -> bool {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files = entries.map(|path| match path.is_dir() {
        true => has_bytes(&path, wanted),
        false => std::fs::read(path).unwrap().windows(wanted.len()).any(|window| window == wanted),
    });
    files.any(|found| found)
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_under_a_customers_key_are_on_disk_encrypted_only() {
    let page: Vec<u8> = (0..512u32).map(|n| (n * n % 251) as u8).collect();
    let (key, part) = (customer_key(1), &page[100..116]);
    for (key, is_found) in [(None, true), (Some(&key), false)] {
        let folder = tempfile::tempdir().unwrap();
        let store = store_in(folder.path());
        let service = service_with_container(&store, Arc::new(SystemClock)).await;
        create_pages_with(&service, "disk", 1 << 20, key).await.unwrap();
        for round in 0..4u64 {
            put_pages_with(&service, "disk", round * 512, &page.repeat(1_000), key).await.unwrap();
            let taken = service.snapshot_blob(at("disk"), &keyed_terms(key), None).await.unwrap().0;
            put_pages_with(&service, "disk", 2048, &page, key).await.unwrap();
            service.delete_snapshot(at("disk"), &WriteTerms::default(), taken).await.unwrap();
        }
        assert_eq!(has_bytes(folder.path(), part), is_found, "while it is open");
        service.close().await.unwrap();
        store.close().await.unwrap();
        drop((service, store));
        assert_eq!(has_bytes(folder.path(), part), is_found, "after a clean stop");
        let service = service_on(&store_in(folder.path()), Arc::new(SystemClock)).await;
        let range = ByteRange { offset: 512, length: 512 };
        assert_eq!(read_range_with(&service, "disk", None, range, key).await.unwrap(), page);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_there_after_a_restart_and_in_another_store() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = store_in(folder.path());
    let service = service_with_container(&store, Arc::new(SystemClock)).await;
    create_pages(&service, "disk", 1 << 40).await.unwrap();
    put_pages(&service, "disk", 1 << 30, &[1; 4 << 20]).await.unwrap();
    let taken = service.snapshot_blob(at("disk"), &WriteTerms::default(), None).await.unwrap().0;
    put_pages(&service, "disk", (1 << 30) + 512, &[2; 512]).await.unwrap();
    service.close().await.unwrap();
    store.close().await.unwrap();
    drop((service, store));

    let store = store_in(folder.path());
    drop(service_on(&store, Arc::new(SystemClock)).await);
    let copy = store_in(other.path());
    let terms = CopyTerms::from_store("the old store");
    copy_account(&store, &copy, ACCOUNT, &terms, &|_| {}).await.unwrap();
    let mut texts = Vec::new();
    for store in [&store, &copy] {
        let service = service_on(store, Arc::new(SystemClock)).await;
        let range = ByteRange { offset: (1 << 30) - 512, length: 1536 };
        let expected = [[0; 512], [1; 512], [2; 512]].concat();
        assert_eq!(read_range(&service, "disk", None, range).await.unwrap(), expected);
        let before = [[0; 512], [1; 512], [1; 512]].concat();
        assert_eq!(read_range(&service, "disk", Some(taken), range).await.unwrap(), before);
        let mut text = Vec::new();
        export_account(store, ACCOUNT, &mut text).await.unwrap();
        texts.push(text);
    }
    assert!(texts[0] == texts[1], "the exports differ");
    // The copy goes on where the source was: its layers are numbered with what else it has.
    let service = service_on(&copy, Arc::new(SystemClock)).await;
    put_pages(&service, "disk", 0, &[3; 512]).await.unwrap();
    let range = ByteRange { offset: 0, length: 512 };
    assert_eq!(read_range(&service, "disk", None, range).await.unwrap(), [3; 512].to_vec());
    assert_eq!(read_range(&service, "disk", Some(taken), range).await.unwrap(), [0; 512].to_vec());
}
