//! Timestamps that never repeat and never go back, whatever the machine's clock does.
//!
//! An ETag is a Timestamp, so two versions of an entity must never get the same one: not when the clock stands
//! still, not when it is set back, not across a restart, even for an entity that was deleted in between, and not when
//! several servers write to one store. Within a process each timestamp is greater than the one before. Across restarts
//! a *ceiling* is kept in the store: no timestamp at or above it is handed out before a higher ceiling is durable, and a
//! new process starts from it. After a crash the first timestamps may therefore be some seconds ahead of the wall clock.
//! Where servers share a store, each has a *lane* of its own, with a ceiling of its own: see `lanes.rs`.

mod lanes;
mod moving;

use std::sync::Arc;

use tablerock_kv::{Bytes, Clock, Error, Result, Rng, Store, TICKS_PER_SECOND};
use tablerock_protocol::DateTime;

use crate::fields::decode_number;
use crate::keys;
use crate::sharing::Sharing;

use lanes::{Lane, Lanes};

pub(crate) use moving::{ceiling_of, raise_ceiling};

/// How far the ceiling is raised above the present.
const RESERVE_TICKS: u64 = 10 * TICKS_PER_SECOND;
/// How much must be left for a transaction to start. It bounds how long its retries may take.
const MARGIN_TICKS: u64 = 2 * TICKS_PER_SECOND;

/// The source of all Timestamps of a service.
#[derive(Debug)]
pub(crate) struct Timestamps {
    store: Store,
    clock: Arc<dyn Clock>,
    /// Where the ceiling is kept: each service has its own.
    key: &'static [u8],
    /// `None` if no other server writes to the store.
    lanes: Option<Lanes>,
    allocation: parking_lot::Mutex<Allocation>,
    raising: tokio::sync::Mutex<()>,
}

#[derive(Debug, Clone, Copy)]
struct Allocation {
    lane: Lane,
    last: u64,
    ceiling: u64,
    /// A version was to be replaced that is later than the ceiling allows; the next one has to be higher than this.
    wanted: u64,
}

impl Timestamps {
    /// Goes on where the last process stopped.
    pub(crate) async fn open(store: Store, clock: Arc<dyn Clock>, key: &'static [u8]) -> Result<Self> {
        let lanes = Sharing::of(&store).coordination(|| Lanes::new(store.clone(), key, Rng::from_os().number()));
        let stored = match lanes {
            None => store.get(&keys::system_partition(), key).await?,
            Some(_) => None,
        };
        let ceiling = stored.map_or(Ok(0), |bytes| decode(&bytes))?;
        // In lanes the first reservation finds one that is free.
        let allocation = Allocation { lane: Lane::ALL, last: ceiling, ceiling, wanted: 0 };
        Ok(Self {
            store,
            clock,
            key,
            lanes,
            allocation: parking_lot::Mutex::new(allocation),
            raising: tokio::sync::Mutex::new(()),
        })
    }

    /// Makes sure that [`next`](Self::next) can be called for a while.
    pub(crate) async fn reserve(&self) -> Result<()> {
        if self.has_room() {
            return Ok(());
        }
        let _raising = self.raising.lock().await;
        if self.has_room() {
            return Ok(());
        }
        let present = self.present();
        let Some(lanes) = &self.lanes else {
            let ceiling = present + RESERVE_TICKS;
            self.write_ceiling(ceiling).await?;
            self.allocation.lock().ceiling = ceiling;
            return Ok(());
        };
        let before = *self.allocation.lock();
        let reserved = lanes.reserve(before.lane, present, RESERVE_TICKS).await?;
        let mut allocation = self.allocation.lock();
        allocation.last = allocation.last.max(reserved.from);
        allocation.lane = reserved.lane;
        allocation.ceiling = reserved.ceiling;
        Ok(())
    }

    /// A timestamp greater than every one before it.
    pub(crate) fn next(&self) -> Result<DateTime> {
        self.next_after(None)
    }

    /// A timestamp greater than every one before it, and than that of the version which it replaces.
    ///
    /// A version of another server can be later than what has been reserved here. That fails, and a retry succeeds: the
    /// next reservation goes beyond it.
    pub(crate) fn next_after(&self, replaced: Option<DateTime>) -> Result<DateTime> {
        let wall = self.clock.ticks();
        let mut allocation = self.allocation.lock();
        let earliest = (allocation.last + 1).max(replaced.map_or(0, |replaced| replaced.ticks() + 1));
        let wanted = if wall < allocation.ceiling { wall.max(earliest) } else { earliest };
        let ticks = allocation.lane.at_or_after(wanted);
        if ticks >= allocation.ceiling {
            allocation.wanted = allocation.wanted.max(ticks);
            return Err(Error::unavailable("a version is later than the timestamps that are reserved; retry"));
        }
        allocation.last = ticks;
        Ok(DateTime::from_ticks(ticks))
    }

    /// Lowers the ceiling to what was really used, so that a restart after a clean stop is not ahead of time.
    pub(crate) async fn close(&self) -> Result<()> {
        let _raising = self.raising.lock().await;
        let before = {
            let mut allocation = self.allocation.lock();
            let before = *allocation;
            allocation.ceiling = 0;
            before
        };
        let used = before.last + 1;
        match &self.lanes {
            _ if before.ceiling <= used => Ok(()),
            Some(lanes) => lanes.lower(before.lane, used).await,
            None => self.write_ceiling(used).await,
        }
    }

    fn has_room(&self) -> bool {
        let present = self.present();
        present + MARGIN_TICKS <= self.allocation.lock().ceiling
    }

    fn present(&self) -> u64 {
        let allocation = *self.allocation.lock();
        self.clock.ticks().max(allocation.last).max(allocation.wanted)
    }

