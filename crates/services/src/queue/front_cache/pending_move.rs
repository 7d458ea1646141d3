//! Writes of messages that are not known to be durable.

use std::sync::Arc;

use tablerock_kv::{Bytes, Error, Store};

use super::FrontCache;
use super::queue_front::QueueFront;
use crate::Result;
use crate::queue::keys::{self, MessageKey};

/// A write in progress that moves claimed messages to other keys, or adds a message.
///
/// A client that disconnects drops the request in the middle of its write. The engine may have accepted the write by
/// then and make it durable later, so a task waits until that is decided, and then updates the front.
#[derive(Debug)]
pub(in crate::queue) struct PendingMove {
    /// `None` once the write is over.
    open: Option<OpenMove>,
}

#[derive(Debug)]
struct OpenMove {
    front_cache: FrontCache,
    store: Store,
    queue_id: u64,
    claims: Option<(Arc<QueueFront>, Vec<MessageKey>)>,
    targets: Vec<MessageKey>,
}

impl PendingMove {
    /// Announces a write that puts messages at these keys.
    pub(in crate::queue) fn to(
        targets: Vec<MessageKey>,
        queue_id: u64,
        front_cache: &FrontCache,
        store: &Store,
    ) -> Self {
        let (front_cache, store) = (front_cache.clone(), store.clone());
        Self { open: Some(OpenMove { front_cache, store, queue_id, claims: None, targets }) }
    }

    /// Announces that the write also removes the messages from the keys where they were claimed.
    #[must_use]
    pub(in crate::queue) fn of_claimed(mut self, front: Arc<QueueFront>, claimed: Vec<MessageKey>) -> Self {
        if let Some(open) = &mut self.open {
            open.claims = Some((front, claimed));
        }
        self
    }

    /// Runs the write, which is a transaction. If it fails, the claimed messages are where they were.
    pub(in crate::queue) async fn commit<T>(mut self, write: impl Future<Output = Result<T>>) -> Result<T> {
        let outcome = write.await;
        if let Some(open) = self.open.take() {
            open.end(outcome.is_ok());
        }
        outcome
    }
}

impl OpenMove {
    fn end(mut self, succeeded: bool) {
        if let Some((front, claimed)) = self.claims.take() {
            front.unclaim(&claimed);
            if !succeeded {
                self.targets.extend(claimed);
            }
        }
        if let Some(front) = self.front_cache.find(self.queue_id) {
            self.targets.drain(..).for_each(|key| front.committed(key));
        }
    }

    /// Waits until no write to these keys is still to become durable.
    async fn wait(&self) {
        let claimed = self.claims.iter().flat_map(|(_, claimed)| claimed);
        let keys: Vec<Bytes> = claimed.chain(&self.targets).map(|key| keys::message_key(*key)).collect();
        let partition = keys::messages_partition(self.queue_id);
        if let Err(error) = self.store.transact(&partition, keys, |_| Ok::<_, Error>(())).await {
            let (queue_id, messages) = (self.queue_id, &self.targets);
            tracing::warn!(queue_id, ?messages, %error, "the outcome of an abandoned write of messages is unknown");
        }
    }
}

impl Drop for PendingMove {
    fn drop(&mut self) {
        let Some(open) = self.open.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return open.end(false) };
        runtime.spawn(async move {
            open.wait().await;
            open.end(false);
        });
    }
}
