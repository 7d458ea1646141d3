//! A Queue service and a model of one queue that is too simple to be wrong, and random steps for both.

use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::{Clock, ManualClock, Rng, Store, TICKS_PER_SECOND};
use tablerock_protocol::{DateTime, ErrorCode, Metadata, PopReceipt, QueueName, Uuid};
use tablerock_services::queue::{Message, MessageUpdate, NewMessage, TimeToLive};
use tablerock_services::{Error, QueueService};

pub const ACCOUNT: &str = "acct";
pub const NOON: u64 = 638_000_000_000_000_000;

pub fn jobs() -> QueueName {
    QueueName::parse("jobs").expect("a queue name")
}

pub async fn service_on(store: &Store, clock: Arc<dyn Clock>) -> QueueService {
    QueueService::open(store.clone(), clock, Rng::seeded(1)).await.expect("a sound store opens")
}

/// A service with one empty queue, `jobs`.
pub async fn service_with_queue(store: &Store, clock: Arc<dyn Clock>) -> QueueService {
    let service = service_on(store, clock).await;
    service.create_queue(ACCOUNT, &jobs(), &Metadata::default()).await.expect("the queue is new");
    service
}

pub fn message(text: &str) -> NewMessage {
    NewMessage { text: text.to_owned(), visibility_seconds: 0, time_to_live: TimeToLive::Seconds(3600) }
}

pub fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorCode {
    result.expect_err("an error").into_service_error().code
}

/// A message of the model.
#[derive(Debug, Clone)]
struct Expected {
    id: Uuid,
    visible: u64,
    /// The place in which it came into the queue.
    turn: usize,
    expires: Option<u64>,
    dequeue_count: u32,
    text: String,
    receipt: PopReceipt,
}

/// The queue as it should be: a list, searched from front to back.
#[derive(Debug, Default)]
struct Model {
    messages: Vec<Expected>,
    turn: usize,
}

impl Model {
    fn live(&mut self, now: u64) -> &mut Vec<Expected> {
        self.messages.retain(|message| message.expires.is_none_or(|expires| expires > now));
        self.messages.sort_by_key(|message| (message.visible, message.turn));
        &mut self.messages
    }

    fn find(&mut self, id: Uuid, receipt: PopReceipt, now: u64) -> Option<usize> {
        self.live(now).iter().position(|message| message.id == id && message.receipt == receipt)
    }
}

/// Both of them, and a clock that moves only between steps.
#[derive(Debug)]
pub struct Comparison {
    store: Store,
    clock: Arc<ManualClock>,
    service: QueueService,
    model: Model,
    random: fastrand::Rng,
    /// Receipts that were given out once, good ones and stale ones.
    receipts: Vec<(Uuid, PopReceipt)>,
}

impl Comparison {
    pub async fn new(store: Store, seed: u64) -> Self {
        let clock = Arc::new(ManualClock::at(NOON));
        let service = service_with_queue(&store, clock.clone()).await;
        let random = fastrand::Rng::with_seed(seed);
        Self { store, clock, service, model: Model::default(), random, receipts: vec![] }
    }

    /// Takes a random step with both, and panics where they differ.
    pub async fn step(&mut self) {
        match self.random.u8(..100) {
            0..30 => self.put().await,
            30..55 => self.get().await,
            55..65 => self.peek().await,
            65..75 => self.update().await,
            75..87 => self.delete().await,
            // By whole seconds too, so that times meet to the tick.
            87..91 => self.clock.advance(Duration::from_millis(self.random.u64(..4_000))),
            91..95 => self.clock.advance(Duration::from_secs(self.random.u64(..4))),
            95..97 => self.sweep_and_count().await,
            97 => self.clock.set(self.clock.ticks() - self.random.u64(..TICKS_PER_SECOND)),
            98 => self.restart().await,
            _ if self.random.u8(..10) == 0 => self.clear().await,
            _ => {}
        }
    }

    async fn put(&mut self) {
        let visibility_seconds = if self.random.bool() { 0 } else { self.random.u32(..5) };
        let time_to_live = match self.random.u8(..4) {
            0 => TimeToLive::Forever,
            _ => TimeToLive::Seconds(u64::from(visibility_seconds) + self.random.u64(1..20)),
        };
        let text = self.random.u32(..).to_string();
        let new = NewMessage { text: text.clone(), visibility_seconds, time_to_live };
        let put = self.service.put_message(ACCOUNT, &jobs(), new).await.expect("a message is put");
        let expires = match time_to_live {
            TimeToLive::Forever => None,
            TimeToLive::Seconds(seconds) => Some(put.inserted.ticks() + seconds * TICKS_PER_SECOND),
        };
        assert_eq!(put.expires, expires.map_or(DateTime::MAX, DateTime::from_ticks));
        assert_eq!(put.next_visible.ticks(), put.inserted.ticks() + u64::from(visibility_seconds) * TICKS_PER_SECOND);
        self.receipts.push((put.id, put.receipt));
        self.model.turn += 1;
        self.model.messages.push(Expected {
            id: put.id,
            visible: put.next_visible.ticks(),
            turn: self.model.turn,
            expires,
            dequeue_count: 0,
            text,
            receipt: put.receipt,
        });
    }

