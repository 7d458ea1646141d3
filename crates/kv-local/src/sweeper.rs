//! The thread that deletes the records of dropped ranges and reclaims their space.
//!
//! A range is swept in three steps, none of which blocks readers. Tables that lie wholly inside it are dropped as files,
//! which is most of a large range. The rest, in memory and at the edges, is deleted record by record, in small commits
//! through the commit queue. Then a compaction removes the deleted records if they are a large part of a small database; a
//! large one reaches them in its normal compactions. Records that clients deleted are compacted the same way, in a lull.
//!
//! Journals hold the records too. After ranges were swept or tables compacted, and with no range left to sweep, the journals
//! of that time are released as well, if they are large.
//!
//! Dropping a table leaves no trace in the journal, so after a crash the journal may restore some of its records. So the
//! intent of a swept range stays until every journal of that time is deleted, and each start sweeps such ranges again:
//! they are nearly always empty then.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use fjall::AbstractTree;
use tablerock_kv::key::physical;
use tablerock_kv::{Error, Result};

use crate::commit_queue::Writes;
use crate::database::Handles;
use crate::failure::translate;
use crate::garbage::Garbage;
use crate::journal;
use crate::journal_space::{self, JournalSpace};
use crate::overlay::Write;
use crate::shared::Shared;
use crate::sweep_queue::{SweepIntent, SweepQueue, SweepTask};

/// The records that one commit deletes: few enough to delay other commits no more than a large request does.
const CHUNK_RECORDS: usize = 256;

/// The pause between two such commits, and between two attempts to get a permit of the queue.
const PAUSE: Duration = Duration::from_millis(2);

/// The delay before a failed sweep is retried.
const RETRY_DELAY: Duration = Duration::from_secs(60);

/// The time for recent writes to become a table before a compaction.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(30);

/// A key that no record has, so that it can be deleted at any time: in every physical key, the partition has an end.
const NO_RECORD: &[u8] = b"\0";

pub(crate) struct Sweeper {
    pub(crate) handles: Handles,
    pub(crate) shared: Arc<Shared>,
    pub(crate) queue: Arc<SweepQueue>,
    pub(crate) data: PathBuf,
    pub(crate) garbage_check_interval: Duration,
    pub(crate) garbage: Garbage,
    /// Whether records were reclaimed that the journals may still hold.
    pub(crate) is_journal_garbage: bool,
    /// Swept ranges whose intents stay until the journals of that time are deleted.
    pub(crate) swept: Vec<SweepIntent>,
}

impl Sweeper {
    /// Runs until it is stopped or the engine rejects writes.
    pub(crate) fn run(mut self) {
        let mut next_check = Instant::now() + self.garbage_check_interval;
        while self.shared.queue.shut_reason().is_none() {
            let outcome = match self.queue.next(next_check) {
                SweepTask::Sweep(intent) => self.sweep(&intent).inspect_err(|_| self.queue.add(intent, RETRY_DELAY)),
                SweepTask::CheckGarbage => {
                    let checked = self.check_garbage();
                    next_check = Instant::now() + self.garbage_check_interval;
                    checked
                }
                SweepTask::Stop => return,
            };
            if let Err(error) = outcome {
                tracing::warn!(%error, "reclaiming the space of deleted records failed, will retry");
            }
        }
    }

    pub(crate) fn sweep(&mut self, intent: &SweepIntent) -> Result<()> {
        let (start, end) = physical::encode_range(&intent.range);
        let start = Bytes::from(start);
        let tables_dropped = self.drop_tables(&start, end.as_deref())?;
        let deleted_bytes = self.delete_rest(&start, end.as_deref())?;
        if self.queue.is_stopped() {
            return Ok(());
        }
        tracing::debug!(tables_dropped, deleted_bytes, "swept a dropped range");

        let compacted = self.garbage.is_due(&self.shared.deleted, &self.handles.records) && self.compact()?;
        if tables_dropped > 0 || compacted {
            self.release_files()?;
        }
        self.is_journal_garbage |= tables_dropped > 0 || deleted_bytes > 0;
        // If the journal restored nothing, the recorded intent is still right.
        if intent.swept_at_journal.is_some() && tables_dropped == 0 && deleted_bytes == 0 {
            self.swept.push(intent.clone());
            return Ok(());
        }
        let journal = journal::newest(&self.data)?.map_or(0, |(number, _)| number);
        let swept = SweepIntent { swept_at_journal: Some(journal), ..intent.clone() };
        self.commit(vec![], vec![swept.record()])?;
        self.swept.push(swept);
        self.forget_old_intents()
    }

    /// Drops the tables that hold only records of the range and returns their number.
    fn drop_tables(&self, start: &Bytes, end: Option<&[u8]>) -> Result<usize> {
        let tree = &self.handles.records.tree;
        let before = tree.table_count();
        let dropped = match end {
            Some(end) => tree.drop_range::<&[u8], _>(&start[..]..end),
            None => tree.drop_range::<&[u8], _>(&start[..]..),
        };
        dropped.map_err(|error| translate("cannot drop tables", error.into()))?;
        let dropped = before.saturating_sub(tree.table_count());
        if dropped > 0 {
            // Readers and the next step must see the records without those tables.
            self.renew_view()?;
        }
        Ok(dropped)
    }

