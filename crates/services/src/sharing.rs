//! Everything that depends on whether other servers write to the same store.
//!
//! An [exclusive](Store::is_exclusive) engine sees every write, so a service may cache what it has read. On a store
//! that servers share, a cache can be stale at any time, and background work needs a leader. Services ask this policy
//! for the thing they need; none of them branches on the engine itself.

use std::time::Duration;

use tablerock_kv::{Bytes, Position, Range, Result, ScanLimits, Store, TICKS_PER_SECOND};

use crate::blob;

/// How long a write of unknown outcome may take to reach a shared store before it is fenced off. Nearly all writes are
/// committed or lost by then, and so are chunks of content, which no fence stops.
const ARRIVAL_TIME: Duration = Duration::from_secs(120);

/// The age at which the request behind an intent on a shared store must have ended.
const INTENT_TICKS_MAX: u64 = 7 * 24 * 3600 * TICKS_PER_SECOND;

/// The sharing policy of one store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Every write to the store passes through this process.
    Exclusive,
    /// Other servers write to the store as well.
    Shared,
}

impl Sharing {
    pub(crate) fn of(store: &Store) -> Self {
        if store.is_exclusive() { Self::Exclusive } else { Self::Shared }
    }

    /// Returns a cache of stored data: only an exclusive store allows one.
    pub(crate) fn cache<T>(self, cache: impl FnOnce() -> T) -> Option<T> {
        (self == Self::Exclusive).then(cache)
    }

    /// Returns state that coordinates servers with each other: only a shared store needs it.
    pub(crate) fn coordination<T>(self, state: impl FnOnce() -> T) -> Option<T> {
        (self == Self::Shared).then(state)
    }

    /// The key of a new reclaim intent. On a shared store it has the time, so that other servers can tell when the
    /// server that wrote it must have died.
    pub(crate) fn reclaim_intent_key(self, now: u64, id: u64) -> Bytes {
        match self {
            Self::Exclusive => blob::keys::reclaim_intent_key(id),
            Self::Shared => blob::keys::dated_reclaim_intent_key(now, id),
        }
    }

    /// The reclaim intents that a start resolves: all of them, unless other servers are at work.
    pub(crate) fn intents_at_start(self) -> Option<Range> {
        self.cache(blob::keys::reclaim_intents)
    }

    /// The reclaim intents that a sweep resolves: those of servers that must have died.
    pub(crate) fn intents_abandoned(self, now: u64) -> Option<Range> {
        self.coordination(|| blob::keys::dated_reclaim_intents(now.saturating_sub(INTENT_TICKS_MAX)))
    }

    /// The delay before a write of unknown outcome is resolved, and then fenced off. An exclusive engine needs none: a
    /// commit whose future is dropped has been accepted by then or never happens.
    pub(crate) fn reclaim_delay(self) -> Option<Duration> {
        self.coordination(|| ARRIVAL_TIME)
    }

    /// The keys that an append must read so that a [fence](blob::keys::BLOCKS_KEY) rejects it if it arrives too late
    /// for its content.
    pub(crate) fn append_fence(self) -> Option<Bytes> {
        self.coordination(|| Bytes::from_static(blob::keys::BLOCKS_KEY))
    }

    /// Whether the stored queue time changes only when queues are used. Servers that share a store save it while idle.
    pub(crate) fn queue_time_marks_use(self) -> bool {
        self == Self::Exclusive
    }

    /// The records and bytes that one scan of a query reads at most. A scan of a shared store is a round trip, and on some
    /// one to every shard, so a query that returns all it reads gets its page with one.
    pub(crate) fn chunk_limits(self, chunk: (usize, usize), is_filtered: bool) -> (usize, usize) {
        match self {
            Self::Shared if !is_filtered => (ScanLimits::PAGE.records_max + 1, ScanLimits::PAGE.bytes_max),
            Self::Exclusive | Self::Shared => chunk,
        }
    }

    /// Reads one record of up to `bytes_max` bytes. A shared engine queues point reads behind each other, so a large
    /// record is read as a page of one instead.
    pub(crate) async fn read_large(
        self,
        store: &Store,
        partition: Bytes,
        key: Bytes,
        bytes_max: usize,
    ) -> Result<Option<Bytes>> {
        if self == Self::Exclusive {
            return store.get(&partition, &key).await;
        }
        let start = Position::new(partition, key);
        let limits = ScanLimits { records_max: 1, bytes_max, deadline: None };
        let page = store.scan(&Range::between(start.clone(), start.successor()), limits).await?;
        Ok(page.records.into_iter().next().map(|record| record.value))
    }
}