    async fn get(&mut self) {
        let (count, seconds) = (self.random.usize(1..5), self.random.u32(1..6));
        let now = self.now().await;
        let got = self.service.get_messages(ACCOUNT, &jobs(), count, seconds).await.expect("a list");
        let front = self.model.live(now).iter_mut().filter(|message| message.visible <= now).take(count);
        let mut expected = 0;
        for (message, got) in front.zip(&got) {
            message.dequeue_count += 1;
            message.visible = now + u64::from(seconds) * TICKS_PER_SECOND;
            message.receipt = got.receipt;
            self.receipts.push((got.id, got.receipt));
            assert_same(message, got);
            assert_eq!(got.next_visible.ticks(), message.visible);
            expected += 1;
        }
        assert_eq!(got.len(), expected, "no more than there are");
        let visible = self.model.live(now).iter().filter(|message| message.visible <= now).count();
        assert!(got.len() == count || visible == 0, "and no fewer");
    }

    async fn peek(&mut self) {
        let count = self.random.usize(1..33);
        let now = self.now().await;
        let seen = self.service.peek_messages(ACCOUNT, &jobs(), count).await.expect("a list");
        let front: Vec<_> = self.model.live(now).iter().filter(|message| message.visible <= now).take(count).collect();
        assert_eq!(seen.len(), front.len());
        front.iter().zip(&seen).for_each(|(message, seen)| assert_same(message, seen));
    }

    async fn update(&mut self) {
        let Some((id, receipt)) = self.random.choice(&self.receipts).copied() else { return };
        let text = self.random.bool().then(|| self.random.u32(..).to_string());
        let update = MessageUpdate { visibility_seconds: self.random.u32(..6), text: text.clone() };
        let now = self.now().await;
        let visible = now + u64::from(update.visibility_seconds) * TICKS_PER_SECOND;
        let updated = self.service.update_message(ACCOUNT, &jobs(), id, receipt, update).await;
        let Some(place) = self.model.find(id, receipt, now) else {
            return assert_eq!(code(updated), ErrorCode::MessageNotFound);
        };
        let message = &mut self.model.messages[place];
        if message.expires.is_some_and(|expires| visible > expires) {
            return assert_eq!(code(updated), ErrorCode::InvalidQueryParameterValue);
        }
        let updated = updated.expect("the receipt is good");
        assert_ne!(updated.receipt, receipt);
        assert_eq!(updated.next_visible.ticks(), visible);
        (message.visible, message.receipt) = (visible, updated.receipt);
        message.text = text.unwrap_or_else(|| message.text.clone());
        assert_same(message, &updated);
        self.receipts.push((id, updated.receipt));
    }

    async fn delete(&mut self) {
        let Some((id, receipt)) = self.random.choice(&self.receipts).copied() else { return };
        let now = self.now().await;
        let deleted = self.service.delete_message(ACCOUNT, &jobs(), id, receipt).await;
        match self.model.find(id, receipt, now) {
            Some(place) => {
                self.model.messages.remove(place);
                deleted.expect("the receipt is good");
            }
            None => assert_eq!(code(deleted), ErrorCode::MessageNotFound),
        }
    }

    async fn sweep_and_count(&mut self) {
        self.service.sweep().await.expect("a round");
        let now = self.now().await;
        let state = self.service.queue_metadata(ACCOUNT, &jobs()).await.expect("the queue is there");
        assert_eq!(state.messages, self.model.live(now).len() as u64);
    }

    async fn restart(&mut self) {
        self.service.close().await.expect("a clean stop");
        self.service = service_on(&self.store, self.clock.clone()).await;
    }

    async fn clear(&mut self) {
        self.service.clear_messages(ACCOUNT, &jobs()).await.expect("the queue is there");
        self.model.messages.clear();
    }

    /// The service's time, which is the insertion time of a message in another queue. It stands still while the clock does.
    async fn now(&mut self) -> u64 {
        let probe = QueueName::parse("probe").expect("a queue name");
        self.service.create_queue(ACCOUNT, &probe, &Metadata::default()).await.expect("it is there or new");
        let put = self.service.put_message(ACCOUNT, &probe, message("")).await.expect("a message is put");
        self.service.delete_message(ACCOUNT, &probe, put.id, put.receipt).await.expect("the receipt is good");
        put.inserted.ticks()
    }
}

fn assert_same(expected: &Expected, shown: &Message) {
    assert_eq!(
        (expected.id, &expected.text, expected.dequeue_count, expected.expires),
        (
            shown.id,
            &shown.text,
            shown.dequeue_count,
            Some(shown.expires.ticks()).filter(|_| expected.expires.is_some())
        )
    );
}
