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
    /// New entries of the tag index.
    Indexing,
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
            Direction::Indexing => (&reclaimer.indexing, WriteOutcome::Unsent),
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
    /// Runs the write that is to refer to everything in the intent, if there is one, and records its outcome.
    ///
    /// A rule that rejects the write is an outcome; an error of the store leaves it unknown, and so does a dropped future.
    pub(in crate::blob) async fn protect<T>(
        intent: Option<Self>,
        write: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        let Some(mut intent) = intent else { return write.await };
        intent.outcome = WriteOutcome::Unknown;
        let outcome = write.await;
        match &outcome {
            Ok(_) => intent.outcome = WriteOutcome::Kept,
            Err(Error::Refused(_)) => intent.outcome = WriteOutcome::Over,
            Err(Error::Store(_)) => {}
        }
        outcome
    }

    /// The same for a write that may find the blob changed, and then has no effect and returns `false`.
    pub(in crate::blob) async fn protect_attempt(
        intent: Option<Self>,
        write: impl Future<Output = Result<bool>> + Send,
    ) -> Result<bool> {
        let Some(mut intent) = intent else { return write.await };
        intent.outcome = WriteOutcome::Unknown;
        let outcome = write.await;
        match &outcome {
            Ok(true) => intent.outcome = WriteOutcome::Kept,
            Ok(false) => intent.outcome = WriteOutcome::Over,
            Err(_) => {}
        }
        outcome
    }

    /// Records that the write has taken effect, or never will.
    pub(in crate::blob) fn over(mut self) {
        self.outcome = WriteOutcome::Over;
    }
}

impl Drop for ReclaimIntent {
    fn drop(&mut self) {
        let Some((record, mut permit)) = self.open.take() else { return };
        // Without a runtime the process is ending, and the next one resolves the intent.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (reclaimer, key, outcome) = (Arc::clone(&self.reclaimer), std::mem::take(&mut self.key), self.outcome);
        let is_unknown = matches!(outcome, WriteOutcome::Unsent | WriteOutcome::Unknown);
        let delay = reclaimer.sharing.reclaim_delay().filter(|_| is_unknown);
        if delay.is_some() {
            // Delayed intents have permits of their own, so that abandoned requests do not block others.
            let Ok(delayed) = Arc::clone(&reclaimer.delayed).try_acquire_owned() else { return };
            permit = delayed;
        }
        runtime.spawn(async move {
            if let Some(delay) = delay {
                tokio::time::sleep(delay).await;
            }
            let ended = async {
                match (outcome, delay) {
                    (WriteOutcome::Unknown, Some(_)) => reclaimer.fence(&record).await?,
                    (WriteOutcome::Unknown, None) => reclaimer.settle(&record).await?,
                    _ => {}
                }
                if outcome != WriteOutcome::Kept {
                    reclaimer.resolve(&record).await?;
                }
                reclaimer.delete_intent(key.clone()).await
            };
            if let Err(error) = ended.await {
                // The sweep or the next start finds the intent.
                let IntentRecord { container_id, name: blob, .. } = record;
                tracing::warn!(container_id, blob, intent = ?key, %error, "reclaim failed, will retry");
            }
            drop(permit);
        });
    }
}
