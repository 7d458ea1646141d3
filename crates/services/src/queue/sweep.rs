//! Removing expired messages. Nobody sees them any more; this gives their space back and takes them off the count. The same
//! rounds finish deletions that were cut short.
//!
//! Each queue has an index by expiry, so a round looks only at what has expired. Messages are removed part by part of
//! the [count](super::count), so that one transaction changes one counter.

use std::collections::BTreeMap;
use std::time::Duration;

use parking_lot::Mutex;
use tablerock_kv::{Bytes, Error, Record, ScanLimits, TICKS_PER_SECOND, Transaction};

use super::keys::MessageKey;
use super::record::QueueRecord;
use super::stored_message::StoredMessage;
use super::{QueueService, count, keys};
use crate::Result;

/// How long the sweeper rests between two rounds.
pub(super) const REST: Duration = Duration::from_secs(30);
/// Within a round it rests so many times as long as it worked.
const REST_FACTOR: u32 = 4;
/// Queues that are looked at without a rest.
const QUEUES_PAGE: usize = 100;
/// Entries of the index that are read at a time, and messages that one transaction removes.
const EXPIRIES_PAGE: usize = 4096;
const TRANSACTION_MESSAGES_MAX: usize = 64;

/// How far a round goes back behind the last one, for writes that were still under way then. It is far longer than a
/// request takes.
const OVERLAP_TICKS: u64 = 600 * TICKS_PER_SECOND;

/// What the last round has seen to.
#[derive(Debug, Default)]
pub(super) struct Sweeps {
    /// All messages that expired before this time are gone.
    done_until: Mutex<u64>,
}

impl QueueService {
    /// Removes expired messages, and the queues of these accounts whose deletion was cut short, round after round, for as
    /// long as it is let. A new process begins with all that the last one left.
    pub async fn keep_sweeping(&self, accounts: &[String]) {
        loop {
            match self.sweep_if_ours(accounts).await {
                Ok(0) => {}
                Ok(removed) => tracing::debug!(removed, "removed expired messages"),
                Err(error) => tracing::warn!(%error, "some expired messages could not be removed yet"),
            }
            tokio::time::sleep(REST).await;
        }
    }

    /// One round, if no other server on the store does it.
    pub async fn sweep_if_ours(&self, accounts: &[String]) -> Result<u64> {
        if !self.sweep_duty.is_ours().await? {
            return Ok(0);
        }
        for account in accounts {
            self.finish_drops(account).await?;
        }
        self.sweep().await
    }

    /// One round through all queues of all accounts. Says how many messages it removed, or what kept it from removing
    /// those of one queue; the others had their turn.
    pub async fn sweep(&self) -> Result<u64> {
        let now = self.time.now().await;
        let from = self.sweeps.done_until.lock().saturating_sub(OVERLAP_TICKS);
        let mut removed = 0;
        let mut failed = None;
        let mut range = keys::directories();
        loop {
            let started = self.clock.instant();
            let limits = ScanLimits { records_max: QUEUES_PAGE, bytes_max: 1 << 20, deadline: None };
            let page = self.store.scan(&range, limits).await?;
            for record in page.records.iter().filter(|record| !keys::is_drop_note(&record.key)) {
                match self.sweep_queue(&record.value, from, now).await {
                    Ok(count) => removed += count,
                    Err(error) => failed = Some(error),
                }
            }
            let Some(next) = page.next else { break };
            range.start = next;
            if !self.sweep_duty.is_still_ours().await? {
                // Whoever has it now begins anew.
                return Ok(removed);
            }
            tokio::time::sleep((self.clock.instant() - started) * REST_FACTOR).await;
        }
        if let Some(error) = failed {
            return Err(error);
        }
        *self.sweeps.done_until.lock() = now;
        Ok(removed)
    }

    async fn sweep_queue(&self, record: &[u8], from: u64, now: u64) -> Result<u64> {
        let queue_id = QueueRecord::decode_id(record)?;
        let mut removed = 0;
        let mut range = keys::expiries(queue_id, from, now);
        loop {
            let limits = ScanLimits { records_max: EXPIRIES_PAGE, bytes_max: 1 << 20, deadline: None };
            let page = self.store.scan(&range, limits).await?;
            let mut parts: BTreeMap<u64, Vec<Entry>> = BTreeMap::new();
            for entry in page.records.iter().map(Entry::decode) {
                let entry = entry?;
                parts.entry(count::part_of(entry.message.number)).or_default().push(entry);
            }
            for (part, entries) in parts {
                for entries in entries.chunks(TRANSACTION_MESSAGES_MAX) {
                    removed += self.remove_expired(queue_id, part, entries, now).await?;
                }
            }
            let Some(next) = page.next else { return Ok(removed) };
            range.start = next;
        }
    }

    /// Removes messages of one part. One that has moved since its entry was read has another entry by now, in the same
    /// place, and is left to the next round.
    async fn remove_expired(&self, queue_id: u64, part: u64, entries: &[Entry], now: u64) -> Result<u64> {
        let count_key = keys::count_key(part);
        let places: Vec<Bytes> = entries.iter().map(|entry| keys::message_key(entry.message)).collect();
        let decide = |tx: &mut Transaction| -> Result<u64> {
            let mut gone = 0;
            for (entry, place) in std::iter::zip(entries, &places) {
                let Some(stored) = tx.get(place) else { continue };
                if StoredMessage::has_expired_in(stored, now)? {
                    tx.delete(place.clone());
                    tx.delete(keys::expiry_key(entry.expires, entry.message.number));
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

/// An entry of the index by expiry: which message, and where it is.
struct Entry {
    expires: u64,
    message: MessageKey,
}

impl Entry {
    fn decode(record: &Record) -> Result<Self> {
        let (expires, number) = keys::decode_expiry_key(&record.key)?;
        let visible = record.value[..].try_into().map(u64::from_be_bytes);
        let visible = visible.map_err(|_| Error::corrupt("an entry of a queue's expiry index is not eight bytes"))?;
        Ok(Self { expires, message: MessageKey { visible, number } })
    }
}
