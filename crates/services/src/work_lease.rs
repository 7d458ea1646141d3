//! A lease on background work that one server does for all servers on a store.
//!
//! The holder keeps a record in the store with its own number and an expiry time. It renews the record with each round,
//! and within a long one. When it dies, the time passes and the next server that asks takes over. The work itself stays
//! correct if two servers do it at once, which they may for a moment. On an exclusive store the lease is always held
//! and nothing is stored.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tablerock_kv::{Bytes, Clock, Error, Result, Rng, Store, TICKS_PER_SECOND, Transaction};

use crate::keys;
use crate::sharing::Sharing;

/// The rounds that a server may miss before it counts as dead.
const ROUNDS_MISSED_MAX: u64 = 3;

/// The lease on one kind of work, as one server sees it.
#[derive(Debug)]
pub(crate) struct WorkLease {
    /// `None` on an exclusive store.
    record: Option<LeaseRecord>,
}

#[derive(Debug)]
struct LeaseRecord {
    store: Store,
    clock: Arc<dyn Clock>,
    key: Bytes,
    server: u64,
    lease_ticks: u64,
    /// When this server last renewed the record; zero if it does not hold the lease.
    renewed: AtomicU64,
}

impl WorkLease {
    /// `period` is the time between two rounds.
    pub(crate) fn new(store: Store, clock: Arc<dyn Clock>, key: impl Into<Bytes>, period: Duration) -> Self {
        let lease_ticks = ROUNDS_MISSED_MAX * period.as_secs().max(1) * TICKS_PER_SECOND;
        let record = Sharing::of(&store).coordination(|| LeaseRecord {
            store,
            clock,
            key: key.into(),
            server: Rng::from_os().number(),
            lease_ticks,
            renewed: AtomicU64::new(0),
        });
        Self { record }
    }

    /// Acquires or renews the lease; `false` if another server holds it.
    pub(crate) async fn try_acquire(&self) -> Result<bool> {
        let Some(LeaseRecord { store, clock, key, server, lease_ticks, renewed }) = &self.record else {
            return Ok(true);
        };
        let now = clock.ticks();
        let decide = |tx: &mut Transaction| {
            let (until, holder) = tx.get(key).map_or(Ok((0, 0)), |record| decode(record))?;
            if until > now && holder != *server {
                return Ok(false);
            }
            tx.put(key.clone(), [(now + lease_ticks).to_be_bytes(), server.to_be_bytes()].concat());
            Ok(true)
        };
        let is_held = store.transact(&keys::system_partition(), vec![key.clone()], decide).await?;
        renewed.store(if is_held { now } else { 0 }, Ordering::Relaxed);
        Ok(is_held)
    }

    /// Renews the lease in the middle of a round; `false` if another server has taken it. A recent renewal costs no
    /// access to the store.
    pub(crate) async fn renew(&self) -> Result<bool> {
        let is_fresh = self.record.as_ref().is_none_or(|LeaseRecord { clock, renewed, lease_ticks, .. }| {
            clock.ticks() < renewed.load(Ordering::Relaxed) + lease_ticks / ROUNDS_MISSED_MAX
        });
        if is_fresh { Ok(true) } else { self.try_acquire().await }
    }

    /// Gives the lease up, for work that is done.
    pub(crate) async fn release(&self) -> Result<()> {
        let Some(LeaseRecord { store, key, server, renewed, .. }) = &self.record else { return Ok(()) };
        let decide = |tx: &mut Transaction| {
            let (_, holder) = tx.get(key).map_or(Ok((0, 0)), |record| decode(record))?;
            if holder == *server {
                tx.delete(key.clone());
            }
            Ok(())
        };
        renewed.store(0, Ordering::Relaxed);
        store.transact(&keys::system_partition(), vec![key.clone()], decide).await
    }
}

fn decode(record: &[u8]) -> Result<(u64, u64)> {
    let corrupt = || Error::corrupt("the record of a work lease is not sixteen bytes");
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
    async fn one_server_holds_a_lease_until_it_dies() {
        for pause in [30, 600, 3600] {
            let store = Store::new(Arc::new(MemoryEngine::shared()));
            let clock = Arc::new(ManualClock::at(638_000_000_000_000_000));
            let pause = Duration::from_secs(pause);
            let [one, other] =
                [0, 1].map(|_| WorkLease::new(store.clone(), clock.clone(), keys::QUEUE_SWEEP_LEASE, pause));
            for _ in 0..5 {
                assert!(one.try_acquire().await.unwrap() && !other.try_acquire().await.unwrap());
                // A round may take as long as the pause.
                clock.advance(pause * 2);
            }
            clock.advance(pause);
            assert!(other.try_acquire().await.unwrap() && !one.try_acquire().await.unwrap());
        }
    }

    #[tokio::test]
    async fn a_long_round_keeps_its_lease_and_a_lost_one_is_noticed() {
        let store = Store::new(Arc::new(MemoryEngine::shared()));
        let clock = Arc::new(ManualClock::at(638_000_000_000_000_000));
        let pause = Duration::from_secs(30);
        let [one, other] = [0, 1].map(|_| WorkLease::new(store.clone(), clock.clone(), keys::QUEUE_SWEEP_LEASE, pause));
        assert!(one.try_acquire().await.unwrap());
        for _ in 0..60 {
            clock.advance(Duration::from_secs(20));
            assert!(one.renew().await.unwrap() && !other.try_acquire().await.unwrap());
        }
        clock.advance(Duration::from_secs(300));
        assert!(other.try_acquire().await.unwrap());
        assert!(!one.renew().await.unwrap(), "it stood still for too long");
    }

    #[tokio::test]
    async fn a_server_that_is_alone_holds_every_lease_and_stores_nothing() {
        let store = Store::in_memory();
        let clock = Arc::new(ManualClock::at(1));
        assert!(
            WorkLease::new(store.clone(), clock, keys::BLOB_SWEEP_LEASE, Duration::from_secs(1))
                .try_acquire()
                .await
                .unwrap()
        );
        assert_eq!(store.get(&keys::system_partition(), keys::BLOB_SWEEP_LEASE).await.unwrap(), None);
    }
}
