//! Get and peek messages: from the front of a queue.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tablerock_kv::{Bytes, ScanLimits, Transaction};
use tablerock_protocol::{QueueName, limits};

use super::front_cache::QueueFront;
use super::keys::MessageKey;
use super::messages::{Message, later, write};
use super::stored_message::StoredMessage;
use super::{QueueService, keys};
use crate::Result;

/// The limits of one scan of a queue's front.
const SCAN_RECORDS: usize = 128;
const SCAN_BYTES: usize = 128 << 10;

impl QueueService {
    /// Returns up to `count` messages and hides each from other consumers for a while.
    pub async fn get_messages(
        &self,
        account: &str,
        queue: &QueueName,
        count: usize,
        visibility_seconds: u32,
    ) -> Result<Vec<Message>> {
        let queue_id = self.queue_id(account, queue).await?;
        let now = self.time.now().await;
        let visible = later(now, visibility_seconds.into());
        let front = self.front_cache.of(queue_id);
        let deadline = self.deadline();
        let mut given = Vec::new();
        while given.len() < count {
            let claimed = front.claim(count - given.len());
            let is_any_left = match claimed.is_empty() {
                true => self.read_on(queue_id, &front, self.time.visible_until(now), deadline).await,
                false => self.give_out(queue_id, &front, claimed, now, visible, &mut given).await.map(|()| true),
            };
            match is_any_left {
                Ok(true) => {}
                // Messages that have been moved are returned, whatever failed after.
                Err(error) if given.is_empty() => return Err(error),
                Ok(false) | Err(_) => break,
            }
        }
        // Returning a message moves it, so it counts as a write.
        match given.len() {
            0 => self.count_reads(account, queue, 1),
            messages => self.count_writes(account, queue, messages),
        }
        Ok(given)
    }

    /// The messages at the front, as they are.
    pub async fn peek_messages(&self, account: &str, queue: &QueueName, count: usize) -> Result<Vec<Message>> {
        let queue_id = self.queue_id(account, queue).await?;
        let now = self.time.now().await;
        let front = self.front_cache.of(queue_id);
        let deadline = self.deadline();
        let until = self.time.visible_until(now);
        self.read_on(queue_id, &front, until, deadline).await?;
        let visible = keys::messages_visible(queue_id, front.first(), until);
        let mut pages = self.store.records_with(visible, scan_limits(count));
        let mut seen = Vec::new();
        while let Some(records) = pages.next_page().await? {
            for record in &records {
                let message = StoredMessage::decode(&record.value)?;
                if seen.len() < count && !message.has_expired(now) {
                    seen.push(message.shown_at(keys::decode_message_key(&record.key)?));
                }
            }
            if seen.len() >= count || self.clock.instant() >= deadline {
                break;
            }
        }
        self.count_reads(account, queue, seen.len());
        Ok(seen)
    }

    /// Moves claimed messages to the time at which they become visible again. A claim is only a hint: messages that are
    /// gone are skipped.
    async fn give_out(
        &self,
        queue_id: u64,
        front: &Arc<QueueFront>,
        claimed: Vec<MessageKey>,
        now: u64,
        visible: u64,
        given: &mut Vec<Message>,
    ) -> Result<()> {
        let places: Vec<Bytes> = claimed.iter().map(|key| keys::message_key(*key)).collect();
        let targets = claimed.iter().map(|key| MessageKey { visible, ..*key }).collect();
        let numbers: Vec<u64> = claimed.iter().map(|key| key.number).collect();
        let decide = |tx: &mut Transaction| -> Result<Vec<Message>> {
            let mut messages = Vec::with_capacity(places.len());
            for (place, number) in std::iter::zip(&places, &numbers) {
                let Some(stored) = tx.get(place) else { continue };
                let mut message = StoredMessage::decode(stored)?;
                if message.has_expired(now) {
                    continue;
                }
                message.changes = message.changes.wrapping_add(1);
                message.dequeue_count = message.dequeue_count.saturating_add(1);
                let key = MessageKey { visible, number: *number };
                tx.delete(place.clone());
                write(tx, key, &message, message.encode());
                messages.push(message.shown_at(key));
            }
            Ok(messages)
        };
        let pending = self.pending_move(targets, queue_id).of_claimed(front.clone(), claimed);
        given.extend(pending.commit(places.clone(), decide).await?);
        Ok(())
    }

    /// Scans for messages that have become visible, until there is one to claim. `false` if there is none.
    async fn read_on(&self, queue_id: u64, front: &QueueFront, now: u64, deadline: Instant) -> Result<bool> {
        let _reading = front.reading.lock().await;
        loop {
            if front.is_any_waiting() {
                return Ok(true);
            }
            if self.clock.instant() >= deadline {
                return Ok(false);
            }
            let Some(from) = front.read_from(now) else { return Ok(false) };
            let page = self.store.scan(&keys::messages_visible(queue_id, from, now), scan_limits(SCAN_RECORDS)).await?;
            let mut found = Vec::with_capacity(page.records.len());
            let mut last = None;
            for record in &page.records {
                let key = keys::decode_message_key(&record.key)?;
                // Expired messages are skipped for good; the sweep removes them.
                if !StoredMessage::has_expired_in(&record.value, now)? {
                    found.push(key);
                }
                last = Some(key);
            }
            let after = last.map(|key| MessageKey { number: key.number.saturating_add(1), ..key });
            front.found(&found, after.filter(|_| page.next.is_some()), now);
        }
    }

    /// The end of a search for messages among expired ones.
    fn deadline(&self) -> Instant {
        self.clock.instant() + Duration::from_secs(limits::QUERY_SECONDS_MAX)
    }
}

fn scan_limits(records_max: usize) -> ScanLimits {
    ScanLimits { records_max, bytes_max: SCAN_BYTES, deadline: None }
}
