//! Get and peek messages: from the front of a queue.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tablerock_kv::{Bytes, Page, Range, ScanLimits, Transaction};
use tablerock_protocol::{ErrorCode, QueueName, limits};

use super::front_cache::QueueFront;
use super::keys::MessageKey;
use super::messages::{Message, later, write};
use super::stored_message::StoredMessage;
use super::{QueueService, keys};
use crate::Result;
use crate::namespace::{LOOKS_MAX, again_and_again};

/// The limits of one scan of a queue's front.
const SCAN_RECORDS: usize = 128;
const SCAN_BYTES: usize = 128 << 10;

/// The front of a queue that a request reads.
struct OpenFront<'a> {
    account: &'a str,
    queue: &'a QueueName,
    queue_id: u64,
    front: Arc<QueueFront>,
}

/// The result of a scan of a front.
enum Front {
    HasMessages,
    IsEmpty,
    /// The queue was cleared, or created again: it has another id.
    IsOfAnother,
}

impl QueueService {
    /// Returns up to `count` messages and hides each from other consumers for a while.
    pub async fn get_messages(
        &self,
        account: &str,
        queue: &QueueName,
        count: usize,
        visibility_seconds: u32,
    ) -> Result<Vec<Message>> {
        let now = self.time.now().await;
        let visible = later(now, visibility_seconds.into());
        let deadline = self.deadline();
        let mut given = Vec::new();
        let mut looks = 0;
        let mut open = self.open_front(account, queue).await?;
        while given.len() < count {
            let (queue_id, front) = (open.queue_id, &open.front);
            let claimed = front.claim(count - given.len());
            let found = match claimed.is_empty() {
                true => self.read_on(&open, self.time.visible_until(now), deadline).await,
                false => {
                    self.give_out(queue_id, front, claimed, now, visible, &mut given).await.map(|()| Front::HasMessages)
                }
            };
            match found {
                Ok(Front::HasMessages) => {}
                Ok(Front::IsOfAnother) if given.is_empty() && looks < LOOKS_MAX => {
                    looks += 1;
                    open = self.open_front(account, queue).await?;
                }
                // Messages that have been moved are returned, whatever failed after.
                Err(error) if given.is_empty() => return Err(error),
                Ok(Front::IsOfAnother) if given.is_empty() => return Err(again_and_again()),
                Ok(Front::IsEmpty | Front::IsOfAnother) | Err(_) => break,
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
        let now = self.time.now().await;
        for _ in 0..LOOKS_MAX {
            let open = self.open_front(account, queue).await?;
            if let Some(seen) = self.peek_front(&open, count, now).await? {
                self.count_reads(account, queue, seen.len());
                return Ok(seen);
            }
        }
        Err(again_and_again())
    }

    /// The messages at an open front; `None` if it is of another queue by then.
    async fn peek_front(&self, open: &OpenFront<'_>, count: usize, now: u64) -> Result<Option<Vec<Message>>> {
        let deadline = self.deadline();
        let until = self.time.visible_until(now);
        if !self.directory.is_shared() {
            self.read_on(open, until, deadline).await?;
        }
        let mut visible = keys::messages_visible(open.queue_id, open.front.first(), until);
        let mut seen = Vec::new();
        loop {
            let Some(page) = self.page_of(open, &visible, scan_limits(count)).await? else { return Ok(None) };
            for record in &page.records {
                let message = StoredMessage::decode(&record.value)?;
                if seen.len() < count && !message.has_expired(now) {
                    seen.push(message.shown_at(keys::decode_message_key(&record.key)?));
                }
            }
            match page.next {
                Some(next) if seen.len() < count && self.clock.instant() < deadline => visible.start = next,
                _ => return Ok(Some(seen)),
            }
        }
    }

    /// Opens the front of a queue. On a store that servers share, the id is that of last time, which each page confirms.
    async fn open_front<'a>(&self, account: &'a str, queue: &'a QueueName) -> Result<OpenFront<'a>> {
        let queue_id = self.directory.first_id(account, queue.as_str()).await?.ok_or(ErrorCode::QueueNotFound)?;
        Ok(OpenFront { account, queue, queue_id, front: self.front_cache.of(queue_id) })
    }

    async fn page_of(&self, open: &OpenFront<'_>, range: &Range, limits: ScanLimits) -> Result<Option<Page>> {
        self.directory.page(open.account, open.queue.as_str(), open.queue_id, range, limits).await
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
        let partition = keys::messages_partition(queue_id);
        given.extend(pending.commit(self.store.transact(&partition, places.clone(), decide)).await?);
        Ok(())
    }

    /// Scans for messages that have become visible, until there is one to claim.
    async fn read_on(&self, open: &OpenFront<'_>, now: u64, deadline: Instant) -> Result<Front> {
        let OpenFront { queue_id, ref front, .. } = *open;
        let _reading = front.reading.lock().await;
        loop {
            if front.is_any_waiting() {
                return Ok(Front::HasMessages);
            }
            if self.clock.instant() >= deadline {
                return Ok(Front::IsEmpty);
            }
            let Some(from) = front.read_from(now) else { return Ok(Front::IsEmpty) };
            let visible = keys::messages_visible(queue_id, from, now);
            let Some(page) = self.page_of(open, &visible, scan_limits(SCAN_RECORDS)).await? else {
                return Ok(Front::IsOfAnother);
            };
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
