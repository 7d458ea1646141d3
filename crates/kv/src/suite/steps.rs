//! The steps that the behaviours consist of.

use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::{Commit, Engine, Page, Position, Range, Record, Result, ScanLimits};

/// No limit that a small test reaches.
pub(super) const UNLIMITED: ScanLimits = ScanLimits { records_max: usize::MAX, bytes_max: usize::MAX, deadline: None };

pub(super) fn bytes(text: impl AsRef<[u8]>) -> Bytes {
    Bytes::copy_from_slice(text.as_ref())
}

/// A commit of one partition that expects nothing.
pub(super) fn puts<K: AsRef<[u8]>, V: AsRef<[u8]>>(partition: &str, records: &[(K, V)]) -> Commit {
    let writes = records.iter().map(|(key, value)| (bytes(key), Some(bytes(value)))).collect();
    Commit { partition: bytes(partition), expected: vec![], writes }
}

pub(super) async fn put(engine: &dyn Engine, partition: &str, key: &str, value: &str) {
    engine.commit(puts(partition, &[(key, value)])).await.expect("a put without expectations succeeds");
}

pub(super) async fn get(engine: &dyn Engine, partition: &str, key: &str) -> Option<Bytes> {
    engine.get(partition.as_bytes(), key.as_bytes()).await.expect("a read succeeds")
}

/// Puts a value where another, or none, is expected.
pub(super) async fn swap(engine: &dyn Engine, place: [&str; 2], expected: Option<&str>, value: &str) -> Result<()> {
    let [partition, key] = place;
    let mut commit = puts(partition, &[(key, value)]);
    commit.expected.push((bytes(key), expected.map(bytes)));
    engine.commit(commit).await
}

pub(super) async fn page(engine: &dyn Engine, range: &Range, limits: ScanLimits) -> Page {
    engine.scan(range, limits).await.expect("a scan succeeds")
}

/// Every record of a range, page after page.
pub(super) async fn all(engine: &dyn Engine, range: &Range) -> Vec<Record> {
    let mut rest = range.clone();
    let mut records = vec![];
    loop {
        let page = page(engine, &rest, UNLIMITED).await;
        records.extend(page.records);
        match page.next {
            Some(next) => rest.start = next,
            None => return records,
        }
    }
}

/// Every record there is.
pub(super) fn everything() -> Range {
    Range { start: Position::new("", ""), end: None }
}

/// Partition and key of records, as text.
pub(super) fn places(records: &[Record]) -> Vec<String> {
    let place = |record: &Record| format!("{}/{}", record.partition.escape_ascii(), record.key.escape_ascii());
    records.iter().map(place).collect()
}

/// Waits until a range has no records.
pub(super) async fn wait_until_empty(engine: &dyn Engine, range: &Range, within: Duration) {
    let end = Instant::now() + within;
    while !page(engine, range, ScanLimits { records_max: 1, ..UNLIMITED }).await.records.is_empty() {
        assert!(Instant::now() < end, "the dropped range still has records after {within:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
