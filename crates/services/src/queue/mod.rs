//! The Queue service: queues and their messages on one store.
//!
//! All messages of a queue are one partition, each stored under the time at which it becomes visible, so the next ones
//! to return are the first. Get Messages moves a message to the time at which it becomes visible again. A pop receipt
//! names that key, and so finds nothing once the message has moved on. See
//! `docs/decisions/0015-queues-in-order-of-visibility.md`.
//!
//! | file | owns |
//! | --- | --- |
//! | `directory.rs`, `record.rs`, `list.rs`, `acl.rs` | queues: name to id, metadata, policies |
//! | `messages.rs`, `stored_message.rs` | put, update, delete |
//! | `get.rs`, `front_cache/` | get and peek, and the cache of a queue's front |
//! | `count.rs` | the number of messages |
//! | `sweep.rs` | removing expired messages |
//! | `time.rs` | the clock of messages, which never goes back |

mod acl;
mod count;
mod directory;
mod front_cache;
mod get;
pub mod keys;
mod list;
mod messages;
mod record;
mod stored_message;
mod sweep;
mod time;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tablerock_kv::{Bytes, Clock, Rng, Store};
use tablerock_protocol::{QueueName, Service};

use crate::Result;
use crate::ids::Ids;
use crate::load::Load;
use crate::namespace::{Directory, Namespace};
use crate::sharing::Sharing;

use front_cache::FrontCache;
use time::QueueTime;

pub(crate) use count::PARTS as COUNT_PARTS;
pub use directory::{Created, QueueState};
pub(crate) use keys::renumbered_key;
pub use list::{ListedQueue, QueuePage, QueueQuery};
pub use messages::{Message, MessageUpdate, NewMessage, TimeToLive};
pub(crate) use record::QueueRecord;

/// Decodes a message from its record.
pub(crate) fn opened(key: &[u8], value: &Bytes) -> tablerock_kv::Result<Message> {
    Ok(stored_message::StoredMessage::decode(value)?.shown_at(keys::decode_message_key(key)?))
}

/// Message numbers that are taken from the store at a time.
const MESSAGE_NUMBERS_BLOCK: u64 = 1 << 20;

/// Every rule of behaviour of the Queue service, without HTTP and without an engine. A process opens one per store: it
/// caches the fronts of queues.
#[derive(Debug)]
pub struct QueueService {
    store: Store,
    clock: Arc<dyn Clock>,
    rng: Rng,
    time: QueueTime,
    directory: Directory,
    message_numbers: Ids,
    front_cache: FrontCache,
    /// All messages that expired before this time are gone.
    swept_until: AtomicU64,
    load: Load,
}

impl QueueService {
    pub async fn open(store: Store, clock: Arc<dyn Clock>, rng: Rng) -> Result<Self> {
        Ok(Self {
            time: QueueTime::open(store.clone(), clock.clone()).await?,
            directory: Directory::new(&store, &clock, Namespace::Queues, sweep::PERIOD),
            message_numbers: Ids::new(store.clone(), keys::NEXT_MESSAGE_NUMBER, MESSAGE_NUMBERS_BLOCK),
            front_cache: FrontCache::new(Sharing::of(&store)),
            swept_until: AtomicU64::new(0),
            load: Load::new(Service::Queue, clock.clone()),
            store,
            clock,
            rng,
        })
    }

    /// The queues that are read and written most.
    pub fn load(&self) -> &Load {
        &self.load
    }

    /// Counts reads of a queue, which is one partition.
    fn count_reads(&self, account: &str, queue: &QueueName, messages: usize) {
        self.load.read(account, queue.as_str(), "", messages.max(1) as u64);
    }

    fn count_writes(&self, account: &str, queue: &QueueName, messages: usize) {
        self.load.write(account, queue.as_str(), "", messages as u64);
    }

    /// Prepares the store for a clean stop. Requests must have ended.
    pub async fn close(&self) -> Result<()> {
        Ok(self.time.close().await?)
    }
}
