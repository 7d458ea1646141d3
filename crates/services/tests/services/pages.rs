//! Page blobs: what they cost, and what is left when something fails between two steps.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tablerock_kv::fault::Fault;
use tablerock_kv::{Bytes, Error, Range, ScanLimits, Store};
use tablerock_protocol::blob::ByteRange;
use tablerock_services::Result;
use tablerock_services::blob::{BlobService, DeleteSnapshots, WriteTerms};
use tablerock_testkit::blob_copies::copy_blob;
use tablerock_testkit::blob_model::*;
use tablerock_testkit::page_model::*;

use crate::last_commit::{OTHER, Restarted, die_at};

const MIB: u64 = 1 << 20;

async fn bytes_of_blobs(store: &Store) -> usize {
    let mut range = Range::partitions(b"b");
    let mut bytes = 0;
    loop {
        let page = store.scan(&range, ScanLimits::PAGE).await.unwrap();
        bytes += page.records.iter().map(|record| record.key.len() + record.value.len()).sum::<usize>();
        let Some(next) = page.next else { return bytes };
        range.start = next;
    }
}

async fn snapshot(service: &BlobService) -> tablerock_protocol::DateTime {
    service.snapshot_blob(at("b"), &WriteTerms::default(), None).await.unwrap().0
}

#[tokio::test]
async fn a_tebibyte_with_one_page_costs_one_page() {
    let store = Store::in_memory();
    let service = service_with_container(&store, manual_clock()).await;
    create_pages(&service, "b", 1 << 40).await.unwrap();
    put_pages(&service, "b", (1 << 40) - 512, &[7; 512]).await.unwrap();
    let cost = bytes_of_blobs(&store).await;
    assert!(cost < 1024, "{cost} bytes");
    for _ in 0..10 {
        snapshot(&service).await;
    }
    let cost = bytes_of_blobs(&store).await;
    assert!(cost < 2048, "{cost} bytes with snapshots");
    let range = ByteRange { offset: (1 << 40) - 1024, length: 1024 };
    assert_eq!(read_range(&service, "b", None, range).await.unwrap()[512..], [7; 512]);
}

#[tokio::test]
async fn clearing_a_tebibyte_gives_its_pages_back() {
    let store = Store::in_memory();
    let service = service_with_container(&store, manual_clock()).await;
    create_pages(&service, "b", 1 << 40).await.unwrap();
    for place in 0..40 {
        put_pages(&service, "b", place << 30, &[7; 64 << 10]).await.unwrap();
    }
    put_pages(&service, "b", (1 << 40) - 512, &[9; 512]).await.unwrap();
    clear_pages(&service, "b", 0, (1 << 40) - 512).await.unwrap();
    service.rest().await;
    let cost = bytes_of_blobs(&store).await;
    assert!(cost < 2048, "{cost} bytes");
    let range = ByteRange { offset: (1 << 40) - 1024, length: 1024 };
    assert_eq!(read_range(&service, "b", None, range).await.unwrap()[..512], [0; 512]);
}

#[tokio::test]
async fn deleted_snapshots_leave_one_layer() {
    let store = Store::in_memory();
    let service = service_with_container(&store, manual_clock()).await;
    create_pages(&service, "b", 8 * MIB).await.unwrap();
    let mut taken = Vec::new();
    for round in 0..20u8 {
        put_pages(&service, "b", 0, &vec![round; MIB as usize]).await.unwrap();
        taken.push(snapshot(&service).await);
    }
    put_pages(&service, "b", 512, &[99; 512]).await.unwrap();
    for taken in taken {
        service.delete_snapshot(at("b"), &WriteTerms::default(), taken).await.unwrap();
    }
    service.rest().await;
    let cost = bytes_of_blobs(&store).await;
    assert!(cost < MIB as usize + 4096, "{cost} bytes");
    let layers = records(&store, b"b").await.iter().filter(|(_, key)| key[0] == 6).count();
    assert_eq!(layers, 1);
    assert_eq!(read_range(&service, "b", None, ByteRange { offset: 0, length: 512 }).await.unwrap(), vec![19; 512]);
}

#[tokio::test]
async fn what_is_left_to_merge_is_noted_for_the_sweep() {
    let store = Store::in_memory();
    let service = service_with_container(&store, manual_clock()).await;
    create_pages(&service, "b", 512 * MIB).await.unwrap();
    for place in 0..5_000 {
        put_pages(&service, "b", place * (64 << 10), &[1; 512]).await.unwrap();
    }
    let taken = snapshot(&service).await;
    for place in 0..5_000 {
        put_pages(&service, "b", place * (64 << 10) + 512, &[2; 512]).await.unwrap();
    }
    service.delete_snapshot(at("b"), &WriteTerms::default(), taken).await.unwrap();
    service.rest().await;
    assert_eq!(records(&store, b"n").await.len(), 1, "a note");
    service.sweep_if_ours(&[ACCOUNT.to_owned()]).await.unwrap();
    assert_eq!(records(&store, b"n").await, []);
    assert_eq!(records(&store, b"b").await.iter().filter(|(_, key)| key[0] == 6).count(), 1);
    let range = ByteRange { offset: 4_999 * (64 << 10), length: 1024 };
    assert_eq!(read_range(&service, "b", None, range).await.unwrap(), [[1; 512], [2; 512]].concat());
}

/// The work that the tasks of a test have done.
#[derive(Debug, Default)]
struct Counts {
    writes: AtomicU32,
    reads: AtomicU32,
    snapshots: AtomicU32,
}

impl Counts {
    fn is_enough(&self) -> bool {
        let at_least = |count: &AtomicU32, min| count.load(Ordering::Relaxed) >= min;
        at_least(&self.writes, 300) && at_least(&self.reads, 30) && at_least(&self.snapshots, 5)
    }
}

