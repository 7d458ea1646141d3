//! The commits that wait for the disk: bounded, in order, and taken all at once when one of them wakes the committer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tablerock_kv::{Error, Health, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::overlay::Write;

/// A permit covers a multiple of this many bytes, at least one unit per commit, which also bounds the number of commits.
const UNIT_BYTES: usize = 1024;

/// The commit that begins a group wakes the committer as soon as its thread is idle. If that thread is held up, the first
/// commit after this time wakes the committer instead.
const GATHERING_MAX: Duration = Duration::from_millis(1);

/// A share of the queue's bytes, returned when dropped.
pub(crate) type QueuePermit = OwnedSemaphorePermit;

/// A commit that waits for the disk.
pub(crate) struct WaitingCommit {
    pub(crate) sequence: u64,
    pub(crate) writes: Writes,
    pub(crate) result: oneshot::Sender<Result<()>>,
    pub(crate) permit: QueuePermit,
}

/// The writes of a commit.
pub(crate) enum Writes {
    /// Records of a partition, which are in this stripe of the overlay. Without writes, the commit waits only for
    /// those before it.
    Partition { stripe: usize, writes: Vec<Write> },
    /// Records that are no longer readable, and the engine's own notes.
    Background { records: Vec<Write>, own: Vec<Write> },
}

/// The reason why the queue rejects commits.
#[derive(Debug, Clone)]
pub(crate) enum Shut {
    Closed,
    Failed(Error),
}

impl Shut {
    pub(crate) fn error(&self) -> Error {
        match self {
            Shut::Closed => Error::unavailable("the engine is closed"),
            Shut::Failed(error) => error.clone(),
        }
    }

    pub(crate) fn health(&self) -> Health {
        match self {
            Shut::Closed => Health::Down(self.error().message().to_owned()),
            Shut::Failed(error) => Health::ReadOnly(error.message().to_owned()),
        }
    }
}

/// The error after a panic of the committer.
pub(crate) fn died() -> Error {
    Error::internal("the commit thread has died; writes are rejected until Tablerock is restarted")
}

pub(crate) struct CommitQueue {
    state: Mutex<QueueState>,
    arrived: Condvar,
    permits: Arc<Semaphore>,
    units: usize,
}

#[derive(Default)]
struct QueueState {
    waiting: Vec<WaitingCommit>,
    /// The arrival of the first commit in `waiting`.
    begun: Option<Instant>,
    /// Whether the committer may take the commits.
    is_woken: bool,
    sequence: u64,
    shut: Option<Shut>,
}

/// A commit in the queue, as its caller sees it.
pub(crate) struct QueuedCommit {
    pub(crate) sequence: u64,
    /// Whether it begins a group, and so has to [`wake`](CommitQueue::wake) the committer.
    pub(crate) begins_group: bool,
    pub(crate) result: oneshot::Receiver<Result<()>>,
}

/// The outcome of [`CommitQueue::take`].
pub(crate) enum Taken {
    Group(Vec<WaitingCommit>),
    /// No commit arrived in time.
    Idle,
    /// The queue is shut and empty.
    Over,
}

impl CommitQueue {
    pub(crate) fn new(bytes_max: usize) -> Self {
        let units = (bytes_max / UNIT_BYTES).clamp(1, Semaphore::MAX_PERMITS);
        let permits = Arc::new(Semaphore::new(units));
        Self { state: Mutex::default(), arrived: Condvar::new(), permits, units }
    }

    /// Waits for a permit. A commit larger than the whole queue gets all of it.
    pub(crate) async fn reserve(&self, bytes: usize) -> Result<QueuePermit> {
        match Arc::clone(&self.permits).acquire_many_owned(self.units(bytes)).await {
            Ok(permit) => Ok(permit),
            Err(_) => Err(self.shut_error()),
        }
    }

    /// Returns a permit if one is available without waiting.
    pub(crate) fn try_reserve(&self, bytes: usize) -> Option<QueuePermit> {
        Arc::clone(&self.permits).try_acquire_many_owned(self.units(bytes)).ok()
    }

    fn units(&self, bytes: usize) -> u32 {
        u32::try_from(bytes.div_ceil(UNIT_BYTES).clamp(1, self.units)).unwrap_or(u32::MAX)
    }

    /// Appends a commit. The committer takes it when woken.
    pub(crate) fn push(&self, writes: Writes, permit: QueuePermit) -> Result<QueuedCommit> {
        let (sender, result) = oneshot::channel();
        let mut state = self.state.lock();
        if let Some(shut) = &state.shut {
            return Err(shut.error());
        }
        state.sequence += 1;
        let sequence = state.sequence;
        let now = Instant::now();
        let begins_group = state.waiting.is_empty();
        if begins_group {
            state.begun = Some(now);
        }
        let is_late = state.begun.is_some_and(|begun| now - begun > GATHERING_MAX);
        state.waiting.push(WaitingCommit { sequence, writes, result: sender, permit });
        drop(state);
        if is_late {
            self.wake();
        }
        Ok(QueuedCommit { sequence, begins_group, result })
    }

    /// Lets the committer take the commits.
    pub(crate) fn wake(&self) {
        self.state.lock().is_woken = true;
        self.arrived.notify_one();
    }

    /// Takes all commits once woken; waits up to `patience` for that.
    pub(crate) fn take(&self, patience: Duration) -> Taken {
        let mut state = self.state.lock();
        if (state.waiting.is_empty() || !state.is_woken) && state.shut.is_none() {
            self.arrived.wait_for(&mut state, patience);
        }
        state.is_woken = false;
        match (state.waiting.is_empty(), &state.shut) {
            (false, _) => Taken::Group(std::mem::take(&mut state.waiting)),
            (true, Some(_)) => Taken::Over,
            (true, None) => Taken::Idle,
        }
    }

    /// Rejects all further commits. The first failure stays the reason, also when the engine is closed before or after it.
    pub(crate) fn shut(&self, reason: Shut) {
        let mut state = self.state.lock();
        if !matches!(state.shut, Some(Shut::Failed(_))) {
            state.shut = Some(reason);
        }
        drop(state);
        self.permits.close();
        self.arrived.notify_one();
    }

    pub(crate) fn shut_reason(&self) -> Option<Shut> {
        self.state.lock().shut.clone()
    }

    /// The error of a commit whose result was never sent.
    pub(crate) fn shut_error(&self) -> Error {
        self.shut_reason().map_or_else(died, |reason| reason.error())
    }

    pub(crate) fn pending_bytes(&self) -> u64 {
        ((self.units - self.permits.available_permits()) * UNIT_BYTES) as u64
    }
}
