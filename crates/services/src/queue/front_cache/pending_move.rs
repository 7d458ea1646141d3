//! Writes of messages on their way to disk.

use std::sync::Arc;

use tablerock_kv::{Bytes, Error, Store};

use super::Heads;
use super::head::Head;
use crate::queue::keys::{self, MessageKey};

/// A write under way, which takes messages that were claimed from their places and puts messages in others.
///
/// A client that goes away drops the request with the write in the middle of it. The engine may have accepted the
/// write by then and make it durable later, so a task of its own waits until that is settled, and then tells the head.
#[derive(Debug)]
pub(in crate::queue) struct Flight {
    heads: Heads,
    store: Store,
    queue_id: u64,
    claims: Option<(Arc<Head>, Vec<MessageKey>)>,
    landing: Vec<MessageKey>,
    is_over: bool,
}

impl Flight {
    /// Announces a write that puts messages in these places.
    pub(in crate::queue) fn start(heads: &Heads, store: &Store, queue_id: u64, landing: Vec<MessageKey>) -> Self {
        Self { heads: heads.clone(), store: store.clone(), queue_id, claims: None, landing, is_over: false }
    }

    /// The same for a write that takes the messages away from where they were claimed.
    #[must_use]
    pub(in crate::queue) fn taking(mut self, head: Arc<Head>, claimed: Vec<MessageKey>) -> Self {
        self.claims = Some((head, claimed));
        self
    }

    /// The write has returned. If it failed, what was claimed is still where it was.
    pub(in crate::queue) fn over(mut self, succeeded: bool) {
        self.is_over = true;
        self.settle(succeeded);
    }

    fn settle(&mut self, succeeded: bool) {
        if let Some((head, claimed)) = self.claims.take() {
            head.unclaim(&claimed);
            if !succeeded {
                self.landing.extend(claimed);
            }
        }
        if let Some(head) = self.heads.find(self.queue_id) {
            self.landing.drain(..).for_each(|key| head.landed(key));
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

impl Drop for Flight {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let mut flight = Self {
            heads: self.heads.clone(),
            store: self.store.clone(),
            queue_id: self.queue_id,
            claims: self.claims.take(),
            landing: std::mem::take(&mut self.landing),
            is_over: true,
        };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return flight.settle(false) };
        runtime.spawn(async move {
            flight.wait().await;
            flight.settle(false);
        });
    }
}
