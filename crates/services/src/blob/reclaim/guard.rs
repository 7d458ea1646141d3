//! The life of an intent: written before a change, updated with its progress, resolved when it is dropped.

use std::sync::Arc;

use tablerock_kv::Bytes;
use tokio::sync::OwnedSemaphorePermit;

use super::intent::{IntentRecord, Reclaimable};
use super::{Reclaimer, keys};
use crate::blob::BlobService;
use crate::blob::address::BlobLocation;
use crate::{Error, Result};

/// Whether an intent is about new data or replaced data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::blob) enum Direction {
    Arriving,
    Leaving,
}

/// The outcome of the write that an intent protects, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WriteOutcome {
    /// The write was not sent yet.
    Unsent,
    /// The write was sent, and its outcome is unknown.
    Unknown,
    /// The write has taken effect, or never will.
    Over,
    /// The write has taken effect, and now refers to everything in the intent.
    Kept,
}

/// An intent that is stored and not resolved. Dropping it resolves it in the background.
#[derive(Debug)]
pub(in crate::blob) struct ReclaimIntent {
    reclaimer: Arc<Reclaimer>,
    key: Bytes,
    /// `None` once it is being resolved.
    open: Option<(IntentRecord, OwnedSemaphorePermit)>,
    outcome: WriteOutcome,
}

impl BlobService {
    /// Stores the intent to reclaim what a blob has, or is about to have. `id` is one that nothing else has.
    pub(in crate::blob) async fn intend_reclaim(
        &self,
        location: &BlobLocation,
        id: u64,
        reclaimables: Vec<Reclaimable>,
        direction: Direction,
    ) -> Result<ReclaimIntent> {
        let reclaimer = Arc::clone(&self.reclaimer);
        let (permits, outcome) = match direction {
            Direction::Arriving => (&reclaimer.arriving, WriteOutcome::Unsent),
            // Stored right before the write is sent.
            Direction::Leaving => (&reclaimer.leaving, WriteOutcome::Unknown),
        };
        let permit = Arc::clone(permits).acquire_owned().await.expect("the semaphore is never closed");
        let record = IntentRecord { container_id: location.container_id, name: location.name.clone(), reclaimables };
        let key = reclaimer.sharing.reclaim_intent_key(reclaimer.clock.ticks(), id);
        let value = record.encode();
        reclaimer.store.write(&keys::intents_partition(), |tx| tx.put(key.clone(), value.clone())).await?;
        Ok(ReclaimIntent { reclaimer, key, open: Some((record, permit)), outcome })
    }

    /// Stores the intent about a content that is about to be written, under the content's own id.
    pub(in crate::blob) async fn intend_content(&self, location: &BlobLocation, content: u64) -> Result<ReclaimIntent> {
        let reclaimable = Reclaimable::Content { id: content, length: u64::MAX };
        self.intend_reclaim(location, content, vec![reclaimable], Direction::Arriving).await
    }

    /// Stores the intent about what a change is going to replace, if it replaces anything.
    pub(in crate::blob) async fn intend_replacement(
        &self,
        location: &BlobLocation,
        reclaimables: Vec<Reclaimable>,
    ) -> Result<Option<ReclaimIntent>> {
        if reclaimables.is_empty() {
            return Ok(None);
        }
        let id = self.content_ids.next().await?;
        Ok(Some(self.intend_reclaim(location, id, reclaimables, Direction::Leaving).await?))
    }
}

impl ReclaimIntent {
    /// Records that the write which is to refer to everything in the intent goes out.
    pub(in crate::blob) fn sends(&mut self) {
        self.outcome = WriteOutcome::Unknown;
    }

    /// Records the outcome of that write. A rule that rejects it is an outcome; an error of the store leaves it unknown.
    pub(in crate::blob) fn ended<T>(mut self, outcome: &Result<T>) {
        match outcome {
            Ok(_) => self.outcome = WriteOutcome::Kept,
            Err(Error::Refused(_)) => self.outcome = WriteOutcome::Over,
            Err(Error::Store(_)) => {}
        }
    }

    /// Records that the write has taken effect, or never will.
    pub(in crate::blob) fn over(mut self) {
        self.outcome = WriteOutcome::Over;
    }
}

impl Drop for ReclaimIntent {
    fn drop(&mut self) {
        let Some((record, permit)) = self.open.take() else { return };
        // Without a runtime the process is ending, and the next one resolves the intent.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (reclaimer, key, outcome) = (Arc::clone(&self.reclaimer), std::mem::take(&mut self.key), self.outcome);
        let is_unknown = matches!(outcome, WriteOutcome::Unsent | WriteOutcome::Unknown);
        if is_unknown && let Some(delay) = reclaimer.sharing.reclaim_delay() {
            // Delayed intents have permits of their own, so that abandoned requests do not block others.
            let Ok(delayed) = Arc::clone(&reclaimer.delayed).try_acquire_owned() else { return };
            runtime.spawn(async move {
                tokio::time::sleep(delay).await;
                reclaimer.resolve_or_retry(&record, key, outcome == WriteOutcome::Unknown).await;
                drop(delayed);
            });
            return;
        }
        runtime.spawn(async move {
            match outcome {
                WriteOutcome::Kept => reclaimer.delete_or_retry(&record, key).await,
                _ => reclaimer.resolve_or_retry(&record, key, false).await,
            }
            drop(permit);
        });
    }
}

impl Reclaimer {
    /// Resolves an intent, after a fence if its write may still arrive. A failure is logged: the sweep or the next start
    /// finds the intent.
    async fn resolve_or_retry(&self, intent: &IntentRecord, key: Bytes, needs_fence: bool) {
        let resolved = async {
            if needs_fence {
                self.fence(intent).await?;
            }
            self.resolve(intent).await
        };
        match resolved.await {
            Ok(()) => self.delete_or_retry(intent, key).await,
            Err(error) => {
                let IntentRecord { container_id, name: blob, .. } = intent;
                tracing::warn!(container_id, blob, ?key, %error, "reclaim failed, will retry");
            }
        }
    }

    async fn delete_or_retry(&self, intent: &IntentRecord, key: Bytes) {
        if let Err(error) = self.delete_intent(key.clone()).await {
            let IntentRecord { container_id, name: blob, .. } = intent;
            tracing::warn!(container_id, blob, ?key, %error, "deleting a reclaim intent failed, will retry");
        }
    }
}
