//! The time by which messages become visible and expire. It never goes back.
//!
//! Every decision about a message compares a stored time with this one, so if it went back, messages that are there
//! would become invisible again and expired ones would return. When the machine's clock is set back, this time goes on
//! from where it was, a little slower than real time until the clock has caught up; when the clock is set forward, it
//! follows. It is saved every few seconds, and a new process does not begin before what was saved: so only a clock that
//! is set back while the server is down after a crash can take back as much as had not been saved.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use tablerock_kv::{Bytes, Clock, Error, Result, Store, TICKS_PER_SECOND};
use tablerock_protocol::DateTime;

use super::keys;
use super::messages::later;
use crate::fields::decode_number;
use crate::keys::system_partition;

/// How much time may pass before it is saved again.
const SAVE_TICKS: u64 = 5 * TICKS_PER_SECOND;

/// While this time is ahead of the clock, it loses one part in so many.
const SLOWING_PARTS: u64 = 16;

#[derive(Debug)]
pub(super) struct QueueTime {
    store: Store,
    clock: Arc<dyn Clock>,
    last: Mutex<Moment>,
    saved: AtomicU64,
    saving: tokio::sync::Mutex<()>,
}

#[derive(Debug, Clone, Copy)]
struct Moment {
    ticks: u64,
    at: Instant,
}

impl QueueTime {
    /// Goes on where the last process stopped.
    pub(super) async fn open(store: Store, clock: Arc<dyn Clock>) -> Result<Self> {
        let stored = store.get(&system_partition(), keys::QUEUE_TIME).await?;
        let saved = stored.map_or(Ok(0), |bytes| decode(&bytes))?;
        let last = Mutex::new(Moment { ticks: saved, at: clock.instant() });
        Ok(Self { store, clock, last, saved: AtomicU64::new(saved), saving: tokio::sync::Mutex::new(()) })
    }

    /// The present, in ticks.
    pub(super) async fn now(&self) -> u64 {
        let now = self.read();
        if now >= self.saved.load(Ordering::Acquire) + SAVE_TICKS
            && let Ok(_saving) = self.saving.try_lock()
            && let Err(error) = self.save(now).await
        {
            tracing::warn!(%error, "saving the queue time failed, will retry");
        }
        now
    }

    /// Saves the very last moment, so that nothing is taken back after a clean stop.
    pub(super) async fn close(&self) -> Result<()> {
        let _saving = self.saving.lock().await;
        self.save(self.read()).await
    }

    /// When a message becomes visible that is to do so after this many seconds. What is to be visible at once shall be
    /// so for every server on the store, so it is as early as the clock may be ahead.
    pub(super) fn visible_after(&self, now: u64, seconds: u32) -> u64 {
        if seconds == 0 { now.saturating_sub(self.clock.error_ticks()) } else { later(now, seconds.into()) }
    }

    /// The last time at which what is visible then is so now: as late as the clock may be behind. With what
    /// [`visible_after`](Self::visible_after) does, a request that follows a put finds the message, at any server.
    pub(super) fn visible_until(&self, now: u64) -> u64 {
        now.saturating_add(self.clock.error_ticks())
    }

    fn read(&self) -> u64 {
        let mut last = self.last.lock();
        let (wall, at) = (self.clock.ticks(), self.clock.instant());
        let passed = ticks_between(last.at, at);
        let going_on = last.ticks.saturating_add(passed - passed / SLOWING_PARTS);
        // A clock beyond the last date there is would let everything expire at once.
        let ticks = wall.max(going_on).min(DateTime::MAX.ticks() - 1);
        *last = Moment { ticks, at };
        ticks
    }

    /// Other servers on the same store save theirs in the same place; the latest stays.
    async fn save(&self, now: u64) -> Result<()> {
        let key = Bytes::from_static(keys::QUEUE_TIME);
        let put = |tx: &mut tablerock_kv::Transaction| {
            let saved = tx.get(&key).map_or(Ok(0), |bytes| decode(bytes))?;
            if now > saved {
                tx.put(key.clone(), now.to_be_bytes().to_vec());
            }
            Ok::<_, Error>(())
        };
        self.store.transact(&system_partition(), vec![key.clone()], put).await?;
        self.saved.fetch_max(now, Ordering::AcqRel);
        Ok(())
    }
}

fn ticks_between(earlier: Instant, later: Instant) -> u64 {
    let passed = later.saturating_duration_since(earlier);
    passed.as_secs() * TICKS_PER_SECOND + u64::from(passed.subsec_nanos()) / 100
}

fn decode(bytes: &[u8]) -> Result<u64> {
    let ticks = decode_number(bytes, "the queue time")?;
    let is_date = ticks < DateTime::MAX.ticks();
    is_date.then_some(ticks).ok_or_else(|| Error::corrupt("the queue time is after the last date"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tablerock_kv::ManualClock;

    use super::*;

    const NOON: u64 = 638_000_000_000_000_000;
    const HOUR: u64 = 3600 * TICKS_PER_SECOND;

    async fn open(store: &Store, clock: &Arc<ManualClock>) -> QueueTime {
        QueueTime::open(store.clone(), clock.clone()).await.unwrap()
    }

    #[tokio::test]
    async fn time_follows_the_clock_forward_and_goes_on_when_it_is_set_back() {
        let (store, clock) = (Store::in_memory(), Arc::new(ManualClock::at(NOON)));
        let time = open(&store, &clock).await;
        assert_eq!(time.now().await, NOON);
        clock.set(NOON + HOUR);
        assert_eq!(time.now().await, NOON + HOUR);
        clock.set(NOON);
        assert_eq!(time.now().await, NOON + HOUR);
        clock.advance(Duration::from_secs(16));
        assert_eq!(time.now().await, NOON + HOUR + 15 * TICKS_PER_SECOND, "it waits for the clock, without stopping");
    }

    #[tokio::test]
    async fn a_crash_and_a_clock_set_back_take_back_no_more_than_was_not_saved() {
        let (store, clock) = (Store::in_memory(), Arc::new(ManualClock::at(NOON)));
        let before = open(&store, &clock).await;
        for _ in 0..100 {
            clock.advance(Duration::from_secs(1));
            before.now().await;
        }
        let last = before.now().await;
        drop(before);
        clock.set(NOON - HOUR);
        let after = open(&store, &clock).await;
        assert!(after.now().await >= last - SAVE_TICKS);
        after.close().await.unwrap();
    }

    #[tokio::test]
    async fn a_clean_stop_saves_the_last_moment() {
        let (store, clock) = (Store::in_memory(), Arc::new(ManualClock::at(NOON)));
        let before = open(&store, &clock).await;
        before.now().await;
        clock.advance(Duration::from_secs(1));
        before.close().await.unwrap();
        clock.set(0);
        assert_eq!(open(&store, &clock).await.now().await, NOON + TICKS_PER_SECOND);
    }

    #[test]
    fn a_stored_time_after_the_last_date_is_corrupt() {
        assert!(decode(&(DateTime::MAX.ticks() - 1).to_be_bytes()).is_ok());
        assert!(decode(&DateTime::MAX.ticks().to_be_bytes()).is_err());
        assert!(decode(b"short").is_err());
    }
}
