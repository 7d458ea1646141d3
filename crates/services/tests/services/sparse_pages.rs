//! Page blobs that are mostly empty: what is asked of them costs what is stored, however large the emptied area is.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use tablerock_kv::fault::{Call, FaultEngine};
use tablerock_kv::{MemoryEngine, Store};
use tablerock_protocol::DateTime;
use tablerock_protocol::blob::ByteRange;
use tablerock_services::blob::{BlobService, PageRange, PageRangeQuery, ReadTerms, WriteTerms};
use tablerock_testkit::blob_copies::copy_blob;
use tablerock_testkit::blob_model::*;
use tablerock_testkit::page_model::*;

const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;

/// A service whose reads are counted.
struct Counted {
    engine: Arc<FaultEngine>,
    service: BlobService,
}

impl Counted {
    async fn new() -> Self {
        let engine = Arc::new(FaultEngine::new(Arc::new(MemoryEngine::new())));
        let service = service_with_container(&Store::new(engine.clone()), manual_clock()).await;
        Self { engine, service }
    }

    /// The scans of some work, and the records that they returned.
    async fn reads_of<T>(&self, work: impl Future<Output = T>) -> (T, usize, usize) {
        let (scans, records) = (self.engine.calls(Call::Scan), self.engine.records_scanned());
        let done = work.await;
        (done, self.engine.calls(Call::Scan) - scans, self.engine.records_scanned() - records)
    }

    async fn ranges(&self, previous: Option<DateTime>) -> Vec<PageRange> {
        let query = PageRangeQuery { previous, ranges_max: 10_000, ..PageRangeQuery::default() };
        self.service.page_ranges(at("b"), &ReadTerms::default(), &query).await.unwrap().ranges
    }

    async fn snapshot(&self) -> DateTime {
        self.service.snapshot_blob(at("b"), &WriteTerms::default(), None).await.unwrap().0
    }
}

fn written(first: u64, last: u64) -> PageRange {
    PageRange { first, last, is_cleared: false }
}

fn cleared(first: u64, last: u64) -> PageRange {
    PageRange { first, last, is_cleared: true }
}

#[tokio::test]
async fn a_blob_that_shrank_and_grew_again_lists_its_pages_at_once() {
    let at_work = Counted::new().await;
    create_pages(&at_work.service, "b", TIB).await.unwrap();
    put_pages(&at_work.service, "b", 0, &[7; 512]).await.unwrap();
    resize(&at_work.service, "b", 512).await.unwrap();
    resize(&at_work.service, "b", TIB).await.unwrap();
    let (ranges, scans, records) = at_work.reads_of(at_work.ranges(None)).await;
    assert_eq!(ranges, [written(0, 511)]);
    // Layers are merged meanwhile, which reads as well.
    assert!(scans <= 64 && records <= 64, "{scans} scans of {records} records");
}

#[tokio::test]
async fn a_difference_over_a_cleared_area_costs_what_is_stored() {
    let at_work = Counted::new().await;
    create_pages(&at_work.service, "b", 8 * TIB).await.unwrap();
    put_pages(&at_work.service, "b", 4 * TIB, &[7; 512]).await.unwrap();
    let taken = at_work.snapshot().await;
    let (done, _, records) = at_work.reads_of(clear_pages(&at_work.service, "b", 0, 8 * TIB)).await;
    done.unwrap();
    assert!(records <= 16, "a clear reads {records} records");
    put_pages(&at_work.service, "b", GIB, &[8; 1024]).await.unwrap();
    at_work.service.rest().await;
    let (all, scans, records) = at_work.reads_of(at_work.ranges(None)).await;
    assert_eq!(all, [written(GIB, GIB + 1023)]);
    assert!(scans <= 8 && records <= 16, "{scans} scans of {records} records");
    let (changed, scans, records) = at_work.reads_of(at_work.ranges(Some(taken))).await;
    assert_eq!(changed, [cleared(0, GIB - 1), written(GIB, GIB + 1023), cleared(GIB + 1024, 8 * TIB - 1)]);
    assert!(scans <= 8 && records <= 16, "{scans} scans of {records} records");
}

#[tokio::test]
async fn layers_of_a_sparse_blob_are_merged_and_copied_by_what_they_have() {
    let at_work = Counted::new().await;
    let service = &at_work.service;
    create_pages(service, "b", 8 * TIB).await.unwrap();
    put_pages(service, "b", 4 * TIB, &[7; 512]).await.unwrap();
    let taken = at_work.snapshot().await;
    clear_pages(service, "b", 0, 8 * TIB).await.unwrap();
    put_pages(service, "b", TIB, &[8; 512]).await.unwrap();
    let merge = async {
        service.delete_snapshot(at("b"), &WriteTerms::default(), taken).await.unwrap();
        service.rest().await;
    };
    let ((), scans, records) = at_work.reads_of(merge).await;
    assert!(scans <= 64 && records <= 64, "a merge takes {scans} scans of {records} records");
    let copy = async { copy_blob(service, ("b", None, None), ("copy", None)).await.unwrap() };
    let ((), scans, records) = at_work.reads_of(copy).await;
    assert!(scans <= 32 && records <= 32, "a copy takes {scans} scans of {records} records");
    assert_eq!(at_work.ranges(None).await, [written(TIB, TIB + 511)]);
}

#[tokio::test]
async fn a_large_part_that_is_empty_is_read_at_once() {
    let at_work = Counted::new().await;
    create_pages(&at_work.service, "b", 8 * TIB).await.unwrap();
    put_pages(&at_work.service, "b", GIB, &[7; 512]).await.unwrap();
    at_work.snapshot().await;
    clear_pages(&at_work.service, "b", 0, 8 * TIB).await.unwrap();
    let range = ByteRange { offset: GIB - (32 << 20), length: 64 << 20 };
    let (bytes, scans, records) = at_work.reads_of(read_range(&at_work.service, "b", None, range)).await;
    assert!(bytes.unwrap().iter().all(|byte| *byte == 0));
    assert!(scans <= 8 && records <= 16, "{scans} scans of {records} records");
}

/// A list is inside the time limit of its request: a future that never waits could not be ended.
#[tokio::test]
async fn a_long_list_makes_way_for_others() {
    let at_work = Counted::new().await;
    create_pages(&at_work.service, "b", TIB).await.unwrap();
    for place in 0..300 {
        put_pages(&at_work.service, "b", place * GIB, &[7; 512]).await.unwrap();
    }
    let mut list = std::pin::pin!(at_work.ranges(None));
    let begun = poll_fn(|cx| Poll::Ready(list.as_mut().poll(cx))).await;
    assert!(begun.is_pending(), "the list never waited");
    assert_eq!(list.await.len(), 300);
}
