//! Work in the background that one server does for all that share a store.
//!
//! Whoever does it holds a record in the store that names the server and a time. It renews the record with each round;
//! when it has died, the time passes and the next server that asks takes over. The work itself does no harm if two
//! servers do it at once, which they may for a moment.

use std::sync::Arc;

use tablerock_kv::{Bytes, Clock, Dice, Error, Result, Store, TICKS_PER_SECOND, Transaction};

use crate::keys;

/// How long after its last round a server counts as dead.
const LEASE_TICKS: u64 = 120 * TICKS_PER_SECOND;

/// One kind of work, as one server sees it.
#[derive(Debug)]
pub(crate) struct Duty {
    store: Store,
    clock: Arc<dyn Clock>,
    key: &'static [u8],
    server: u64,
}

impl Duty {
    pub(crate) fn new(store: Store, clock: Arc<dyn Clock>, key: &'static [u8]) -> Self {
        Self { store, clock, key, server: Dice::from_os().number() }
    }

    /// Whether this server is to do the next round. Without others on the store, it always is.
    pub(crate) async fn is_ours(&self) -> Result<bool> {
        if self.store.is_exclusive() {
            return Ok(true);
        }
        let key = Bytes::from_static(self.key);
        let now = self.clock.ticks();
        let decide = |tx: &mut Transaction| {
            let (until, server) = tx.get(&key).map_or(Ok((0, 0)), |record| decode(record))?;
            if until > now && server != self.server {
                return Ok(false);
            }
            tx.put(key.clone(), [(now + LEASE_TICKS).to_be_bytes(), self.server.to_be_bytes()].concat());
            Ok(true)
        };
        self.store.transact(&keys::system_partition(), vec![key.clone()], decide).await
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
    use std::time::Duration;

    use tablerock_kv::{ManualClock, MemoryEngine};

    use super::*;

    #[tokio::test]
    async fn one_server_has_a_duty_until_it_dies() {
        let store = Store::new(Arc::new(MemoryEngine::shared()));
        let clock = Arc::new(ManualClock::at(638_000_000_000_000_000));
        let [one, other] = [0, 1].map(|_| Duty::new(store.clone(), clock.clone(), keys::QUEUE_SWEEP_DUTY));
        for _ in 0..5 {
            assert!(one.is_ours().await.unwrap() && !other.is_ours().await.unwrap());
            clock.advance(Duration::from_secs(100));
        }
        clock.advance(Duration::from_secs(100));
        assert!(other.is_ours().await.unwrap() && !one.is_ours().await.unwrap());
    }

    #[tokio::test]
    async fn a_server_that_is_alone_has_every_duty_and_notes_nothing() {
        let store = Store::in_memory();
        let clock = Arc::new(ManualClock::at(1));
        assert!(Duty::new(store.clone(), clock, keys::BLOB_SWEEP_DUTY).is_ours().await.unwrap());
        assert_eq!(store.get(&keys::system_partition(), keys::BLOB_SWEEP_DUTY).await.unwrap(), None);
    }
}
