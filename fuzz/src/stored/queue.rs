//! Records of the queue directory, messages, and how many there are.

use std::sync::Arc;

use bytes::Bytes;
use tablerock_kv::{ManualClock, Rng, Store};
use tablerock_protocol::{Metadata, QueueName};
use tablerock_services::QueueService;
use tablerock_services::namespace::Namespace;
use tablerock_services::queue::{NewMessage, QueueQuery, TimeToLive, keys};

use super::{replace, unless_corrupt, unless_refused};
use crate::known_table::{ACCOUNT, NOON};

const HIDDEN_SECONDS: u32 = 30;

pub(super) async fn check_record(stored: &Bytes) {
    let (store, service, name) = known_queue().await;
    replace(&store, &Namespace::Queues.directory(ACCOUNT), b"", stored).await;

    let metadata = unless_corrupt(service.queue_metadata(ACCOUNT, &name).await);
    let policies = unless_corrupt(service.queue_acl(ACCOUNT, &name).await);
    unless_corrupt(service.list_queues(ACCOUNT, &QueueQuery::default()).await);
    let (Some(_), Some(policies)) = (metadata, policies) else { return };
    service.set_queue_acl(ACCOUNT, &name, &policies).await.expect("a record that was read is written");
    assert_eq!(service.queue_acl(ACCOUNT, &name).await.expect("just written"), policies);
    service.delete_queue(ACCOUNT, &name).await.expect("a queue that is there");
}

/// A message that can be peeked is given out as it was, once more often; and goes with its receipt.
pub(super) async fn check_message(stored: &Bytes) {
    let (store, service, name) = known_queue().await;
    replace(&store, &keys::messages_partition(FIRST_QUEUE), b"v", stored).await;

    let peeked = unless_corrupt(service.peek_messages(ACCOUNT, &name, 32).await);
    let given = unless_corrupt(service.get_messages(ACCOUNT, &name, 32, HIDDEN_SECONDS).await);
    unless_corrupt(service.sweep().await);
    let (Some(peeked), Some(given)) = (peeked, given) else { return };
    assert_eq!(peeked.len(), given.len());
    for (seen, message) in peeked.iter().zip(given) {
        assert_eq!((seen.id, &seen.text, seen.inserted), (message.id, &message.text, message.inserted));
        assert_eq!(message.dequeue_count, seen.dequeue_count.saturating_add(1));
        unless_refused(service.delete_message(ACCOUNT, &name, message.id, message.receipt).await);
    }
}

pub(super) async fn check_count(stored: &Bytes) {
    let (store, service, name) = known_queue().await;
    replace(&store, &keys::messages_partition(FIRST_QUEUE), b"c", stored).await;

    unless_corrupt(service.queue_metadata(ACCOUNT, &name).await);
    unless_corrupt(service.put_message(ACCOUNT, &name, message()).await);
}

/// The id of the first queue of a store.
const FIRST_QUEUE: u64 = 1;

/// A queue with a message.
async fn known_queue() -> (Store, QueueService, QueueName) {
    let store = Store::in_memory();
    let clock = Arc::new(ManualClock::at(NOON));
    let service = QueueService::open(store.clone(), clock, Rng::seeded(1)).await.expect("an empty store");
    let name = QueueName::parse("known").expect("a name");
    service.create_queue(ACCOUNT, &name, &Metadata::default()).await.expect("an empty store");
    service.put_message(ACCOUNT, &name, message()).await.expect("a queue that is there");
    (store, service, name)
}

fn message() -> NewMessage {
    NewMessage { text: "known".to_owned(), visibility_seconds: 0, time_to_live: TimeToLive::Forever }
}
