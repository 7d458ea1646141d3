//! Put, update and delete a message. Each is one transaction on one queue.

use tablerock_kv::{Bytes, ScanLimits, TICKS_PER_SECOND, Transaction};
use tablerock_protocol::{DateTime, ErrorCode, PopReceipt, QueueName, ServiceError, Uuid};

use super::front_cache::PendingMove;
use super::keys::MessageKey;
use super::stored_message::{NEVER, StoredMessage};
use super::{QueueService, count, keys};
use crate::Result;

/// A message for Put. The text is within its limit, and the message becomes visible before it expires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    pub text: String,
    /// For how long it is invisible at first.
    pub visibility_seconds: u32,
    pub time_to_live: TimeToLive,
}

/// How long a message lives, unless it is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeToLive {
    Seconds(u64),
    Forever,
}

/// The changes of Update Message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageUpdate {
    /// For how long the message is invisible from now on.
    pub visibility_seconds: u32,
    /// The new text; `None` leaves it as it is.
    pub text: Option<String>,
}

/// A message as a client sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub id: Uuid,
    pub inserted: DateTime,
    pub expires: DateTime,
    pub receipt: PopReceipt,
    pub next_visible: DateTime,
    pub dequeue_count: u32,
    pub text: String,
}

impl QueueService {
    /// Adds a message. The receipt that comes back is good at once.
    pub async fn put_message(&self, account: &str, queue: &QueueName, message: NewMessage) -> Result<Message> {
        let number = self.message_numbers.next().await?;
        let count_key = keys::count_key(count::part_of(number));
        let found = self.find_queue(account, queue, std::slice::from_ref(&count_key)).await?;
        self.count_writes(account, queue, 1);
        let now = self.time.now().await;
        let key = MessageKey { visible: self.time.visible_after(now, message.visibility_seconds), number };
        let stored = StoredMessage {
            id: uuid::Builder::from_random_bytes(self.rng.id()).into_uuid(),
            changes: 0,
            dequeue_count: 0,
            inserted: now,
            expires: match message.time_to_live {
                TimeToLive::Forever => NEVER,
                TimeToLive::Seconds(seconds) => later(now, seconds),
            },
            text: message.text.into(),
        };
        let value = stored.encode();
        let decide = |tx: &mut Transaction| -> Result<()> {
            count::add_one(tx, &count_key)?;
            write(tx, key, &stored, value.clone());
            Ok(())
        };
        let pending = self.pending_move(vec![key], found.id);
        pending.commit(self.transact_messages(account, queue, found, vec![count_key.clone()], decide)).await?;
        Ok(stored.shown_at(key))
    }

    /// Changes when a message becomes visible, and its text if there is a new one. The old receipt is void.
    pub async fn update_message(
        &self,
        account: &str,
        queue: &QueueName,
        id: Uuid,
        receipt: PopReceipt,
        update: MessageUpdate,
    ) -> Result<Message> {
        let place = place_of(receipt);
        let found = self.find_queue(account, queue, std::slice::from_ref(&place)).await?;
        self.count_writes(account, queue, 1);
        let now = self.time.now().await;
        let new_key =
            MessageKey { visible: self.time.visible_after(now, update.visibility_seconds), number: receipt.number };
        let text = update.text.map(Bytes::from);
        let decide = |tx: &mut Transaction| -> Result<Message> {
            let mut message = find(tx, &place, id, receipt, now)?;
            if new_key.visible > message.expires {
                return Err(visible_after_expiry(update.visibility_seconds).into());
            }
            message.changes = message.changes.wrapping_add(1);
            if let Some(text) = &text {
                message.text = text.clone();
            }
            tx.delete(place.clone());
            write(tx, new_key, &message, message.encode());
            Ok(message.shown_at(new_key))
        };
        let pending = self.pending_move(vec![new_key], found.id);
        pending.commit(self.transact_messages(account, queue, found, vec![place.clone()], decide)).await
    }

    pub async fn delete_message(&self, account: &str, queue: &QueueName, id: Uuid, receipt: PopReceipt) -> Result<()> {
        let (place, count_key) = (place_of(receipt), keys::count_key(count::part_of(receipt.number)));
        let reads = vec![place.clone(), count_key.clone()];
        let found = self.find_queue(account, queue, &reads).await?;
        self.count_writes(account, queue, 1);
        let now = self.time.now().await;
        let decide = |tx: &mut Transaction| -> Result<()> {
            let message = find(tx, &place, id, receipt, now)?;
            count::subtract(tx, &count_key, 1)?;
            tx.delete(place.clone());
            if message.expires != NEVER {
                tx.delete(keys::expiry_key(message.expires, receipt.number));
            }
            Ok(())
        };
        self.transact_messages(account, queue, found, reads, decide).await
    }
}

/// The limits of a search for an id.
const SEARCH_RECORDS_MAX: usize = 1000;
const SEARCH_PAGE: ScanLimits = ScanLimits { records_max: 100, bytes_max: 128 << 10, deadline: None };

impl QueueService {
    /// Whether the queue has this message, for a request whose receipt cannot lead to it. There is no index of ids, so this
    /// looks at the first thousand messages alone.
    pub async fn has_message(&self, account: &str, queue: &QueueName, id: Uuid) -> Result<bool> {
        let queue_id = self.queue_id(account, queue).await?;
        self.count_reads(account, queue, 1);
        let now = self.time.now().await;
        let mut pages = self.store.records_with(keys::messages_only(queue_id), SEARCH_PAGE);
        let mut records_seen = 0;
        while let Some(records) = pages.next_page().await? {
            for record in &records {
                let message = StoredMessage::decode(&record.value)?;
                if message.id == id {
                    return Ok(!message.has_expired(now));
                }
            }
            records_seen += records.len();
            if records_seen >= SEARCH_RECORDS_MAX {
                break;
            }
        }
        Ok(false)
    }

    pub(super) fn pending_move(&self, targets: Vec<MessageKey>, queue_id: u64) -> PendingMove {
        PendingMove::to(targets, queue_id, &self.front_cache, &self.store)
    }
}

/// The message that a receipt is for, if the receipt still holds: it does until the message is given out again,
/// updated or deleted, or expires.
fn find(tx: &Transaction, place: &Bytes, id: Uuid, receipt: PopReceipt, now: u64) -> Result<StoredMessage> {
    let message = StoredMessage::decode(tx.get(place).ok_or(ErrorCode::MessageNotFound)?)?;
    if message.id != id || message.changes != receipt.changes || message.has_expired(now) {
        return Err(ErrorCode::MessageNotFound.into());
    }
    Ok(message)
}

/// Puts a message in a place, and the place where its expiry will be looked up.
pub(super) fn write(tx: &mut Transaction, key: MessageKey, message: &StoredMessage, value: Bytes) {
    tx.put(keys::message_key(key), value);
    if message.expires != NEVER {
        tx.put(keys::expiry_key(message.expires, key.number), key.visible.to_be_bytes().to_vec());
    }
}

fn place_of(receipt: PopReceipt) -> Bytes {
    keys::message_key(MessageKey { visible: receipt.visible, number: receipt.number })
}

/// So many seconds after a time, and no later than the last date there is.
pub(super) fn later(ticks: u64, seconds: u64) -> u64 {
    ticks.saturating_add(seconds.saturating_mul(TICKS_PER_SECOND)).min(NEVER)
}

fn visible_after_expiry(seconds: u32) -> ServiceError {
    let reason = "The message would become visible only after it has expired.";
    ServiceError::invalid_parameter("visibilitytimeout", &seconds.to_string(), reason)
}
