//! Changes that replace the content of a blob.
//!
//! Such a change is decided on durable state: the record of the blob and its uncommitted blocks. The intent to reclaim
//! what it replaces is stored next, in another partition. Then one transaction commits the change if the blob is exactly
//! as it was read; if another writer came first, all of it begins again.
//!
//! The store's own retry loop cannot do that: it repeats a decision within one partition, on values that need not be
//! durable yet. Here each attempt also stores an intent, and reads lists of pieces. So [`Attempts`] bounds a second loop,
//! around the store's.

use std::time::Duration;

use tablerock_kv::{Bytes, Error as StoreError, Rng, Transaction};
use tablerock_protocol::blob::KeyDigest;

use super::address::BlobLocation;
use super::blocks::{BlocksHeader, UncommittedBlock};
use super::lease::Lease;
use super::reclaim::{ReclaimIntent, Reclaimable};
use super::stored_blob::Blob;
use super::usage::Usage;
use super::{BlobService, keys, tag_index};
use crate::Result;

/// Attempts at a change before the request fails with `ServerBusy`.
const ATTEMPTS_MAX: u32 = 100;

/// The longest pause between two attempts, in which the writer that came first becomes durable.
const PAUSE_MS_MAX: u64 = 8;

/// The state that a change is decided on.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) base: Option<Bytes>,
    pub(super) header: Option<Bytes>,
    pub(super) blob: Option<Blob>,
    pub(super) blocks: Vec<UncommittedBlock>,
    /// The lease on the name: that of the blob, or of the blocks if there is no blob.
    pub(super) lease: Option<Lease>,
    /// The digest of the customer's key of the uncommitted blocks.
    pub(super) blocks_key_digest: Option<KeyDigest>,
}

/// The state after a change.
#[derive(Debug)]
pub(super) struct BlobChange {
    /// The blob itself; `None` deletes it.
    pub(super) blob: Option<Blob>,
    /// Other records of its partition.
    pub(super) puts: Vec<(Bytes, Bytes)>,
    pub(super) deletes: Vec<Bytes>,
    /// The contents and lists of pieces that the blob no longer needs, unless another of its records refers to them.
    pub(super) leaves: Vec<Reclaimable>,
    /// Whether the uncommitted blocks go; their content must be in `leaves` or in the new blob then.
    pub(super) drops_blocks: bool,
}

impl Seen {
    /// The same state with another record of the blob, which was read later.
    pub(super) fn with_base(&self, base: Option<Bytes>) -> Result<Self> {
        let blob = base.as_ref().map(Blob::decode).transpose()?;
        let lease = match &blob {
            Some(blob) => blob.lease,
            None => self.header.as_ref().map(BlocksHeader::decode).transpose()?.and_then(|header| header.lease),
        };
        Ok(Self { base, blob, lease, ..self.clone() })
    }

    /// The change of the container's usage when the blob becomes this one.
    pub(super) fn usage_change(&self, blob: Option<&Blob>, drops_blocks: bool) -> Usage {
        let length = |blob: Option<&Blob>| blob.map_or(0, Usage::bytes_of);
        let dropped: u64 = self.blocks.iter().filter(|_| drops_blocks).map(|block| block.length).sum();
        let had_blocks = !self.blocks.is_empty();
        let objects = (self.blob.is_some() || had_blocks, blob.is_some() || had_blocks && !drops_blocks);
        Usage::change((length(self.blob.as_ref()) + dropped, length(blob)), objects)
    }
}

impl BlobChange {
    /// Replaces a blob and its uncommitted blocks, all of whose content goes.
    pub(super) fn replacing(seen: &Seen, blob: Option<Blob>) -> Self {
        let mut leaves: Vec<Reclaimable> = seen.blob.as_ref().and_then(Reclaimable::of).into_iter().collect();
        leaves.extend(seen.blocks.iter().map(UncommittedBlock::reclaimable));
        Self { blob, puts: vec![], deletes: vec![], leaves, drops_blocks: true }
    }

    /// Leaves the uncommitted blocks as they are.
    pub(super) fn beside_blocks(blob: Option<Blob>) -> Self {
        Self { blob, puts: vec![], deletes: vec![], leaves: vec![], drops_blocks: false }
    }
}

/// The attempts at one change.
#[derive(Debug, Default)]
pub(super) struct Attempts(u32);

