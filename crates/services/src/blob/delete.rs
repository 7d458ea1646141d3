//! Delete Blob.

use tablerock_kv::{Bytes, Transaction};
use tablerock_protocol::{DateTime, ErrorCode, Keyword};

use super::address::{BlobAddress, BlobLocation, WriteTerms, check_tags};
use super::change::{Attempts, BlobChange, Seen};
use super::lease::{self, Leased};
use super::reclaim::Reclaimable;
use super::stored_blob::Blob;
use super::{BlobService, keys};
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

    /// Decides and commits a deletion, with the blob's snapshots at hand if they are needed. Taking or deleting a snapshot
    /// changes the blob's record, so what was seen of them holds if the record does.
    async fn delete_with(
        &self,
        place: &BlobLocation,
        needs_snapshots: bool,
        mut decide: impl FnMut(&Seen, &Snapshots) -> Result<BlobChange> + Send,
    ) -> Result<()> {
        let mut attempts = Attempts::default();
        loop {
            let seen = self.look(place).await?;
            let found = match &seen.blob {
                Some(blob) if needs_snapshots && blob.snapshots > 0 => self.snapshots_of(place).await?,
                _ => vec![],
            };
            let change = decide(&seen, &found)?;
            if self.commit_change(place, &seen, change).await? {
                return Ok(());
            }
            attempts.again(&self.rng).await?;
        }
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
