//! The one thread that writes: takes all commits that wait, writes them as one batch, syncs once, publishes, and
//! answers all of them. While it syncs, the next group gathers, whose first commit calls it when the time has come.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fjall::{Keyspace, PersistMode};
use parking_lot::Mutex;
use tablerock_kv::Result;

use crate::database::Handles;
use crate::failure::{translate, translate_io};
use crate::garbage::Deleted;
use crate::overlay::{Overlay, Write};
use crate::queue::{self, Queue, Shut, Taken, Waiting, Writes};
use crate::statistics::Counters;
use crate::view::{Published, View};

/// How long nothing has to come before the committer looks after fjall's own threads.
const PATIENCE: Duration = Duration::from_secs(5);

/// Called right before a group goes to disk; an error stands for one of the disk. Tests hold groups back with it
/// and let them fail.
pub(crate) type Seam = Box<dyn Fn() -> io::Result<()> + Send + Sync>;

/// What the engine's calls and its threads share.
pub(crate) struct Shared {
    pub(crate) published: Published,
    pub(crate) overlay: Overlay,
    pub(crate) queue: Queue,
    pub(crate) counters: Counters,
    pub(crate) deleted: Deleted,
    /// Since when the disk has been at work on a group.
    pub(crate) writing_since: Mutex<Option<Instant>>,
}

pub(crate) struct Committer {
    pub(crate) handles: Handles,
    pub(crate) shared: Arc<Shared>,
    pub(crate) seam: Seam,
}

impl Committer {
    /// Works until the queue is shut and empty.
    pub(crate) fn run(self) {
        // If this thread ever panics, those who wait, and all who come later, hear of it.
        let _guard = ShutWhenGone(Arc::clone(&self.shared));
        loop {
            match self.shared.queue.take(PATIENCE) {
                Taken::Group(group) => self.commit(group),
                Taken::Idle => self.look_after(),
                Taken::Over => return,
            }
        }
    }

    fn commit(&self, group: Vec<Waiting>) {
        let outcome = match self.shared.queue.shut_reason() {
            // A group before this one failed: nothing may be written behind it.
            Some(Shut::Failed(error)) => Err(error),
            _ => self.write(&group),
        };
        if let Err(error) = &outcome {
            self.shared.queue.shut(Shut::Failed(error.clone()));
        } else {
            self.shared.counters.committed(group.len());
        }
        for Waiting { sequence, writes, answer, room } in group {
            if let Writes::Partition { stripe, writes } = writes {
                self.shared.overlay.lock(stripe).remove(sequence, &writes);
            }
            drop(room);
            // Whoever does not wait any more has no use for the answer.
            let _ = answer.send(outcome.clone());
        }
    }

    fn write(&self, group: &[Waiting]) -> Result<()> {
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
                    self.shared.deleted.note(keyspace, &write.key);
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
        let refused = "a write to disk failed; writes are refused until Tablerock is restarted";
        (self.seam)().map_err(|error| translate_io(refused, error))?;
        batch.commit().map_err(|error| translate(refused, error))
    }

    /// Finds out whether one of fjall's threads has failed, and lets go of files that only the view still holds.
    fn look_after(&self) {
        match self.handles.database.persist(PersistMode::Buffer) {
            Ok(()) => self.shared.published.replace(View::open(&self.handles)),
            Err(error) => {
                let attempt = "work in the background failed; writes are refused until Tablerock is restarted";
                self.shared.queue.shut(Shut::Failed(translate(attempt, error)));
            }
        }
    }
}

/// The writes of a group, and of several to one record only the last: in one batch, fjall could not tell them apart.
fn newest_writes<'a>(handles: &'a Handles, group: &'a [Waiting]) -> Vec<(&'a Keyspace, &'a Write)> {
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
            self.0.queue.shut(Shut::Failed(queue::died()));
        }
        // Their answers' senders go with them, which tells those who wait.
        drop(self.0.queue.take(Duration::ZERO));
    }
}
