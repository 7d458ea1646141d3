//! Where a page ends. Engines build their pages with this, so that all of them stop at the same record.

use std::time::Instant;

use crate::{Page, Position, Record, ScanLimits};

/// How many records go between two looks at the clock.
const DEADLINE_CHECK_RECORDS: usize = 64;

/// Gathers the records of one page.
///
/// A page is full once it has `records_max` records, once its records have `bytes_max` bytes or more, or once
/// the deadline has passed; but never before its first record.
///
/// ```
/// use tablerock_kv::{PageBuilder, Record, ScanLimits};
///
/// let record = Record { partition: "p".into(), key: "key".into(), value: "value".into() };
/// let mut page = PageBuilder::new(ScanLimits { records_max: 100, bytes_max: 10, deadline: None });
/// page.push(record.clone());
/// assert!(!page.is_full());
/// page.push(record);
/// assert!(page.is_full());
/// ```
#[derive(Debug)]
pub struct PageBuilder {
    limits: ScanLimits,
    records: Vec<Record>,
    bytes: usize,
}

impl PageBuilder {
    /// Returns an empty page with limits.
    pub fn new(limits: ScanLimits) -> Self {
        Self { limits, records: Vec::new(), bytes: 0 }
    }

    /// Whether the next record belongs to the next page.
    pub fn is_full(&self) -> bool {
        let records = self.records.len();
        records > 0 && (records >= self.limits.records_max || self.bytes >= self.limits.bytes_max || self.is_late())
    }

    fn is_late(&self) -> bool {
        self.records.len().is_multiple_of(DEADLINE_CHECK_RECORDS)
            && self.limits.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Adds a record.
    pub fn push(&mut self, record: Record) {
        self.bytes += record.partition.len() + record.key.len() + record.value.len();
        self.records.push(record);
    }

    /// How many records the page has so far.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns whether the page has no records.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The bytes of all partitions, keys and values so far.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The page, with the place to go on from if the range has more.
    pub fn finish(self, next: Option<Position>) -> Page {
        Page { records: self.records, next }
    }
}