    /// Deletes the remaining records of the range and returns their bytes.
    fn delete_rest(&self, start: &Bytes, end: Option<&[u8]>) -> Result<u64> {
        let mut bytes = 0;
        let mut from = start.to_vec();
        while !self.queue.is_stopped() {
            let mut writes = Vec::with_capacity(CHUNK_RECORDS);
            let view = self.shared.published.load()?;
            for record in view.range(from.clone(), end.map(<[u8]>::to_vec)).take(CHUNK_RECORDS) {
                let (key, value) = record.into_inner().map_err(|error| translate("cannot read a record", error))?;
                bytes += (key.len() + value.len()) as u64;
                // A copy, because the key keeps the memory of a whole block.
                writes.push(Write { key: Bytes::copy_from_slice(&key), value: None });
            }
            drop(view);
            let Some(last) = writes.last() else { break };
            from = [&last.key[..], &[0]].concat();
            self.commit(writes, vec![])?;
            std::thread::sleep(PAUSE);
        }
        Ok(bytes)
    }

    /// Compacts records that clients deleted if it is due, and deletes old intents.
    pub(crate) fn check_garbage(&mut self) -> Result<()> {
        if self.garbage.check(&self.shared.deleted, &self.handles.records) && self.compact()? {
            self.release_files()?;
            self.is_journal_garbage = true;
        }
        if self.is_journal_garbage && self.queue.unswept() == 0 && self.release_journals()? {
            self.is_journal_garbage = false;
        }
        self.forget_old_intents()
    }

    /// Releases the journals if they are large next to the tables. Returns `false` if a timeout or the stop came first.
    fn release_journals(&self) -> Result<bool> {
        let space = JournalSpace::read(&self.data)?;
        let bytes_min = journal_space::RELEASE_BYTES_MIN.max(self.handles.records.disk_space() / 4);
        if space.total() < bytes_min {
            return Ok(true);
        }
        if space.current >= journal_space::RELEASE_BYTES_MIN {
            self.fill_journal(space.current)?;
        }
        // A full journal is deleted once both keyspaces have flushed what it holds. The first flush begins the next journal.
        self.renew_view()?;
        for keyspace in [&self.handles.own, &self.handles.records] {
            keyspace.rotate_memtable().map_err(|error| translate("cannot flush", error))?;
        }
        let is_flushed = self.wait_until_flushed();
        tracing::debug!(before = space.total(), is_flushed, "released journals");
        self.release_files()?;
        Ok(is_flushed)
    }

    /// Writes a record that is never read until fjall takes the journal, which has so many bytes, for full.
    pub(crate) fn fill_journal(&self, bytes: u64) -> Result<()> {
        let filler =
            Write { key: Bytes::from_static(NO_RECORD), value: Some(Bytes::from_static(&journal_space::FILLER)) };
        // One more, because the allocated bytes are rounded up.
        let missing = journal_space::FULL_BYTES.saturating_sub(bytes) / journal_space::FILLER.len() as u64 + 1;
        for _ in 0..=missing {
            if self.queue.is_stopped() {
                break;
            }
            self.commit(vec![filler.clone()], vec![])?;
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Compacts all tables, which removes deleted records. Returns `false` if a timeout or the stop came first.
    fn compact(&mut self) -> Result<bool> {
        let records = &self.handles.records;
        let counted = self.shared.deleted.counted();
        // A compaction keeps records that a view can see, and fjall learns which views are left when it rotates a write
        // buffer that is not empty. The latest deletions are in that buffer too, and take part only as a table.
        self.renew_view()?;
        records.rotate_memtable().map_err(|error| translate("cannot flush", error))?;
        if !self.wait_until_flushed() {
            return Ok(false);
        }
        records.major_compact().map_err(|error| translate("cannot compact tables", error))?;
        self.garbage.compacted(&self.shared.deleted, counted);
        Ok(true)
    }

    /// Waits until all rotated write buffers are tables. Returns `false` if a timeout or the stop came first.
    fn wait_until_flushed(&self) -> bool {
        let give_up = Instant::now() + FLUSH_TIMEOUT;
        while [&self.handles.records, &self.handles.own].iter().any(|keyspace| keyspace.sealed_memtable_count() > 0) {
            if Instant::now() > give_up || self.queue.is_stopped() {
                return false;
            }
            std::thread::sleep(PAUSE);
        }
        true
    }

    /// Releases files of dropped tables: a commit replaces the view that still sees them, and a rotation of the write
    /// buffer makes fjall delete the files that it no longer needs.
    fn release_files(&self) -> Result<()> {
        self.renew_view()?;
        self.handles.records.rotate_memtable().map_err(|error| translate("cannot flush", error))?;
        Ok(())
    }

    /// Makes a commit, which publishes a new view.
    fn renew_view(&self) -> Result<()> {
        self.commit(vec![Write { key: Bytes::from_static(NO_RECORD), value: None }], vec![])
    }

    fn forget_old_intents(&mut self) -> Result<()> {
        let oldest = journal::oldest_number(&self.data)?.unwrap_or(u64::MAX);
        let (kept, old): (Vec<_>, Vec<_>) =
            self.swept.drain(..).partition(|intent| intent.swept_at_journal >= Some(oldest));
        self.swept = kept;
        if old.is_empty() {
            return Ok(());
        }
        self.commit(vec![], old.iter().map(SweepIntent::removal).collect())
    }

    /// Commits through the queue and waits for the disk.
    fn commit(&self, records: Vec<Write>, own: Vec<Write>) -> Result<()> {
        let size = |write: &Write| write.key.len() + write.value.as_ref().map_or(0, Bytes::len);
        let bytes = records.iter().chain(&own).map(size).sum();
        let permit = loop {
            match self.shared.queue.try_reserve(bytes) {
                Some(permit) => break permit,
                None if self.queue.is_stopped() => return Err(Error::unavailable("the engine is closing")),
                None => std::thread::sleep(PAUSE),
            }
        };
        let queued = self.shared.queue.push(Writes::Background { records, own }, permit)?;
        self.shared.queue.wake();
        queued.result.blocking_recv().unwrap_or_else(|_| Err(self.shared.queue.shut_error()))
    }
}
