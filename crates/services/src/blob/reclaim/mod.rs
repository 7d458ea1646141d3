//! Reclaiming space that no blob refers to, also after an interruption.
//!
//! Contents and lists of pieces are written before the record that refers to them, and deleted after it. In between they
//! could leak, so an *intent* names them: durable before the first byte is written or the last reference goes, and
//! deleted once each of them is either referred to or gone. If a dropped connection, an error or the end of the process
//! interrupts that, the intent is resolved later: in the background, or at the next start. To resolve an intent is to
//! examine what the blob refers to, so it is correct in every case, and may be done twice.
//!
//! To examine a blob is to read durable records. A write whose client went away may have been accepted and not be durable
//! yet, so before its intent is resolved, the blob is [settled](fence): everything accepted before is durable then.
//!
//! A store that servers share differs in two ways. A write that failed, or whose client went away, may still be on its
//! way to the database. It gets time to arrive, but no time is long enough: a commit that waits for a standby has no
//! bound. So before its intent is resolved, the blob is [fenced](fence): whatever was decided before finds it changed,
//! and is rejected when it arrives. Without a fence the intent stays. And a start resolves nothing, because other
//! servers are at work; the sweep resolves intents that are older than any request.
//!
//! | file | owns |
//! | --- | --- |
//! | `intent.rs` | the stored form: what may have to go |
//! | `guard.rs` | the life of an intent during a request, and the permits that bound it |
//! | `resolve.rs` | finding out what the blob still refers to |
//! | `delete.rs` | deleting contents and layouts |
//! | `pages.rs` | deleting and merging layers of pages |
//! | `fence.rs` | waiting for writes that were accepted, and rejecting those that arrive late |

mod delete;
mod fence;
mod guard;
mod intent;
mod pages;
mod resolve;

use std::sync::Arc;

use tablerock_kv::{Bytes, Clock, Range, Result, Store};
use tokio::sync::Semaphore;

use super::address::BlobLocation;
use super::keys;
use crate::sharing::Sharing;
use crate::work_lease::WorkLease;

pub(super) use guard::{Direction, ReclaimIntent};
use intent::IntentRecord;
pub(super) use intent::Reclaimable;

/// Open intents for new contents, and as many for replaced ones. Further requests wait.
const INTENTS_MAX: usize = 1024;

/// Intents that wait for a late write to arrive. Any beyond that stay as if their server had died.
const DELAYED_MAX: usize = 16 * 1024;

/// Writes and resolves intents.
#[derive(Debug)]
pub(super) struct Reclaimer {
    store: Store,
    clock: Arc<dyn Clock>,
    sharing: Sharing,
    /// Several semaphores, because a write may hold a permit of one and wait for one of a later one, never the other way
    /// round.
    arriving: Arc<Semaphore>,
    /// For the entries of tags: taken with a permit of the first, and before one of the last.
    indexing: Arc<Semaphore>,
    leaving: Arc<Semaphore>,
    delayed: Arc<Semaphore>,
}

impl Reclaimer {
    pub(super) fn new(store: Store, clock: Arc<dyn Clock>) -> Arc<Self> {
        let semaphore = |permits| Arc::new(Semaphore::new(permits));
        Arc::new(Self {
            sharing: Sharing::of(&store),
            store,
            clock,
            arriving: semaphore(INTENTS_MAX),
            indexing: semaphore(INTENTS_MAX),
            leaving: semaphore(INTENTS_MAX),
            delayed: semaphore(DELAYED_MAX),
        })
    }

    /// Waits until all work in the background is done.
    pub(super) async fn rest(&self) {
        for permits in [&self.arriving, &self.indexing, &self.leaving] {
            drop(permits.acquire_many(INTENTS_MAX as u32).await.expect("the semaphore is never closed"));
        }
    }

    /// Resolves the intents that the last process left. For the start, before anything is written.
    pub(super) async fn resolve_at_start(&self) -> Result<()> {
        self.resolve_range(self.sharing.intents_at_start(), None).await
    }

    /// Resolves the intents of servers that died, for as long as this server holds the lease.
    pub(super) async fn resolve_abandoned(&self, lease: &WorkLease) -> Result<()> {
        self.resolve_range(self.sharing.intents_abandoned(self.clock.ticks()), Some(lease)).await
    }

    async fn resolve_range(&self, range: Option<Range>, lease: Option<&WorkLease>) -> Result<()> {
        let Some(range) = range else { return Ok(()) };
        let mut records = self.store.records(range);
        while let Some(record) = records.next().await? {
            let intent = IntentRecord::decode(&record.value)?;
            if let Some(lease) = lease {
                if !lease.renew().await? {
                    return Ok(());
                }
                self.fence(&intent).await?;
            }
            self.resolve(&intent).await?;
            self.delete_intent(record.key).await?;
        }
        Ok(())
    }

    async fn fence(&self, intent: &IntentRecord) -> Result<()> {
        fence::fence(&self.store, self.clock.ticks(), &BlobLocation::new(intent.container_id, &intent.name)).await
    }

    async fn settle(&self, intent: &IntentRecord) -> Result<()> {
        fence::settle(&self.store, &BlobLocation::new(intent.container_id, &intent.name)).await
    }

    async fn delete_intent(&self, key: Bytes) -> Result<()> {
        self.store.write(&keys::intents_partition(), |tx| tx.delete(key.clone())).await
    }
}
