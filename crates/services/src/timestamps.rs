//! Timestamps that never repeat and never go back, whatever the machine's clock does.
//!
//! An ETag is a Timestamp, so two versions of an entity must never get the same one: not when the clock stands
//! still, not when it is set back, and not across a restart, even for an entity that was deleted in between.
//! Within a process each timestamp is greater than the one before. Across restarts a *ceiling* is kept in the
//! store: no timestamp at or above it is handed out before a higher ceiling is durable, and a new process
//! starts from it. After a crash the first timestamps may therefore be some seconds ahead of the wall clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tablerock_kv::{Bytes, Clock, Error, Result, Store, TICKS_PER_SECOND};
use tablerock_protocol::DateTime;
use tokio::sync::Mutex;

use crate::keys;

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
    last: AtomicU64,
    ceiling: AtomicU64,
    raising: Mutex<()>,
}

impl Timestamps {
    /// Goes on where the last process stopped.
    pub(crate) async fn open(store: Store, clock: Arc<dyn Clock>, key: &'static [u8]) -> Result<Self> {
        let stored = store.get(&keys::system_partition(), key).await?;
        let ceiling = stored.map_or(Ok(0), |bytes| decode(&bytes))?;
        Ok(Self {
            store,
            clock,
            key,
            last: AtomicU64::new(ceiling),
            ceiling: AtomicU64::new(ceiling),
            raising: Mutex::new(()),
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
        let ceiling = self.present() + RESERVE_TICKS;
        self.write_ceiling(ceiling).await?;
        self.ceiling.store(ceiling, Ordering::Release);
        Ok(())
    }

    /// A timestamp greater than every one before it.
    pub(crate) fn next(&self) -> DateTime {
        let ceiling = self.ceiling.load(Ordering::Acquire);
        let wall = self.clock.ticks();
        let advance = |last: u64| Some(if wall < ceiling { wall.max(last + 1) } else { last + 1 });
        let last = self.last.fetch_update(Ordering::AcqRel, Ordering::Acquire, advance);
        let last = last.expect("the closure always gives a value");
        DateTime::from_ticks(advance(last).expect("the closure always gives a value"))
    }

    /// Lowers the ceiling to what was really used, so that a restart after a clean stop is not ahead of time.
    pub(crate) async fn close(&self) -> Result<()> {
        let _raising = self.raising.lock().await;
        let used = self.last.load(Ordering::Acquire) + 1;
        if self.ceiling.swap(0, Ordering::AcqRel) > used { self.write_ceiling(used).await } else { Ok(()) }
    }

    fn has_room(&self) -> bool {
        self.present() + MARGIN_TICKS <= self.ceiling.load(Ordering::Acquire)
    }

    fn present(&self) -> u64 {
        self.clock.ticks().max(self.last.load(Ordering::Acquire))
    }

    async fn write_ceiling(&self, ceiling: u64) -> Result<()> {
        let key = Bytes::from_static(self.key);
        self.store
            .transact(&keys::system_partition(), vec![], |tx| {
                tx.put(key.clone(), ceiling.to_be_bytes().to_vec());
                Ok(())
            })
            .await
    }
}

fn decode(bytes: &[u8]) -> Result<u64> {
    let ticks = bytes.try_into().map_err(|_| Error::corrupt("the timestamp ceiling is not eight bytes"))?;
    let ticks = u64::from_be_bytes(ticks);
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
        Timestamps::open(store.clone(), clock.clone(), keys::TIMESTAMP_CEILING).await.unwrap()
    }

    async fn take(timestamps: &Timestamps) -> u64 {
        timestamps.reserve().await.unwrap();
        timestamps.next().ticks()
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
}
