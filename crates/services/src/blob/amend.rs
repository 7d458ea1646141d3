//! Changes that leave the content as it is: headers, metadata, tags, tier, seal.

use tablerock_kv::{Bytes, Transaction};
use tablerock_protocol::blob::{AccessTier, ContentHeaders, RehydratePriority, Tags, check_customer_key};
use tablerock_protocol::{DateTime, ErrorCode, Metadata};

use super::address::{BlobAddress, BlobLocation, ReadTerms, WriteTerms};
use super::change::BlobChange;
use super::lease;
use super::stored_blob::{Blob, BlobKind};
use super::tier::{self, TierChange};
use super::usage::Usage;
use super::{BlobService, keys};
use crate::{Error, Result};

impl BlobService {
    /// Replaces the content headers, all of them; `None` leaves them as they are. The blob is changed in either case.
    pub async fn set_blob_properties(
        &self,
        at: BlobAddress<'_>,
        terms: &WriteTerms,
        headers: Option<&ContentHeaders>,
    ) -> Result<Blob> {
        self.amend_with_terms(at, terms, |blob| {
            terms.check_key_if_given(blob)?;
            if let Some(headers) = headers {
                blob.headers = headers.clone();
            }
            blob.copy = None;
            Ok(())
        })
        .await
    }

    /// Replaces all metadata.
    pub async fn set_blob_metadata(
        &self,
        at: BlobAddress<'_>,
        terms: &WriteTerms,
        metadata: &Metadata,
    ) -> Result<Blob> {
        self.amend_with_terms(at, terms, |blob| {
            check_customer_key(blob.key_digest, terms.key_digest)?;
            blob.metadata = metadata.clone();
            blob.copy = None;
            Ok(())
        })
        .await
    }

    /// Seals an append blob: no block can be appended any more.
    pub async fn seal_blob(
        &self,
        at: BlobAddress<'_>,
        terms: &WriteTerms,
        append_position: Option<u64>,
    ) -> Result<Blob> {
        self.amend_with_terms(at, terms, |blob| {
            if blob.kind != BlobKind::Append {
                return Err(ErrorCode::InvalidBlobType.into());
            }
            if append_position.is_some_and(|position| position != blob.length) {
                return Err(ErrorCode::AppendPositionConditionNotMet.into());
            }
            blob.is_sealed = true;
            Ok(())
        })
        .await
    }

    /// Sets the tier of a blob or a snapshot. All tiers store content in the same way, so the ETag does not change.
    pub async fn set_blob_tier(
        &self,
        at: BlobAddress<'_>,
        snapshot: Option<DateTime>,
        terms: &ReadTerms,
        to: AccessTier,
        priority: Option<RehydratePriority>,
    ) -> Result<TierChange> {
        let place = self.place_to_write(at).await?;
        let key = snapshot.map_or(Bytes::from_static(keys::BASE_KEY), |taken| keys::snapshot_key(taken.ticks()));
        let set = |tx: &mut Transaction| {
            let mut blob = Blob::decode(tx.get(&key).ok_or(ErrorCode::BlobNotFound)?)?;
            if blob.kind != BlobKind::Block {
                return Err(ErrorCode::InvalidBlobType.into());
            }
            terms.check(&blob, self.clock.ticks())?;
            let change = tier::set(&mut blob.tier, to, priority, DateTime::from_ticks(self.clock.ticks()))?;
            tx.put(key.clone(), blob.encode());
            Ok(change)
        };
        self.store.transact(&place.partition, vec![key.clone()], set).await
    }

    /// Replaces all tags. The ETag does not change.
    pub async fn set_blob_tags(&self, at: BlobAddress<'_>, terms: &WriteTerms, tags: &Tags) -> Result<()> {
        let place = self.place_to_write(at).await?;
        // A change of its own kind, because the index of tags has to change with the blob.
        self.change(&place, |seen| {
            let mut blob = seen.blob.clone().ok_or(ErrorCode::BlobNotFound)?;
            terms.check_change(&blob, self.clock.ticks())?;
            blob.tags = tags.clone();
            blob.tag_number = 0;
            Ok((BlobChange::beside_blocks(Some(blob)), ()))
        })
        .await
    }

    /// Changes a blob on terms, which gives it a new ETag.
    async fn amend_with_terms(
        &self,
        at: BlobAddress<'_>,
        terms: &WriteTerms,
        mut change: impl FnMut(&mut Blob) -> Result<()> + Send,
    ) -> Result<Blob> {
        let place = self.place_to_write(at).await?;
        self.timestamps.reserve().await?;
        let amended = self.amend(&place, |blob| {
            let now = self.clock.ticks();
            terms.check_change(blob, now)?;
            blob.check_online(now)?;
            change(blob)?;
            blob.changed = self.next_change(Some(blob.changed))?;
            blob.lease = lease::after_write(blob.lease, now);
            Ok(())
        });
        Ok(amended.await?.0)
    }

    /// Changes the record of a blob that must exist, and nothing else.
    pub(super) async fn amend<T>(
        &self,
        place: &BlobLocation,
        mut change: impl FnMut(&mut Blob) -> Result<T> + Send,
    ) -> Result<(Blob, T)> {
        self.amend_records(place, None, |_, blob| change(blob)).await
    }

    /// Changes the record of a blob that must exist, and others of its partition. The transaction also reads `expected`.
    pub(super) async fn amend_records<T>(
        &self,
        place: &BlobLocation,
        expected: Option<Bytes>,
        mut change: impl FnMut(&mut Transaction, &mut Blob) -> Result<T> + Send,
    ) -> Result<(Blob, T)> {
        let key = Bytes::from_static(keys::BASE_KEY);
        let mut usage = Usage::default();
        let decide = |tx: &mut Transaction| {
            let mut blob = Blob::decode(tx.get(&key).ok_or(ErrorCode::BlobNotFound)?)?;
            let before = Usage::bytes_of(&blob);
            let outcome = change(tx, &mut blob)?;
            usage = Usage::change((before, Usage::bytes_of(&blob)), (true, true));
            tx.put(key.clone(), blob.encode());
            Ok((blob, outcome))
        };
        let reads = [key.clone()].into_iter().chain(expected).collect();
        let pending = place.begin_change();
        let committed = self.store.transact(&place.partition, reads, decide).await;
        match (pending, &committed) {
            (Some(pending), Ok(_)) => pending.settle(usage),
            (Some(pending), Err(Error::Refused(_))) => pending.settle(Usage::default()),
            _ => {}
        }
        committed
    }
}