/// Writes of several segments next to each other, snapshots that come and go, and readers that must see each write whole.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_write_of_pages_is_half_seen_while_layers_come_and_go() {
    const LENGTH: u64 = 640 << 10;
    let store = Store::in_memory();
    let service = Arc::new(service_with_container(&store, manual_clock()).await);
    create_pages(&service, "b", 16 * MIB).await.unwrap();
    let counts = Arc::new(Counts::default());
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..3u64 {
        let range = ByteRange { offset: writer * 4 * MIB + 1024, length: LENGTH };
        let (writing, written) = (service.clone(), counts.clone());
        tasks.spawn(async move {
            let mut round = 0u8;
            while !written.is_enough() {
                round = round.wrapping_add(1);
                match round % 7 {
                    0 => drop(clear_pages(&writing, "b", range.offset, LENGTH).await.unwrap()),
                    _ => drop(put_pages(&writing, "b", range.offset, &vec![round; LENGTH as usize]).await.unwrap()),
                }
                written.writes.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
        });
        let (reading, read) = (service.clone(), counts.clone());
        tasks.spawn(async move {
            while !read.is_enough() {
                // A reader that layers overtake all the time fails, and reads again.
                // An engine in memory never waits, so tasks have to make way for others.
                tokio::time::sleep(Duration::from_millis(1)).await;
                let Ok(found) = read_range(&reading, "b", None, range).await else { continue };
                assert!(found.iter().all(|byte| *byte == found[0]), "half of a write");
                read.reads.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    let (snapshots, taken) = (service.clone(), counts);
    tasks.spawn(async move {
        while !taken.is_enough() {
            let snapshot = snapshots.snapshot_blob(at("b"), &WriteTerms::default(), None).await.unwrap().0;
            let range = ByteRange { offset: 1024, length: LENGTH };
            let first = read_range(&snapshots, "b", Some(snapshot), range).await.unwrap();
            tokio::time::sleep(Duration::from_millis(5)).await;
            let second = read_range(&snapshots, "b", Some(snapshot), range).await.unwrap();
            assert!(first == second && first.iter().all(|byte| *byte == first[0]), "a snapshot changes");
            snapshots.delete_snapshot(at("b"), &WriteTerms::default(), snapshot).await.unwrap();
            taken.snapshots.fetch_add(1, Ordering::Relaxed);
        }
    });
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    service.rest().await;
    let blob = service.delete_blob(at("b"), &WriteTerms::default(), DeleteSnapshots::Include).await;
    blob.unwrap();
    service.rest().await;
    service.sweep_if_ours(&[ACCOUNT.to_owned()]).await.unwrap();
    assert_eq!(records(&store, b"bon").await, []);
}

/// Creates, writes, snapshots, clears, shrinks, copies and deletes page blobs.
async fn write(service: &BlobService, step: usize) -> Result<()> {
    match step {
        0 => create_pages(service, "b", 16 * MIB).await.map(drop),
        1 => put_pages(service, "b", 0, &vec![1; 128 << 10]).await.map(drop),
        2 => service.snapshot_blob(at("b"), &WriteTerms::default(), None).await.map(drop),
        3 => put_pages(service, "b", 1024, &vec![2; 128 << 10]).await.map(drop),
        4 => clear_pages(service, "b", 512, 15 * MIB).await.map(drop),
        5 => copy_blob(service, ("b", None, None), ("copy", None)).await,
        6 => service.delete_blob(at("b"), &WriteTerms::default(), DeleteSnapshots::Only).await,
        7 => resize(service, "b", 512).await,
        _ => service.delete_blob(at("b"), &WriteTerms::default(), DeleteSnapshots::Include).await,
    }
}

/// The content of the blob after a step.
fn content_after(step: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; 16 << 20];
    if step >= 1 {
        bytes[..128 << 10].fill(1);
    }
    if step >= 3 {
        bytes[1024..1024 + (128 << 10)].fill(2);
    }
    if step >= 4 {
        bytes[512..512 + (15 << 20)].fill(0);
    }
    if step >= 7 {
        bytes.truncate(512);
    }
    (step < 8).then_some(bytes)
}

async fn crash_at(commit: usize, fault: fn(Error) -> Fault) {
    let Restarted { store, service, done } = die_at(commit, fault, 9, write).await;
    let found = read(&service, "b", None).await.ok();
    let wanted = match done {
        None => [None, content_after(0)],
        Some(step) => [content_after(step), content_after(step + 1)],
    };
    let is_one = wanted.iter().any(|wanted| wanted.as_deref() == found.as_ref().map(|bytes| &bytes[..]));
    assert!(is_one, "after step {done:?} and {commit} commits, {:?} bytes", found.map(|found| found.len()));

    for name in ["b", "copy", OTHER] {
        create_pages(&service, name, 0).await.unwrap();
        service.delete_blob(at(name), &WriteTerms::default(), DeleteSnapshots::Include).await.unwrap();
    }
    service.rest().await;
    service.sweep_if_ours(&[ACCOUNT.to_owned()]).await.unwrap();
    assert_eq!(records(&store, b"bon").await, Vec::<(Bytes, Bytes)>::new(), "after {commit} commits");
}

#[tokio::test]
async fn wherever_a_process_dies_the_next_one_finds_whole_pages_and_no_garbage() {
    for commit in 0..48 {
        crash_at(commit, Fault::Fail).await;
    }
}

#[tokio::test]
async fn a_commit_of_pages_whose_answer_was_lost_leaves_no_garbage_either() {
    for commit in 0..48 {
        crash_at(commit, Fault::FailAfter).await;
    }
}