impl Attempts {
    /// Waits for the writer that came first; fails after too many attempts.
    pub(super) async fn again(&mut self, rng: &Rng) -> Result<()> {
        self.0 += 1;
        if self.0 == ATTEMPTS_MAX {
            return Err(StoreError::unavailable("a blob is changed too often by others; retry later").into());
        }
        tokio::time::sleep(Duration::from_millis(1 + rng.below(PAUSE_MS_MAX))).await;
        Ok(())
    }
}

impl BlobService {
    /// Decides and commits a change. `decide` runs again when another writer came first.
    pub(super) async fn change<T>(
        &self,
        place: &BlobLocation,
        mut decide: impl FnMut(&Seen) -> Result<(BlobChange, T)> + Send,
    ) -> Result<T> {
        let mut attempts = Attempts::default();
        loop {
            self.timestamps.reserve().await?;
            let seen = self.look(place).await?;
            let (change, outcome) = decide(&seen)?;
            if self.commit_change(place, &seen, change).await? {
                return Ok(outcome);
            }
            attempts.again(&self.rng).await?;
        }
    }

    /// Reads the state that a change is decided on.
    pub(super) async fn look(&self, place: &BlobLocation) -> Result<Seen> {
        let [base, header] = self.records_at(place, record_keys()).await?;
        let blob = base.as_ref().map(Blob::decode).transpose()?;
        let blocks = match &header {
            None => vec![],
            Some(_) => UncommittedBlock::read_all(&self.store, &place.partition).await?,
        };
        let blocks_header = header.as_ref().map(BlocksHeader::decode).transpose()?;
        let blocks_key_digest = blocks_header.as_ref().and_then(|header| header.key_digest);
        let lease = match &blob {
            Some(blob) => blob.lease,
            None => blocks_header.and_then(|header| header.lease),
        };
        Ok(Seen { base, header, blob, blocks, lease, blocks_key_digest })
    }

    /// Whether the durable state is still the one that was seen.
    pub(super) async fn is_current(&self, place: &BlobLocation, seen: &Seen) -> Result<bool> {
        let [base, header] = self.records_at(place, record_keys()).await?;
        Ok(base == seen.base && header == seen.header)
    }

    /// Commits a change; `false` if the blob is not as it was read.
    pub(super) async fn commit_change(&self, place: &BlobLocation, seen: &Seen, change: BlobChange) -> Result<bool> {
        let BlobChange { mut blob, puts, deletes, mut leaves, drops_blocks } = change;
        let indexing = match &mut blob {
            Some(blob) if tag_index::is_missing(blob) => Some(self.index_tags(place, blob).await?),
            _ => None,
        };
        leaves.extend(tag_index::left(seen.blob.as_ref(), blob.as_ref()));
        let intent = self.intend_replacement(place, leaves).await?;
        let record = blob.as_ref().map(Blob::encode);
        let [base_key, header_key] = record_keys();
        let decide = |tx: &mut Transaction| -> Result<bool, StoreError> {
            if tx.get(&base_key) != seen.base.as_ref() || tx.get(&header_key) != seen.header.as_ref() {
                return Ok(false);
            }
            match &record {
                Some(record) => tx.put(base_key.clone(), record.clone()),
                None => tx.delete(base_key.clone()),
            }
            if drops_blocks && seen.header.is_some() {
                tx.delete(header_key.clone());
                seen.blocks.iter().for_each(|block| tx.delete(keys::block_key(block.id.as_bytes())));
            }
            puts.iter().for_each(|(key, value)| tx.put(key.clone(), value.clone()));
            deletes.iter().for_each(|key| tx.delete(key.clone()));
            Ok(true)
        };
        let read = [(base_key.clone(), seen.base.clone()), (header_key.clone(), seen.header.clone())].into();
        let pending = place.begin_change();
        let commit = async { Ok(self.store.transact_seen(&place.partition, read, decide).await?) };
        let committed = ReclaimIntent::protect_attempt(indexing, commit).await;
        if let (Some(pending), Ok(is_committed)) = (pending, &committed) {
            pending.settle(if *is_committed {
                seen.usage_change(blob.as_ref(), drops_blocks)
            } else {
                Usage::default()
            });
        }
        // With a known outcome the intent can be resolved at once, whichever it was.
        if let (Some(intent), Ok(_)) = (intent, &committed) {
            intent.over();
        }
        committed
    }
}

/// The keys of the records that a change is decided on.
fn record_keys() -> [Bytes; 2] {
    [Bytes::from_static(keys::BASE_KEY), Bytes::from_static(keys::BLOCKS_KEY)]
}
