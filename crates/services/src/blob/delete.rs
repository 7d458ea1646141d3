//! Delete Blob.

use tablerock_kv::{Bytes, Transaction};
use tablerock_protocol::{DateTime, ErrorCode, Keyword};

use super::address::{BlobAddress, BlobLocation, WriteTerms, check_tags};
use super::change::{Attempts, BlobChange, Seen};
use super::lease::{self, Leased};
use super::reclaim::Reclaimable;
use super::stored_blob::Blob;
use super::usage::Usage;
use super::{BlobService, keys, tag_index};
use crate::{Error, Result};

/// How a deletion treats the snapshots of a blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteSnapshots {
    /// There must not be any.
    Refuse,
    /// They go with the blob.
    Include,
    /// They go, and the blob stays.
    Only,
}

impl Keyword for DeleteSnapshots {
    const WORDS: &'static [(&'static str, Self)] = &[("include", Self::Include), ("only", Self::Only)];
}

/// The snapshots of a blob, as far as they are durable.
type Snapshots = Vec<(Bytes, Blob)>;

/// The durable state that one attempt at a deletion rests on.
struct Plan {
    seen: Seen,
    found: Snapshots,
    /// Whether the transaction reads the snapshots too, so that the blob's own record may be another one.
    heeds_newest: bool,
}

impl Plan {
    fn reads(&self) -> Vec<Bytes> {
        // The header of blocks is read for the fence of stores that servers share, also where no blocks go.
        let mut reads = vec![Bytes::from_static(keys::BASE_KEY), Bytes::from_static(keys::BLOCKS_KEY)];
        if self.heeds_newest {
            reads.extend(self.found.iter().map(|(key, _)| key.clone()));
        }
        reads
    }

    /// Whether the snapshots that were found are those of the newest record: all of them are there, and it has no others.
    fn has_all_snapshots(&self, newest: &Seen, tx: &Transaction) -> bool {
        let count = newest.blob.as_ref().map_or(0, |blob| blob.snapshots);
        count == self.found.len() as u64
            && (self.found.is_empty() || self.heeds_newest && self.found.iter().all(|(key, _)| tx.get(key).is_some()))
    }
}

impl BlobService {
    pub async fn delete_blob(&self, at: BlobAddress<'_>, terms: &WriteTerms, snapshots: DeleteSnapshots) -> Result<()> {
        let place = self.place_to_write(at).await?;
        self.delete_with(&place, snapshots != DeleteSnapshots::Refuse, |seen, found| {
            decide_delete(seen, found, terms, snapshots, self.clock.ticks())
        })
        .await
    }

    /// Deletes one snapshot. The lease of the blob does not protect it. Decides on the newest record of the blob: one that
    /// writers change all the time is never as it was read.
    pub async fn delete_snapshot(&self, at: BlobAddress<'_>, terms: &WriteTerms, taken: DateTime) -> Result<()> {
        let place = self.place_to_write(at).await?;
        // What a snapshot refers to does not change, except for the layers of pages, which their cleanup finds by itself.
        let seen = self.stored_blob(&place, Some(taken)).await?.ok_or(ErrorCode::BlobNotFound)?;
        let intent = self.intend_replacement(&place, Reclaimable::of(&seen).into_iter().collect()).await?;
        let key = keys::snapshot_key(taken.ticks());
        // The header of blocks is read for the fence of stores that servers share.
        let (base_key, header_key) = (Bytes::from_static(keys::BASE_KEY), Bytes::from_static(keys::BLOCKS_KEY));
        let decide = |tx: &mut Transaction| -> Result<()> {
            let snapshot = Blob::decode(tx.get(&key).ok_or(ErrorCode::BlobNotFound)?)?;
            terms.check_snapshot(&snapshot, self.clock.ticks())?;
            if let Some(mut blob) = tx.get(&base_key).map(Blob::decode).transpose()? {
                blob.snapshots = blob.snapshots.saturating_sub(1);
                tx.put(base_key.clone(), blob.encode());
            }
            tx.delete(key.clone());
            Ok(())
        };
        let reads = vec![base_key.clone(), header_key, key.clone()];
        let deleted = self.store.transact(&place.partition, reads, decide).await;
        if let (Some(intent), Ok(()) | Err(Error::Refused(_))) = (intent, &deleted) {
            intent.over();
        }
        deleted
    }

    /// Decides and commits a deletion, with the blob's snapshots at hand if they are needed.
    async fn delete_with(
        &self,
        place: &BlobLocation,
        needs_snapshots: bool,
        mut decide: impl FnMut(&Seen, &Snapshots) -> Result<BlobChange> + Send,
    ) -> Result<()> {
        let mut attempts = Attempts::default();
        let mut plan = Plan { seen: self.look(place).await?, found: vec![], heeds_newest: false };
        loop {
            plan.found = match &plan.seen.blob {
                Some(blob) if needs_snapshots && blob.snapshots > 0 => self.snapshots_of(place).await?,
                _ => vec![],
            };
            if self.commit_deletion(place, &plan, &mut decide).await? {
                return Ok(());
            }
            attempts.again(&self.rng).await?;
            plan = Plan { seen: self.look(place).await?, heeds_newest: true, ..plan };
        }
    }

