//! The commit thread: takes all waiting commits, writes them as one batch, syncs once, publishes a view and sends the
//! results. While it syncs, the next group gathers; the first commit of the group wakes the thread.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fjall::{Keyspace, PersistMode};
use tablerock_kv::Result;

use crate::commit_queue::{self, Shut, Taken, WaitingCommit, Writes};
use crate::database::Handles;
use crate::failure::{translate, translate_io};
use crate::overlay::Write;
use crate::shared::Shared;
use crate::view::View;

/// The idle time after which the committer checks fjall's own threads.
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs right before a group goes to disk; its error counts as one of the disk. Tests use it to delay groups and to
/// make them fail.
pub(crate) type SyncHook = Box<dyn Fn() -> io::Result<()> + Send + Sync>;

pub(crate) struct Committer {
    pub(crate) handles: Handles,
    pub(crate) shared: Arc<Shared>,
    pub(crate) before_sync: SyncHook,
}

impl Committer {
    /// Runs until the queue is shut and empty.
    pub(crate) fn run(self) {
        // After a panic of this thread, waiting and later commits fail instead of waiting forever.
        let _guard = ShutWhenGone(Arc::clone(&self.shared));
        loop {
            match self.shared.queue.take(PATIENCE) {
                Taken::Group(group) => self.commit(group),
                Taken::Idle => self.check_workers(),
                Taken::Over => return,
            }
        }
    }

    fn commit(&self, group: Vec<WaitingCommit>) {
        let outcome = match self.shared.queue.shut_reason() {
            // An earlier group failed: nothing may be written after it.
            Some(Shut::Failed(error)) => Err(error),
            _ => self.write(&group),
        };
        if let Err(error) = &outcome {
            self.shared.queue.shut(Shut::Failed(error.clone()));
        } else {
            self.shared.counters.committed(group.len());
        }
        for WaitingCommit { sequence, writes, result, permit } in group {
            if let Writes::Partition { stripe, writes } = writes {
                self.shared.overlay.lock(stripe).remove(sequence, &writes);
            }
            drop(permit);
            // A caller that was cancelled does not receive the result.
            let _ = result.send(outcome.clone());
        }
    }

    fn write(&self, group: &[WaitingCommit]) -> Result<()> {
        let writes = newest_writes(&self.handles, group);
        if writes.is_empty() {
            return Ok(());
        }
        let mut batch = fjall::OwnedWriteBatch::with_capacity(self.handles.database.clone(), writes.len())
            .durability(Some(PersistMode::SyncData));
        for (keyspace, write) in writes {
            match &write.value {
                Some(value) => batch.insert(keyspace, write.key.clone(), value.clone()),
                None => {
                    self.shared.deleted.count(keyspace, &write.key);
                    batch.remove(keyspace, write.key.clone());
                }
            }
        }
        *self.shared.writing_since.lock() = Some(Instant::now());
        let written = self.sync(batch);
        *self.shared.writing_since.lock() = None;
        written?;
        self.shared.counters.synced_group();
        self.shared.published.replace(View::open(&self.handles));
        self.handles.rotate_full_buffers()
    }

    fn sync(&self, batch: fjall::OwnedWriteBatch) -> Result<()> {
        let attempt = "a write to disk failed; writes are rejected until Tablerock is restarted";
        (self.before_sync)().map_err(|error| translate_io(attempt, error))?;
        batch.commit().map_err(|error| translate(attempt, error))
    }

    /// Shuts the queue if one of fjall's threads has failed, and releases files that only the view still holds.
    fn check_workers(&self) {
        match self.handles.database.persist(PersistMode::Buffer) {
            Ok(()) => self.shared.published.replace(View::open(&self.handles)),
            Err(error) => {
                let attempt = "work in the background failed; writes are rejected until Tablerock is restarted";
                self.shared.queue.shut(Shut::Failed(translate(attempt, error)));
            }
        }
    }
}

/// Returns the writes of a group. Of several to one record only the last: fjall does not order them within a batch.
fn newest_writes<'a>(handles: &'a Handles, group: &'a [WaitingCommit]) -> Vec<(&'a Keyspace, &'a Write)> {
    let mut seen = HashSet::new();
    let mut newest = Vec::new();
    let mut pick = |keyspace: &'a Keyspace, writes: &'a [Write]| {
        for write in writes.iter().rev() {
            if seen.insert((keyspace.id(), &write.key)) {
                newest.push((keyspace, write));
            }
        }
    };
    for waiting in group.iter().rev() {
        match &waiting.writes {
            Writes::Partition { writes, .. } => pick(&handles.records, writes),
            Writes::Background { records, own } => {
                pick(&handles.records, records);
                pick(&handles.own, own);
            }
        }
    }
    newest
}

struct ShutWhenGone(Arc<Shared>);

impl Drop for ShutWhenGone {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.queue.shut(Shut::Failed(commit_queue::died()));
        }
        // Dropping the commits drops the senders of their results, which wakes their callers.
        drop(self.0.queue.take(Duration::ZERO));
    }
}
