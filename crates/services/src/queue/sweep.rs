//! Removing expired messages. No operation returns them; this reclaims their space and updates the count.
//!
//! Each queue has an index by expiry, so a sweep reads only what has expired. One transaction removes messages of one
//! part of the [count](super::count), so that it changes one counter.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tablerock_kv::{Bytes, Record, ScanLimits, TICKS_PER_SECOND, Transaction};

use super::keys::MessageKey;
use super::stored_message::StoredMessage;
use super::{QueueService, count, keys};
use crate::Result;
use crate::fields::decode_number;
use crate::namespace::{self, Namespace};

/// The time between two sweeps.
pub(super) const PERIOD: Duration = Duration::from_secs(30);
/// Within a sweep, each page is followed by a pause of so many times its own duration.
const PAUSE_FACTOR: u32 = 4;
/// Queues that are swept without a pause.
const QUEUES_PAGE: usize = 100;
/// Entries of the index that are read at a time, and messages that one transaction removes.
const EXPIRIES_PAGE: usize = 4096;
const TRANSACTION_MESSAGES_MAX: usize = 64;

/// The overlap of a sweep with the last one, for writes that were in progress then. It is far longer than a request.
const OVERLAP_TICKS: u64 = 600 * TICKS_PER_SECOND;

impl QueueService {
    /// Removes expired messages and finishes interrupted deletions of these accounts, until the future is dropped. A new
    /// process begins with everything that the last one left.
    pub async fn keep_sweeping(&self, accounts: impl Fn() -> Vec<String>) {
        namespace::keep_sweeping(self, accounts).await;
    }

    /// Runs one sweep, unless another server on the store holds the lease. Returns the number of removed messages.
    pub async fn sweep_if_ours(&self, accounts: &[String]) -> Result<u64> {
        namespace::sweep_if_leader(self, accounts).await
    }

    /// Removes the expired messages of all queues of all accounts, and returns their number. A failure on one queue is
    /// logged and returned after the others have been swept.
    pub async fn sweep(&self) -> Result<u64> {
        let now = self.time.now().await;
        let from = self.swept_until.load(Ordering::Relaxed).saturating_sub(OVERLAP_TICKS);
        let (mut removed, mut failed) = (0, None);
        let limits = ScanLimits { records_max: QUEUES_PAGE, bytes_max: 1 << 20, deadline: None };
        let mut pages = self.store.records_with(Namespace::Queues.directories(), limits);
        let mut started = self.clock.instant();
        while let Some(rows) = pages.next_page().await? {
            for row in rows.iter().filter(|row| !namespace::is_tombstone(&row.key)) {
                match self.sweep_queue(&row.value, from, now).await {
                    Ok(count) => removed += count,
                    Err(error) => {
                        let account = namespace::account_of(&row.partition).unwrap_or_default();
                        let queue = String::from_utf8_lossy(&row.key);
                        tracing::warn!(account, %queue, %error, "removing expired messages failed, will retry");
                        failed = Some(error);
                    }
                }
            }
            if pages.is_at_end() {
                break;
            }
            if !self.directory.sweep_lease.renew().await? {
                // The server that took the lease starts its own sweep.
                return Ok(removed);
            }
            tokio::time::sleep((self.clock.instant() - started) * PAUSE_FACTOR).await;
            started = self.clock.instant();
        }
        if let Some(error) = failed {
            return Err(error);
        }
        self.swept_until.store(now, Ordering::Relaxed);
        Ok(removed)
    }

    async fn sweep_queue(&self, row: &[u8], from: u64, now: u64) -> Result<u64> {
        let queue_id = namespace::id_of_row(row)?;
        let mut removed = 0;
        let limits = ScanLimits { records_max: EXPIRIES_PAGE, bytes_max: 1 << 20, deadline: None };
        let mut pages = self.store.records_with(keys::expiries(queue_id, from, now), limits);
        while let Some(records) = pages.next_page().await? {
            let mut parts: BTreeMap<u64, Vec<Expiry>> = BTreeMap::new();
            for expiry in records.iter().map(Expiry::decode) {
                let expiry = expiry?;
                parts.entry(count::part_of(expiry.message.number)).or_default().push(expiry);
            }
            for (part, expiries) in parts {
                for expiries in expiries.chunks(TRANSACTION_MESSAGES_MAX) {
                    removed += self.remove_expired(queue_id, part, expiries, now).await?;
                }
            }
        }
        Ok(removed)
    }

    /// Removes messages of one part. The next sweep handles a message that has moved since its entry was read: its entry
    /// has the same key and another value by now.
    async fn remove_expired(&self, queue_id: u64, part: u64, expiries: &[Expiry], now: u64) -> Result<u64> {
        let count_key = keys::count_key(part);
        let places: Vec<Bytes> = expiries.iter().map(|expiry| keys::message_key(expiry.message)).collect();
        let decide = |tx: &mut Transaction| -> Result<u64> {
            let mut gone = 0;
            for (expiry, place) in std::iter::zip(expiries, &places) {
                let Some(stored) = tx.get(place) else { continue };
                if StoredMessage::has_expired_in(stored, now)? {
                    tx.delete(place.clone());
                    tx.delete(keys::expiry_key(expiry.expires, expiry.message.number));
                    gone += 1;
                }
            }
            if gone > 0 {
                count::subtract(tx, &count_key, gone)?;
            }
            Ok(gone)
        };
        let reads = places.iter().chain([&count_key]).cloned().collect();
        self.store.transact(&keys::messages_partition(queue_id), reads, decide).await
    }
}

/// An entry of the index by expiry: the message that expires, and where it is stored.
struct Expiry {
    expires: u64,
    message: MessageKey,
}

impl Expiry {
    fn decode(record: &Record) -> Result<Self> {
        let (expires, number) = keys::decode_expiry_key(&record.key)?;
        let visible = decode_number(&record.value, "an entry of a queue's expiry index")?;
        Ok(Self { expires, message: MessageKey { visible, number } })
    }
}
