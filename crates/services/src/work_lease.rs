//! Work in the background that one server does for all that share a store.
//!
//! Whoever does it holds a record in the store that names the server and a time. It renews the record with each round, and
//! within one that takes long; when it has died, the time passes and the next server that asks takes over. The work itself
//! does no harm if two servers do it at once, which they may for a moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tablerock_kv::{Bytes, Clock, Error, Result, Rng, Store, TICKS_PER_SECOND, Transaction};

use crate::keys;

/// How many rounds a server has to miss before it counts as dead.
const ROUNDS_MISSED_MAX: u64 = 3;

/// One kind of work, as one server sees it.
#[derive(Debug)]
pub(crate) struct Duty {
    store: Store,
    clock: Arc<dyn Clock>,
    key: Bytes,
    server: u64,
    lease_ticks: u64,
    /// When the record was last renewed.
    renewed: AtomicU64,
}

impl Duty {
    /// `period` is the time between two rounds.
    pub(crate) fn new(store: Store, clock: Arc<dyn Clock>, key: impl Into<Bytes>, period: Duration) -> Self {
        let lease_ticks = ROUNDS_MISSED_MAX * period.as_secs().max(1) * TICKS_PER_SECOND;
        Self { store, clock, key: key.into(), server: Rng::from_os().number(), lease_ticks, renewed: AtomicU64::new(0) }
    }

    /// Whether this server is to go on with a round, for whoever is in the middle of one.
    pub(crate) async fn is_still_ours(&self) -> Result<bool> {
        let is_fresh = self.clock.ticks() < self.renewed.load(Ordering::Relaxed) + self.lease_ticks / ROUNDS_MISSED_MAX;
        if is_fresh || self.store.is_exclusive() { Ok(true) } else { self.is_ours().await }
    }

    /// Lets others have it, for work that is done.
    pub(crate) async fn release(&self) -> Result<()> {
        if self.store.is_exclusive() {
            return Ok(());
        }
        let key = self.key.clone();
        let decide = |tx: &mut Transaction| {
            let (_, server) = tx.get(&key).map_or(Ok((0, 0)), |record| decode(record))?;
            if server == self.server {
                tx.delete(key.clone());
            }
            Ok(())
        };
        self.renewed.store(0, Ordering::Relaxed);
        self.store.transact(&keys::system_partition(), vec![key.clone()], decide).await
    }

    /// Whether this server is to do the next round. Without others on the store, it always is.
    pub(crate) async fn is_ours(&self) -> Result<bool> {
        if self.store.is_exclusive() {
            return Ok(true);
        }
        let key = self.key.clone();
        let now = self.clock.ticks();
        let decide = |tx: &mut Transaction| {
            let (until, server) = tx.get(&key).map_or(Ok((0, 0)), |record| decode(record))?;
            if until > now && server != self.server {
                return Ok(false);
            }
            tx.put(key.clone(), [(now + self.lease_ticks).to_be_bytes(), self.server.to_be_bytes()].concat());
            Ok(true)
        };
        let is_ours = self.store.transact(&keys::system_partition(), vec![key.clone()], decide).await?;
        self.renewed.store(if is_ours { now } else { 0 }, Ordering::Relaxed);
        Ok(is_ours)
    }
}

fn decode(record: &[u8]) -> Result<(u64, u64)> {
    let corrupt = || Error::corrupt("the record of a duty is not sixteen bytes");
    let (until, server) = record.split_first_chunk().ok_or_else(corrupt)?;
    let server = server.try_into().map_err(|_| corrupt())?;
    Ok((u64::from_be_bytes(*until), u64::from_be_bytes(server)))
}

#[cfg(test)]
mod tests {
    use tablerock_kv::{ManualClock, MemoryEngine};

    use super::*;

    /// The pauses of queues, of blobs and of retention.
    #[tokio::test]
    async fn one_server_has_a_duty_until_it_dies() {
        for pause in [30, 600, 3600] {
            let store = Store::new(Arc::new(MemoryEngine::shared()));
            let clock = Arc::new(ManualClock::at(638_000_000_000_000_000));
            let pause = Duration::from_secs(pause);
            let [one, other] = [0, 1].map(|_| Duty::new(store.clone(), clock.clone(), keys::QUEUE_SWEEP_DUTY, pause));
            for _ in 0..5 {
                assert!(one.is_ours().await.unwrap() && !other.is_ours().await.unwrap());
                // A round may take as long as the pause.
                clock.advance(pause * 2);
            }
            clock.advance(pause);
            assert!(other.is_ours().await.unwrap() && !one.is_ours().await.unwrap());
        }
    }

    #[tokio::test]
    async fn a_long_round_keeps_its_duty_and_a_lost_one_is_noticed() {
        let store = Store::new(Arc::new(MemoryEngine::shared()));
        let clock = Arc::new(ManualClock::at(638_000_000_000_000_000));
        let pause = Duration::from_secs(30);
        let [one, other] = [0, 1].map(|_| Duty::new(store.clone(), clock.clone(), keys::QUEUE_SWEEP_DUTY, pause));
        assert!(one.is_ours().await.unwrap());
        for _ in 0..60 {
            clock.advance(Duration::from_secs(20));
            assert!(one.is_still_ours().await.unwrap() && !other.is_ours().await.unwrap());
        }
        clock.advance(Duration::from_secs(300));
        assert!(other.is_ours().await.unwrap());
        assert!(!one.is_still_ours().await.unwrap(), "it stood still for too long");
    }

    #[tokio::test]
    async fn a_server_that_is_alone_has_every_duty_and_notes_nothing() {
        let store = Store::in_memory();
        let clock = Arc::new(ManualClock::at(1));
        assert!(
            Duty::new(store.clone(), clock, keys::BLOB_SWEEP_DUTY, Duration::from_secs(1)).is_ours().await.unwrap()
        );
        assert_eq!(store.get(&keys::system_partition(), keys::BLOB_SWEEP_DUTY).await.unwrap(), None);
    }
}
