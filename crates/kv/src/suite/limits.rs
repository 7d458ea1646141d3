//! Where a page ends and how the next one goes on.

use std::sync::Arc;
use std::time::Instant;

use super::Harness;
use super::steps::{UNLIMITED, everything, page, puts};
use crate::{Engine, Range, Record, ScanLimits};

/// Enough that an engine which reads the beginning of a scan differently from the rest does both.
const RECORDS: usize = 1_200;

async fn many_records(harness: &mut dyn Harness) -> Arc<dyn Engine> {
    let engine = harness.open().await;
    for (number, partition) in ["a", "b", "c"].into_iter().enumerate() {
        let first = number * RECORDS / 3;
        let records: Vec<_> = (first..first + RECORDS / 3).map(|key| (format!("{key:05}"), [b'v'; 100])).collect();
        engine.commit(puts(partition, &records)).await.expect("a put succeeds");
    }
    engine
}

pub async fn a_scan_stops_at_its_records(mut harness: Box<dyn Harness>) {
    let engine = many_records(&mut *harness).await;
    for records_max in [1, 2, 100, RECORDS - 1] {
        let page = page(&*engine, &everything(), ScanLimits { records_max, ..UNLIMITED }).await;
        assert_eq!(page.records.len(), records_max);
        assert!(page.next.is_some());
    }
    for records_max in [RECORDS, RECORDS + 1] {
        let page = page(&*engine, &everything(), ScanLimits { records_max, ..UNLIMITED }).await;
        assert_eq!((page.records.len(), page.next), (RECORDS, None));
    }
}

pub async fn a_scan_stops_at_its_bytes(mut harness: Box<dyn Harness>) {
    let engine = many_records(&mut *harness).await;
    // A record is a partition of 1 byte, a key of 5 and a value of 100.
    for (bytes_max, records) in [(0, 1), (1, 1), (106, 1), (107, 2), (1_060, 10), (106 * 1_000, 1_000)] {
        let page = page(&*engine, &everything(), ScanLimits { bytes_max, ..UNLIMITED }).await;
        assert_eq!(page.records.len(), records, "with at most {bytes_max} bytes");
        assert!(page.next.is_some());
    }
}

pub async fn a_deadline_in_the_past_still_shows_one_record(mut harness: Box<dyn Harness>) {
    let engine = many_records(&mut *harness).await;
    let page = page(&*engine, &everything(), ScanLimits { deadline: Some(Instant::now()), ..UNLIMITED }).await;
    assert!((1..RECORDS).contains(&page.records.len()), "{} records", page.records.len());
    assert!(page.next.is_some());
}

pub async fn pages_follow_one_another_without_gap_or_overlap(mut harness: Box<dyn Harness>) {
    let engine = many_records(&mut *harness).await;
    let whole = page(&*engine, &everything(), UNLIMITED).await.records;
    assert_eq!(whole.len(), RECORDS);
    for records_max in [7, 399, 400, 401] {
        let mut rest: Option<Range> = Some(everything());
        let mut found: Vec<Record> = vec![];
        while let Some(range) = rest.take() {
            let page = page(&*engine, &range, ScanLimits { records_max, ..UNLIMITED }).await;
            found.extend(page.records);
            rest = page.next.map(|start| Range { start, ..range });
        }
        assert_eq!(found, whole, "in pages of {records_max}");
    }
}
