//! The state that the engine's calls and its threads share.

use std::time::Instant;

use parking_lot::Mutex;

use crate::commit_queue::CommitQueue;
use crate::garbage::Deleted;
use crate::overlay::Overlay;
use crate::statistics::Counters;
use crate::view::Published;

pub(crate) struct Shared {
    pub(crate) published: Published,
    pub(crate) overlay: Overlay,
    pub(crate) queue: CommitQueue,
    pub(crate) counters: Counters,
    pub(crate) deleted: Deleted,
    /// The time at which the committer began to write the current group.
    pub(crate) writing_since: Mutex<Option<Instant>>,
}
