//! The thread that removes dropped ranges and gets their space back.
//!
//! A range is swept in three steps, none of which readers wait for. Tables that lie wholly inside it are dropped
//! as files, which is most of a big range. What is left, in memory and at the edges, is deleted record by record,
//! in small commits through the same queue as everyone's. Then the deleted records are merged away, if they are a
//! good part of a small database; a big one gets to it in the course of its normal merging. The same is done for what
//! others deleted, when they have come to rest.
//!
//! Dropping a table leaves no trace in the journal, so after a crash the journal may bring back some of its
//! records. That is why the note of a swept range stays until every journal is gone that was there at the time,
//! and why each start sweeps such ranges again: they are nearly always empty then.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use fjall::AbstractTree;
use tablerock_kv::key::physical;
use tablerock_kv::{Error, Result};

use crate::committer::Shared;
use crate::database::Handles;
use crate::failure::translate;
use crate::garbage::Garbage;
use crate::intents::{Intent, Intents, Next};
use crate::journal;
use crate::overlay::Write;
use crate::queue::Writes;

/// How many records one commit deletes, so that it delays others by no more than a large request would.
const CHUNK_RECORDS: usize = 256;

/// How long the sweeper lets others go first, between two such commits and when there is no room for its own.
const PAUSE: Duration = Duration::from_millis(2);

/// How long a failed sweep rests.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long the sweeper waits for recent writes to become a table before it merges.
const FLUSH_PATIENCE: Duration = Duration::from_secs(30);

/// What no record is stored under, so that it can be deleted at any time: in each, the partition has an end.
const NO_RECORD: &[u8] = b"\0";

pub(crate) struct Sweeper {
    pub(crate) handles: Handles,
    pub(crate) shared: Arc<Shared>,
    pub(crate) intents: Arc<Intents>,
    pub(crate) data: PathBuf,
    pub(crate) look_every: Duration,
    pub(crate) garbage: Garbage,
    /// Swept ranges whose notes stay for the journals' sake.
    pub(crate) swept: Vec<Intent>,
}

impl Sweeper {
    /// Works until it is stopped or the engine accepts no more writes.
    pub(crate) fn run(mut self) {
        let mut next_look = Instant::now() + self.look_every;
        while self.shared.queue.shut_reason().is_none() {
            let outcome = match self.intents.next(next_look) {
                Next::Sweep(intent) => self.sweep(&intent).inspect_err(|_| self.intents.add(intent, PATIENCE)),
                Next::Look => {
                    let looked = self.look();
                    next_look = Instant::now() + self.look_every;
                    looked
                }
                Next::Stop => return,
            };
            if let Err(error) = outcome {
                tracing::warn!(%error, "the space of what was deleted could not be got back yet");
            }
        }
    }

    fn sweep(&mut self, intent: &Intent) -> Result<()> {
        let (start, end) = physical::encode_range(&intent.range);
        let start = Bytes::from(start);
        let tables_dropped = self.drop_tables(&start, end.as_deref())?;
        let deleted_bytes = self.delete_rest(&start, end.as_deref())?;
        if self.intents.is_stopped() {
            return Ok(());
        }
        tracing::debug!(tables_dropped, deleted_bytes, "swept a dropped range");

        let merged = self.garbage.is_due(&self.shared.deleted, &self.handles.records) && self.merge()?;
        if tables_dropped > 0 || merged {
            self.let_go_of_files()?;
        }
        // If the journal brought nothing back, the note is right as it is.
        if intent.swept_at_journal.is_some() && tables_dropped == 0 && deleted_bytes == 0 {
            self.swept.push(intent.clone());
            return Ok(());
        }
        let journal = journal::newest(&self.data)?.map_or(0, |(number, _)| number);
        let swept = Intent { swept_at_journal: Some(journal), ..intent.clone() };
        self.commit(vec![], vec![swept.note()])?;
        self.swept.push(swept);
        self.forget_old_notes()
    }

    /// Drops the tables that hold nothing but the range, and says how many those were.
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
            // So that readers, and the next step, see the records without those tables.
            self.renew_view()?;
        }
        Ok(dropped)
    }

    /// Deletes what is left of the range, and says how many bytes that was.
    fn delete_rest(&self, start: &Bytes, end: Option<&[u8]>) -> Result<u64> {
        let mut bytes = 0;
        let mut from = start.to_vec();
        while !self.intents.is_stopped() {
            let mut writes = Vec::with_capacity(CHUNK_RECORDS);
            let view = self.shared.published.load()?;
            for record in view.range(from.clone(), end.map(<[u8]>::to_vec)).take(CHUNK_RECORDS) {
                let (key, value) = record.into_inner().map_err(|error| translate("cannot read a record", error))?;
                bytes += (key.len() + value.len()) as u64;
                // A copy: the key shares the memory of a whole block.
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

    /// Looks after what others deleted, and after old notes.
    fn look(&mut self) -> Result<()> {
        if self.garbage.look(&self.shared.deleted, &self.handles.records) && self.merge()? {
            self.let_go_of_files()?;
        }
        self.forget_old_notes()
    }

    /// Merges deletions with what they delete. `false` if there was no time for it.
    fn merge(&mut self) -> Result<bool> {
        let records = &self.handles.records;
        // A merge spares what a view can see, and fjall learns which views are left when it changes the write buffer: so
        // there must be something in it. What was deleted last is in it too, and takes part only as a table.
        self.renew_view()?;
        records.rotate_memtable().map_err(|error| translate("cannot flush", error))?;
        let give_up = Instant::now() + FLUSH_PATIENCE;
        while records.sealed_memtable_count() > 0 {
            if Instant::now() > give_up || self.intents.is_stopped() {
                return Ok(false);
            }
            std::thread::sleep(PAUSE);
        }
        records.major_compact().map_err(|error| translate("cannot merge tables", error))?;
        self.garbage.merged(&self.shared.deleted);
        Ok(true)
    }

    /// Files go when nobody can see them: a commit replaces the view that still does, and a change of the write
    /// buffer makes fjall look for what it no longer needs.
    fn let_go_of_files(&self) -> Result<()> {
        self.renew_view()?;
        self.handles.records.rotate_memtable().map_err(|error| translate("cannot flush", error))?;
        Ok(())
    }

    /// Any commit has readers see the records as they are now.
    fn renew_view(&self) -> Result<()> {
        self.commit(vec![Write { key: Bytes::from_static(NO_RECORD), value: None }], vec![])
    }

    fn forget_old_notes(&mut self) -> Result<()> {
        let oldest = journal::oldest_number(&self.data)?.unwrap_or(u64::MAX);
        let (kept, old): (Vec<_>, Vec<_>) =
            self.swept.drain(..).partition(|intent| intent.swept_at_journal >= Some(oldest));
        self.swept = kept;
        if old.is_empty() {
            return Ok(());
        }
        self.commit(vec![], old.iter().map(Intent::forget).collect())
    }

    /// Commits in turn with everyone else, and waits for the disk.
    fn commit(&self, records: Vec<Write>, own: Vec<Write>) -> Result<()> {
        let bytes = records.iter().chain(&own).map(|write| write.key.len()).sum();
        let room = loop {
            match self.shared.queue.try_reserve(bytes) {
                Some(room) => break room,
                None if self.intents.is_stopped() => return Err(Error::unavailable("the engine is being closed")),
                None => std::thread::sleep(PAUSE),
            }
        };
        let place = self.shared.queue.push(Writes::Background { records, own }, room)?;
        self.shared.queue.call();
        place.answer.blocking_recv().unwrap_or_else(|_| Err(self.shared.queue.shut_error()))
    }
}
