//! Changes that leave the content as it is: headers, metadata, tags, tier, lease, seal.

use tablerock_kv::{Bytes, Transaction};
use tablerock_protocol::blob::{ContentHeaders, LeaseAction, LeaseId, Tags};
use tablerock_protocol::{DateTime, ErrorCode, Metadata};

use super::address::{BlobAddress, BlobLocation, ReadTerms, WriteTerms};
use super::lease::{self, LeaseOutcome};
use super::stored_blob::{Blob, BlobKind, Tier};
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

    /// Applies an action to the lease of a blob. Its ETag does not change.
    pub async fn lease_blob(
        &self,
        at: BlobAddress<'_>,
        terms: &WriteTerms,
        action: LeaseAction,
    ) -> Result<(Blob, LeaseOutcome)> {
        let fresh = LeaseId(self.fresh_uuid());
        let place = self.place_to_write(at).await?;
        self.amend(&place, |blob| {
            terms.conditions.check_write(Some(blob.changed))?;
            Ok(lease::apply(&mut blob.lease, action, self.clock.ticks(), fresh)?)
        })
        .await
    }

    /// Stores a tier. All tiers store content in the same way, so the ETag does not change.
    pub async fn set_blob_tier(&self, at: BlobAddress<'_>, lease: Option<LeaseId>, tier: &str) -> Result<()> {
        let place = self.place_to_write(at).await?;
        let set = |blob: &mut Blob| {
            if blob.kind != BlobKind::Block {
                return Err(ErrorCode::InvalidBlobType.into());
            }
            lease::check_read(blob.lease.as_ref(), lease, self.clock.ticks(), lease::Leased::Blob)?;
            blob.tier = Some(Tier { name: tier.to_owned(), changed: DateTime::from_ticks(self.clock.ticks()) });
            Ok(())
        };
        self.amend(&place, set).await?;
        Ok(())
    }

    /// Replaces all tags. The ETag does not change.
    pub async fn set_blob_tags(&self, at: BlobAddress<'_>, terms: &WriteTerms, tags: &Tags) -> Result<()> {
        let place = self.place_to_write(at).await?;
        let set = |blob: &mut Blob| {
            let read = ReadTerms { conditions: Default::default(), tags: terms.tags.clone(), lease: terms.lease };
            read.check(blob, self.clock.ticks())?;
            blob.tags = tags.clone();
            Ok(())
        };
        self.amend(&place, set).await?;
        Ok(())
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