    async fn write_ceiling(&self, ceiling: u64) -> Result<()> {
        let key = Bytes::from_static(self.key);
        let value = ceiling.to_be_bytes().to_vec();
        self.store.write(&keys::system_partition(), |tx| tx.put(key.clone(), value.clone())).await
    }
}

fn decode(bytes: &[u8]) -> Result<u64> {
    let ticks = decode_number(bytes, "the timestamp ceiling")?;
    // After the last date that there is, all timestamps would be that date.
    let is_date = ticks <= DateTime::MAX.ticks();
    is_date.then_some(ticks).ok_or_else(|| Error::corrupt("the timestamp ceiling is after the last date"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tablerock_kv::ManualClock;

    use super::*;

    const NOON: u64 = 638_000_000_000_000_000;

    async fn open(store: &Store, clock: &Arc<ManualClock>) -> Timestamps {
        Timestamps::open(store.clone(), clock.clone(), crate::table::keys::TIMESTAMP_CEILING).await.unwrap()
    }

    async fn take(timestamps: &Timestamps) -> u64 {
        timestamps.reserve().await.unwrap();
        timestamps.next().unwrap().ticks()
    }

    #[tokio::test]
    async fn a_clock_that_stands_still_or_goes_back_gives_new_timestamps() {
        let (store, clock) = (Store::in_memory(), Arc::new(ManualClock::at(NOON)));
        let timestamps = open(&store, &clock).await;
        assert_eq!(take(&timestamps).await, NOON);
        assert_eq!(take(&timestamps).await, NOON + 1);
        clock.set(NOON - 3600 * TICKS_PER_SECOND);
        assert_eq!(take(&timestamps).await, NOON + 2);
        clock.set(NOON + 3600 * TICKS_PER_SECOND);
        assert_eq!(take(&timestamps).await, NOON + 3600 * TICKS_PER_SECOND);
    }

    #[tokio::test]
    async fn a_crash_and_a_clock_set_back_repeat_nothing() {
        let (store, clock) = (Store::in_memory(), Arc::new(ManualClock::at(NOON)));
        let before = open(&store, &clock).await;
        clock.advance(Duration::from_secs(3));
        let last = take(&before).await;
        drop(before);
        clock.set(NOON - 7200 * TICKS_PER_SECOND);
        assert!(take(&open(&store, &clock).await).await > last);
    }

    #[tokio::test]
    async fn a_clean_stop_leaves_no_lead_over_the_wall_clock() {
        let (store, clock) = (Store::in_memory(), Arc::new(ManualClock::at(NOON)));
        let before = open(&store, &clock).await;
        take(&before).await;
        before.close().await.unwrap();
        clock.advance(Duration::from_secs(1));
        assert_eq!(take(&open(&store, &clock).await).await, NOON + TICKS_PER_SECOND);
    }

    #[test]
    fn a_ceiling_after_the_last_date_is_corrupt() {
        for (ceiling, is_good) in [(DateTime::MAX.ticks(), true), (DateTime::MAX.ticks() + 1, false), (u64::MAX, false)]
        {
            assert_eq!(decode(&ceiling.to_be_bytes()).is_ok(), is_good, "{ceiling}");
        }
    }
    fn shared() -> Store {
        Store::new(Arc::new(tablerock_kv::MemoryEngine::shared()))
    }

    #[tokio::test]
    async fn servers_with_clocks_far_apart_never_give_the_same_timestamp() {
        let store = shared();
        let clocks = [0, 300, 300, 7_200].map(|ahead| Arc::new(ManualClock::at(NOON + ahead * TICKS_PER_SECOND)));
        let mut given = std::collections::HashSet::new();
        let mut servers = vec![];
        for clock in &clocks {
            servers.push(open(&store, clock).await);
        }
        for round in 0..2_000 {
            let at = round % servers.len();
            assert!(given.insert(take(&servers[at]).await), "round {round}");
            clocks[at].advance(Duration::from_millis(40));
            // Now and then one of them dies, and its successor has a clock that was set back.
            if round % 97 == 0 {
                clocks[at].set(NOON);
                servers[at] = open(&store, &clocks[at]).await;
            }
        }
    }

    #[tokio::test]
    async fn a_version_of_a_server_whose_clock_is_ahead_is_replaced_by_a_later_one() {
        let store = shared();
        let (ahead, behind) = (Arc::new(ManualClock::at(2 * NOON)), Arc::new(ManualClock::at(NOON)));
        let replaced = DateTime::from_ticks(take(&open(&store, &ahead).await).await);
        let timestamps = open(&store, &behind).await;
        timestamps.reserve().await.unwrap();
        assert!(timestamps.next_after(Some(replaced)).is_err(), "it is far later than what was reserved");
        timestamps.reserve().await.unwrap();
        assert!(timestamps.next_after(Some(replaced)).unwrap() > replaced);
    }

    #[tokio::test]
    async fn a_server_that_keeps_its_lane_keeps_to_its_clock() {
        let (store, clock) = (shared(), Arc::new(ManualClock::at(NOON)));
        let timestamps = open(&store, &clock).await;
        for _ in 0..100 {
            clock.advance(Duration::from_millis(700));
            assert!(take(&timestamps).await - clock.ticks() < 64, "ahead of the clock by no more than its lane");
        }
    }

    #[tokio::test]
    async fn a_server_that_is_alone_on_a_shared_store_stays_close_to_its_clock() {
        let (store, clock) = (shared(), Arc::new(ManualClock::at(NOON)));
        for _ in 0..10 {
            // Each of them dies without a word.
            let timestamps = open(&store, &clock).await;
            assert!(take(&timestamps).await < NOON + 11 * TICKS_PER_SECOND);
        }
    }
}
