//! Where commits wait for the disk: bounded, in order, and taken all at once when one of them calls.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tablerock_kv::{Error, Health, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::overlay::Write;

/// Room is given out in units of this many bytes, at least one a commit, which bounds their number as well.
const UNIT_BYTES: usize = 1024;

/// Whoever begins a group calls the committer as soon as its thread has nothing else to do. If that thread is held up,
/// the next to come after this time calls instead.
const GATHERING_MAX: Duration = Duration::from_millis(1);

/// A part of the queue's room, given back when dropped.
pub(crate) type Room = OwnedSemaphorePermit;

/// A commit on its way.
pub(crate) struct Waiting {
    pub(crate) sequence: u64,
    pub(crate) writes: Writes,
    pub(crate) answer: oneshot::Sender<Result<()>>,
    pub(crate) room: Room,
}

/// What a commit changes.
pub(crate) enum Writes {
    /// Records of a partition, which are in this stripe of the overlay. May be none: then the commit waits only
    /// for those before it.
    Partition { stripe: usize, writes: Vec<Write> },
    /// Records that nobody reads any more, and the engine's own notes.
    Background { records: Vec<Write>, own: Vec<Write> },
}

/// Why nothing is accepted any more.
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

/// The thread that writes never goes without a reason; if it does, this is it.
pub(crate) fn died() -> Error {
    Error::internal("the thread that writes has died; writes are refused until Tablerock is restarted")
}

pub(crate) struct Queue {
    state: Mutex<State>,
    arrived: Condvar,
    room: Arc<Semaphore>,
    room_units: usize,
}

#[derive(Default)]
struct State {
    waiting: Vec<Waiting>,
    /// When the first of those that wait came.
    begun: Option<Instant>,
    /// Whether the committer may take them.
    called: bool,
    sequence: u64,
    shut: Option<Shut>,
}

/// The place of a commit in the queue.
pub(crate) struct Place {
    pub(crate) sequence: u64,
    /// Whether it begins a group, and so has to [`call`](Queue::call) the committer.
    pub(crate) begins_group: bool,
    /// Where the answer will come.
    pub(crate) answer: oneshot::Receiver<Result<()>>,
}

/// What the committer finds.
pub(crate) enum Taken {
    Group(Vec<Waiting>),
    /// Nothing came for a while.
    Idle,
    /// Nothing is left and nothing will come.
    Over,
}

impl Queue {
    pub(crate) fn new(bytes_max: usize) -> Self {
        let room_units = (bytes_max / UNIT_BYTES).clamp(1, Semaphore::MAX_PERMITS);
        let room = Arc::new(Semaphore::new(room_units));
        Self { state: Mutex::default(), arrived: Condvar::new(), room, room_units }
    }

    /// Waits for room. A commit greater than the whole queue gets all of it.
    pub(crate) async fn reserve(&self, bytes: usize) -> Result<Room> {
        match Arc::clone(&self.room).acquire_many_owned(self.units(bytes)).await {
            Ok(room) => Ok(room),
            Err(_) => Err(self.shut_error()),
        }
    }

    /// Room, if nobody has to wait for it.
    pub(crate) fn try_reserve(&self, bytes: usize) -> Option<Room> {
        Arc::clone(&self.room).try_acquire_many_owned(self.units(bytes)).ok()
    }

    fn units(&self, bytes: usize) -> u32 {
        u32::try_from(bytes.div_ceil(UNIT_BYTES).clamp(1, self.room_units)).unwrap_or(u32::MAX)
    }

    /// Appends a commit. The committer comes when it is called.
    pub(crate) fn push(&self, writes: Writes, room: Room) -> Result<Place> {
        let (answer, answered) = oneshot::channel();
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
        state.waiting.push(Waiting { sequence, writes, answer, room });
        drop(state);
        if is_late {
            self.call();
        }
        Ok(Place { sequence, begins_group, answer: answered })
    }

    /// Lets the committer take what waits.
    pub(crate) fn call(&self) {
        self.state.lock().called = true;
        self.arrived.notify_one();
    }

    /// Everything that waits, once called; if nothing does, waits for it, up to `patience`.
    pub(crate) fn take(&self, patience: Duration) -> Taken {
        let mut state = self.state.lock();
        if (state.waiting.is_empty() || !state.called) && state.shut.is_none() {
            self.arrived.wait_for(&mut state, patience);
        }
        state.called = false;
        match (state.waiting.is_empty(), &state.shut) {
            (false, _) => Taken::Group(std::mem::take(&mut state.waiting)),
            (true, Some(_)) => Taken::Over,
            (true, None) => Taken::Idle,
        }
    }

    /// Accepts nothing more. The first failure stays the reason, also when the engine is closed before or after it.
    pub(crate) fn shut(&self, reason: Shut) {
        let mut state = self.state.lock();
        if !matches!(state.shut, Some(Shut::Failed(_))) {
            state.shut = Some(reason);
        }
        drop(state);
        self.room.close();
        self.arrived.notify_one();
    }

    pub(crate) fn shut_reason(&self) -> Option<Shut> {
        self.state.lock().shut.clone()
    }

    /// What those hear who waited for an answer that will not come.
    pub(crate) fn shut_error(&self) -> Error {
        self.shut_reason().map_or_else(died, |reason| reason.error())
    }

    pub(crate) fn pending_bytes(&self) -> u64 {
        ((self.room_units - self.room.available_permits()) * UNIT_BYTES) as u64
    }
}