    /// Commits a deletion of the newest record of the blob; `false` if too much has changed since the plan was made. Writers
    /// that change the record all the time do not prevent it, as long as its content has the same name.
    async fn commit_deletion(
        &self,
        place: &BlobLocation,
        plan: &Plan,
        decide: &mut (impl FnMut(&Seen, &Snapshots) -> Result<BlobChange> + Send),
    ) -> Result<bool> {
        let planned = leaves(&plan.seen, &decide(&plan.seen, &plan.found)?);
        let intent = self.intend_replacement(place, planned.clone()).await?;
        let (base_key, header_key) = (Bytes::from_static(keys::BASE_KEY), Bytes::from_static(keys::BLOCKS_KEY));
        let mut usage = Usage::default();
        let commit = |tx: &mut Transaction| -> Result<bool> {
            let (base, header) = (tx.get(&base_key).cloned(), tx.get(&header_key).cloned());
            let changed = if base == plan.seen.base { None } else { Some(plan.seen.with_base(base)?) };
            let newest = changed.as_ref().unwrap_or(&plan.seen);
            if changed.is_some() && !plan.has_all_snapshots(newest, tx) {
                return Ok(false);
            }
            let change = decide(newest, &plan.found)?;
            let drops_blocks = change.drops_blocks;
            if drops_blocks && header != plan.seen.header || !covers(&planned, &leaves(newest, &change)) {
                return Ok(false);
            }
            match &change.blob {
                Some(blob) => tx.put(base_key.clone(), blob.encode()),
                None => tx.delete(base_key.clone()),
            }
            if drops_blocks && header.is_some() {
                tx.delete(header_key.clone());
                newest.blocks.iter().for_each(|block| tx.delete(keys::block_key(block.id.as_bytes())));
            }
            change.deletes.iter().for_each(|key| tx.delete(key.clone()));
            usage = newest.usage_change(change.blob.as_ref(), drops_blocks);
            Ok(true)
        };
        let pending = place.begin_change();
        let committed = self.store.transact(&place.partition, plan.reads(), commit).await;
        if let (Some(pending), Ok(_) | Err(Error::Refused(_))) = (pending, &committed) {
            pending.settle(if matches!(committed, Ok(true)) { usage } else { Usage::default() });
        }
        if let (Some(intent), Ok(_) | Err(Error::Refused(_))) = (intent, &committed) {
            intent.over();
        }
        committed
    }

    async fn snapshots_of(&self, place: &BlobLocation) -> Result<Snapshots> {
        let mut records = self.store.records(keys::snapshots(&place.partition));
        let mut found = Vec::new();
        while let Some(record) = records.next().await? {
            found.push((record.key, Blob::decode(&record.value)?));
        }
        Ok(found)
    }
}

/// Everything that a deletion leaves behind, the entries of tags included.
fn leaves(seen: &Seen, change: &BlobChange) -> Vec<Reclaimable> {
    let tags = tag_index::left(seen.blob.as_ref(), change.blob.as_ref());
    change.leaves.iter().cloned().chain(tags).collect()
}

/// Whether an intent that names `planned` is enough for `needed`. The cleanup of pages finds all layers by itself, whichever
/// one is named, and a list of pieces goes with everything that was appended.
fn covers(planned: &[Reclaimable], needed: &[Reclaimable]) -> bool {
    needed.iter().all(|needed| {
        planned.iter().any(|planned| match (planned, needed) {
            (Reclaimable::Pages { .. }, Reclaimable::Pages { .. }) => true,
            (planned, needed) => planned == needed,
        })
    })
}

fn decide_delete(
    seen: &Seen,
    found: &Snapshots,
    terms: &WriteTerms,
    snapshots: DeleteSnapshots,
    now: u64,
) -> Result<BlobChange> {
    let Some(blob) = seen.blob.as_ref() else { return delete_blocks(seen, terms, snapshots, now) };
    terms.tier.check(blob.tier_changed(now))?;
    if snapshots == DeleteSnapshots::Only {
        terms.conditions.check_write(Some(blob.changed))?;
        check_tags(terms.tags.as_ref(), Some(blob))?;
    } else {
        terms.check_change(blob, now)?;
    }
    if snapshots == DeleteSnapshots::Refuse && blob.snapshots > 0 {
        return Err(ErrorCode::SnapshotsPresent.into());
    }
    let mut change = match snapshots {
        DeleteSnapshots::Only => BlobChange::beside_blocks(Some(Blob { snapshots: 0, ..blob.clone() })),
        DeleteSnapshots::Refuse | DeleteSnapshots::Include => BlobChange::replacing(seen, None),
    };
    change.deletes = found.iter().map(|(key, _)| key.clone()).collect();
    change.leaves.extend(found.iter().filter_map(|(_, snapshot)| Reclaimable::of(snapshot)));
    Ok(change)
}

/// Deletes the blocks of a name that has no blob yet.
fn delete_blocks(seen: &Seen, terms: &WriteTerms, snapshots: DeleteSnapshots, now: u64) -> Result<BlobChange> {
    if seen.blocks.is_empty() || snapshots == DeleteSnapshots::Only {
        return Err(ErrorCode::BlobNotFound.into());
    }
    lease::check_write(seen.lease.as_ref(), terms.lease, now, Leased::Blob)?;
    terms.conditions.check_write(None)?;
    Ok(BlobChange::replacing(seen, None))
}
