//! Counting the blobs of one container, a page at a time, while clients change them.
//!
//! A change of a blob that was counted already is counted as well; one of a blob that comes later is found there. A page that
//! was read while the container changed is read again.

use std::sync::Arc;

use tablerock_kv::{Bytes, Page, Range, Result, ScanLimits, Transaction};

use super::super::blocks::{BlocksHeader, UncommittedBlock};
use super::super::keys::{self, BlobKey};
use super::super::stored_blob::Blob;
use super::stored::UsageRecord;
use super::{BASE, OpenContainer, Usage, Usages};

/// The attempts at a page. After that, the count may be off by the changes during the last attempt.
const ATTEMPTS_MAX: u32 = 20;

/// The progress of a count, where changes find it.
#[derive(Debug)]
pub(super) struct Scan {
    counted: Usage,
    /// The partition of the next record; all before it are counted.
    upto: Bytes,
    /// Whether some records of that partition are counted.
    is_inside: bool,
    /// The last partition that has a blob.
    last_blob: Bytes,
}

impl Scan {
    /// Counts a change of a blob that was counted before. Returns `false` if it is not known whether it was.
    pub(super) fn count(&mut self, partition: &[u8], change: Usage) -> bool {
        if partition < &self.upto[..] {
            self.counted.add(change);
        }
        !self.is_inside || partition != &self.upto[..]
    }

    fn count_page(&mut self, page: &Page) -> Result<()> {
        for record in &page.records {
            let usage = match keys::blob_key_of(&record.key)? {
                BlobKey::Base => {
                    self.last_blob = record.partition.clone();
                    Usage::change((0, Usage::bytes_of(&Blob::decode(&record.value)?)), (false, true))
                }
                BlobKey::Blocks => {
                    let has_blocks = BlocksHeader::decode(&record.value)?.count > 0;
                    Usage::change((0, 0), (false, has_blocks && self.last_blob != record.partition))
                }
                BlobKey::Block => {
                    let block = UncommittedBlock::decode(&record.key, &record.value)?;
                    Usage::change((0, block.length), (false, false))
                }
                _ => Usage::default(),
            };
            self.counted.add(usage);
        }
        Ok(())
    }
}

/// A count in progress.
#[derive(Debug)]
pub struct Recount {
    container_id: u64,
    container: Arc<OpenContainer>,
    rest: Range,
}

impl Usages {
    pub(crate) async fn begin_recount(&self, container_id: u64) -> Result<Recount> {
        let container = self.open(container_id).await?;
        let rest = keys::container_blobs(container_id);
        let mut state = container.state.lock();
        state.is_uncertain = false;
        let upto = rest.start.partition.clone();
        state.scan = Some(Scan { counted: Usage::default(), upto, is_inside: false, last_blob: Bytes::new() });
        drop(state);
        Ok(Recount { container_id, container, rest })
    }

    /// Counts the next page; returns whether it was the last.
    pub(crate) async fn recount_page(&self, recount: &mut Recount) -> Result<bool> {
        let Recount { container_id, container, rest } = recount;
        for attempt in 1..=ATTEMPTS_MAX {
            let changes = {
                let state = container.state.lock();
                (state.changes, state.pending)
            };
            let page = self.store.scan(rest, ScanLimits::PAGE).await?;
            let mut state = container.state.lock();
            if ((state.changes, state.pending) != changes || changes.1 > 0) && attempt < ATTEMPTS_MAX {
                continue;
            }
            let Some(scan) = &mut state.scan else {
                return Err(tablerock_kv::Error::internal("a count of blobs was begun twice"));
            };
            scan.count_page(&page)?;
            if let Some(next) = page.next {
                scan.is_inside = page.records.last().is_some_and(|last| last.partition == next.partition);
                scan.upto = next.partition.clone();
                rest.start = next;
                return Ok(false);
            }
            break;
        }
        let id = *container_id;
        self.end_recount(id, container).await?;
        Ok(true)
    }

    /// Stores a base with which the sums of all servers give what was counted, instead of what dead servers left.
    async fn end_recount(&self, container_id: u64, container: &OpenContainer) -> Result<()> {
        let records = self.records_of(container_id).await?;
        let (dead, others): (Vec<_>, Vec<_>) = records
            .into_iter()
            .filter(|(server, _)| *server != BASE && *server != self.server)
            .partition(|(server, record)| self.is_dead(*server, record, true));
        let mut base = {
            let mut state = container.state.lock();
            let counted = state.scan.take().map(|scan| scan.counted).unwrap_or_default();
            counted.minus(state.sum)
        };
        others.iter().for_each(|(_, record)| base = base.minus(record.sum));
        let record = UsageRecord { sum: base, ..UsageRecord::default() };
        let put = |tx: &mut Transaction| {
            tx.put(keys::usage_key(container_id, BASE), record.encode());
            dead.iter().for_each(|(server, _)| tx.delete(keys::usage_key(container_id, *server)));
        };
        self.store.write(&keys::usage_partition(), put).await
    }
}
