//! The Queue service: queues and their messages on one store.
//!
//! All messages of a queue are one partition, each stored under the time at which it becomes visible, so the next ones
//! to give out are the first. Giving one out moves it to the time at which it becomes visible again; a pop receipt
//! names the place it was moved to, and so finds nothing once the message has moved on. See
//! `docs/decisions/0015-queues-in-order-of-visibility.md`.
//!
//! | file | owns |
//! | --- | --- |
//! | `directory.rs`, `record.rs`, `listing.rs`, `acl.rs` | queues: name to id, metadata, policies |
//! | `messages.rs`, `stored_message.rs` | put, update, delete |
//! | `get.rs`, `heads/` | get and peek, and what is remembered of the front of a queue |
//! | `count.rs` | how many messages there are |
//! | `sweep.rs` | removing expired messages |
//! | `time.rs` | the time that all of it goes by |

mod acl;
mod count;
mod directory;
mod get;
mod heads;
pub mod keys;
mod listing;
mod messages;
mod record;
mod stored_message;
mod sweep;
mod time;

use std::sync::Arc;

use tablerock_kv::{Bytes, Clock, Rng, Store};
use tablerock_protocol::{Metadata, QueueName, Service};

use crate::Result;
use crate::duty::Duty;
use crate::ids::Ids;
use crate::load::Load;

use heads::Heads;
use sweep::Sweeps;
use time::QueueTime;

pub(crate) use count::PARTS as COUNT_PARTS;
pub use directory::{Created, QueueState};
pub(crate) use keys::renumbered_key;
pub use listing::{ListedQueue, QueuePage, QueueQuery};
pub use messages::{Message, MessageUpdate, NewMessage, TimeToLive};

/// A queue's metadata and its stored access policies, from its row in the directory.
pub(crate) fn described(row: &Bytes) -> tablerock_kv::Result<(Metadata, String)> {
    let record = record::QueueRecord::decode(row)?;
    Ok((record.metadata, String::from_utf8_lossy(&record.policies).into_owned()))
}

/// A message from its record.
pub(crate) fn opened(key: &[u8], value: &Bytes) -> tablerock_kv::Result<Message> {
    Ok(stored_message::StoredMessage::decode(value)?.shown_at(keys::decode_message_key(key)?))
}

/// Ids that are taken from the store at a time.
const QUEUE_IDS_BLOCK: u64 = 32;
const MESSAGE_NUMBERS_BLOCK: u64 = 1 << 20;

/// Every rule of behaviour of the Queue service. No HTTP above it, no engine below it. A store that is
/// [exclusive](Store::is_exclusive) has one of these at a time: it remembers what it has read.
#[derive(Debug)]
pub struct QueueService {
    store: Store,
    clock: Arc<dyn Clock>,
    rng: Rng,
    time: QueueTime,
    queue_ids: Ids,
    message_numbers: Ids,
    heads: Heads,
    sweeps: Sweeps,
    sweep_duty: Duty,
    load: Load,
}

impl QueueService {
    pub async fn open(store: Store, clock: Arc<dyn Clock>, rng: Rng) -> Result<Self> {
        Ok(Self {
            time: QueueTime::open(store.clone(), clock.clone()).await?,
            queue_ids: Ids::new(store.clone(), keys::NEXT_QUEUE_ID, QUEUE_IDS_BLOCK),
            message_numbers: Ids::new(store.clone(), keys::NEXT_MESSAGE_NUMBER, MESSAGE_NUMBERS_BLOCK),
            heads: Heads::new(store.is_exclusive()),
            sweeps: Sweeps::default(),
            load: Load::new(Service::Queue, clock.clone()),
            sweep_duty: Duty::new(store.clone(), clock.clone(), crate::keys::QUEUE_SWEEP_DUTY, sweep::REST),
            store,
            clock,
            rng,
        })
    }

    /// Which queues are read and written most.
    pub fn load(&self) -> &Load {
        &self.load
    }

    /// Messages of a queue, which is one partition, are to be read.
    fn count_reads(&self, account: &str, queue: &QueueName, messages: usize) {
        self.load.read(account, queue.as_str(), "", messages.max(1) as u64);
    }

    fn count_writes(&self, account: &str, queue: &QueueName, messages: usize) {
        self.load.write(account, queue.as_str(), "", messages as u64);
    }

    /// Leaves the store as a clean stop should. Requests must have ended.
    pub async fn close(&self) -> Result<()> {
        Ok(self.time.close().await?)
    }
}
