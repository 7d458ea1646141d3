//! Queues with their metadata, policies and messages.

use tablerock_protocol::xml::{ServiceProperties, StoredAccessPolicies};
use tablerock_protocol::{Metadata, QueueName, Service};
use tablerock_server::Server;
use tablerock_services::queue::{Message, NewMessage, QueueQuery, QueueState, TimeToLive};

use super::Places;
use crate::known_table::ACCOUNT;

const QUEUE: &str = "jobs";
const HIDDEN_SECONDS: u32 = 30;

#[derive(Debug, PartialEq)]
pub(in crate::request) struct State {
    queues: Vec<(String, QueueState, StoredAccessPolicies, Vec<Message>)>,
    settings: ServiceProperties,
}

impl State {
    pub(super) async fn of(server: &Server) -> Self {
        let mut queues = Vec::new();
        for name in names(server).await {
            let state = server.queues.queue_metadata(ACCOUNT, &name).await.expect("a queue that was listed");
            let policies = server.queues.queue_acl(ACCOUNT, &name).await.expect("a queue's policies");
            let messages = server.queues.peek_messages(ACCOUNT, &name, 32).await.expect("a queue's messages");
            queues.push((name.to_string(), state, policies, messages));
        }
        Self { queues, settings: super::settings(server, Service::Queue).await }
    }
}

async fn names(server: &Server) -> Vec<QueueName> {
    let page = server.queues.list_queues(ACCOUNT, &QueueQuery::default()).await.expect("the list of queues");
    page.queues.iter().map(|queue| QueueName::parse(&queue.name).expect("a name that was taken")).collect()
}

/// One queue with a message that was given out and one that waits.
pub(super) async fn fill(server: &Server) -> Places {
    let name = QueueName::parse(QUEUE).expect("a name");
    let metadata = Metadata::new(vec![("Color".to_owned(), "red".to_owned())]).expect("metadata");
    server.queues.create_queue(ACCOUNT, &name, &metadata).await.expect("a new queue");
    for text in ["first", "second"] {
        let message =
            NewMessage { text: text.to_owned(), visibility_seconds: 0, time_to_live: TimeToLive::Seconds(3600) };
        server.queues.put_message(ACCOUNT, &name, message).await.expect("a queue that is there");
    }
    let given = server.queues.get_messages(ACCOUNT, &name, 1, HIDDEN_SECONDS).await.expect("a message that waits");
    let receipt = given[0].receipt.to_string().replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
    vec![("message-of-ours", given[0].id.to_string()), ("receipt-of-ours", receipt)]
}

pub(super) async fn clear(server: &Server) {
    for name in names(server).await {
        server.queues.delete_queue(ACCOUNT, &name).await.expect("a queue that was listed");
    }
}
