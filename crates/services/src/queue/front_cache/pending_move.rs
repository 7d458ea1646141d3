//! Writes of messages on their way to disk.

use std::sync::Arc;

use tablerock_kv::{Bytes, Error, Store};

use super::FrontCache;
use super::queue_front::QueueFront;
use crate::queue::keys::{self, MessageKey};

/// A write under way, which takes messages that were claimed from their places and puts messages in others.
///
/// A client that goes away drops the request with the write in the middle of it. The engine may have accepted the
/// write by then and make it durable later, so a task of its own waits until that is settled, and then tells the front.
#[derive(Debug)]
pub(in crate::queue) struct PendingMove {
    front_cache: FrontCache,
    store: Store,
    queue_id: u64,
    claims: Option<(Arc<QueueFront>, Vec<MessageKey>)>,
    landing: Vec<MessageKey>,
    is_over: bool,
}

impl PendingMove {
    /// Announces a write that puts messages in these places.
    pub(in crate::queue) fn start(
        front_cache: &FrontCache,
        store: &Store,
        queue_id: u64,
        landing: Vec<MessageKey>,
    ) -> Self {
        Self { front_cache: front_cache.clone(), store: store.clone(), queue_id, claims: None, landing, is_over: false }
    }

    /// The same for a write that takes the messages away from where they were claimed.
    #[must_use]
    pub(in crate::queue) fn taking(mut self, front: Arc<QueueFront>, claimed: Vec<MessageKey>) -> Self {
        self.claims = Some((front, claimed));
        self
    }

    /// The write has returned. If it failed, what was claimed is still where it was.
    pub(in crate::queue) fn finish(mut self, succeeded: bool) {
        self.is_over = true;
        self.settle(succeeded);
    }

    fn settle(&mut self, succeeded: bool) {
        if let Some((front, claimed)) = self.claims.take() {
            front.unclaim(&claimed);
            if !succeeded {
                self.landing.extend(claimed);
            }
        }
        if let Some(front) = self.front_cache.find(self.queue_id) {
            self.landing.drain(..).for_each(|key| front.committed(key));
        }
    }

    /// Waits until nothing about these places is still to become durable.
    async fn wait(&self) {
        let claimed = self.claims.iter().flat_map(|(_, claimed)| claimed);
        let places: Vec<Bytes> = claimed.chain(&self.landing).map(|key| keys::message_key(*key)).collect();
        let partition = keys::messages_partition(self.queue_id);
        let seen = self.store.transact(&partition, places, |_| Ok::<_, Error>(())).await;
        if let Err(error) = seen {
            tracing::warn!(%error, "nobody knows what became of an abandoned write of a message");
        }
    }
}

impl Drop for PendingMove {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let mut pending = Self {
            front_cache: self.front_cache.clone(),
            store: self.store.clone(),
            queue_id: self.queue_id,
            claims: self.claims.take(),
            landing: std::mem::take(&mut self.landing),
            is_over: true,
        };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return pending.settle(false) };
        runtime.spawn(async move {
            pending.wait().await;
            pending.settle(false);
        });
    }
}
