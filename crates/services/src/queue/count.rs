//! The number of messages of a queue.
//!
//! The number is stored in parts, one record each. Every write that adds or removes a message changes one of them, chosen
//! by the message's number, so concurrent writes rarely conflict and no part is ever negative.

use tablerock_kv::{Bytes, Result, ScanLimits, Store, Transaction};

use super::keys;
use crate::fields::decode_number;

/// The parts of a queue's count.
pub(crate) const PARTS: u64 = 64;

/// The part that a message is counted in.
pub(super) fn part_of(message_number: u64) -> u64 {
    message_number % PARTS
}

/// Counts one more message in a part whose key the transaction has declared.
pub(super) fn add_one(tx: &mut Transaction, key: &Bytes) -> Result<()> {
    let count = decode(tx.get(key))?;
    put(tx, key, count.saturating_add(1));
    Ok(())
}

/// Counts messages that are gone in a part whose key the transaction has declared.
pub(super) fn subtract(tx: &mut Transaction, key: &Bytes, gone: u64) -> Result<()> {
    let count = decode(tx.get(key))?;
    put(tx, key, count.saturating_sub(gone));
    Ok(())
}

/// All messages of a queue.
pub(super) async fn read(store: &Store, queue_id: u64) -> Result<u64> {
    let limits = ScanLimits { records_max: PARTS as usize, bytes_max: 1 << 20, deadline: None };
    let parts = store.scan(&keys::counts(queue_id), limits).await?.records;
    parts.iter().try_fold(0_u64, |sum, part| Ok(sum.saturating_add(decode(Some(&part.value))?)))
}

fn put(tx: &mut Transaction, key: &Bytes, count: u64) {
    tx.put(key.clone(), count.to_be_bytes().to_vec());
}

fn decode(stored: Option<&Bytes>) -> Result<u64> {
    stored.map_or(Ok(0), |count| decode_number(count, "a count of messages"))
}
