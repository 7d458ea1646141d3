//! The address of a blob, and the terms of a request.

use std::sync::Arc;

use tablerock_kv::{Bytes, ContentName, Wanted};
use tablerock_protocol::blob::{Conditions, KeyDigest, LeaseId, TagCondition, Tags, TierCondition, check_customer_key};
use tablerock_protocol::{DateTime, ErrorCode, ServiceError};

use super::lease::{self, Lease, Leased};
use super::stored_blob::Blob;
use super::usage::{OpenContainer, PendingChange};
use super::{BlobService, keys};
use crate::Result;
use crate::namespace::{FoundRecords, id_of_row};

/// A blob by its names.
#[derive(Debug, Clone, Copy)]
pub struct BlobAddress<'a> {
    pub account: &'a str,
    pub container: &'a str,
    pub name: &'a str,
}

/// The conditions of a read.
#[derive(Debug, Clone, Default)]
pub struct ReadTerms {
    pub conditions: Conditions,
    pub tags: Option<TagCondition>,
    pub lease: Option<LeaseId>,
}

/// The conditions of a write.
#[derive(Debug, Clone, Default)]
pub struct WriteTerms {
    pub conditions: Conditions,
    pub tags: Option<TagCondition>,
    pub lease: Option<LeaseId>,
    /// When the tier must have been set. Only deletions have it.
    pub tier: TierCondition,
    /// The caller may create blobs but not replace them.
    pub may_only_create: bool,
    /// The digest of the customer's key that came with the request, for writes that need the blob's.
    pub key_digest: Option<KeyDigest>,
}

/// The location of a blob in the store.
#[derive(Debug, Clone)]
pub(super) struct BlobLocation {
    pub(super) container_id: u64,
    pub(super) partition: Bytes,
    pub(super) name: String,
    /// The row of the container, on a store that servers share: records of the blob count only as long as the row has the id.
    row: Option<(Bytes, Bytes)>,
    /// Where changes of the blob are counted; `None` for a request that makes none.
    usage: Option<Arc<OpenContainer>>,
}

impl BlobLocation {
    pub(super) fn new(container_id: u64, name: &str) -> Self {
        let partition = keys::blob_partition(container_id, name);
        Self { container_id, partition, name: name.to_owned(), row: None, usage: None }
    }

    /// Announces a change, whose outcome has to follow.
    pub(super) fn begin_change(&self) -> Option<PendingChange<'_>> {
        self.usage.as_ref().map(|usage| usage.begin(&self.partition))
    }
}

/// The location of a content in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ContentAddress {
    pub(super) container_id: u64,
    pub(super) content: u64,
}

impl ContentAddress {
    /// Where its records are, if it is records.
    pub(super) fn partition(self) -> Bytes {
        keys::content_partition(self.container_id, self.content)
    }

    /// Its name in the engine, if it is not records.
    pub(super) fn name(self) -> ContentName {
        ContentName { group: self.container_id, number: self.content }
    }
}

impl BlobService {
    /// Finds the place of a blob, which need not be there; its container must.
    pub(super) async fn place(&self, at: BlobAddress<'_>) -> Result<BlobLocation> {
        Ok(self.located(at, self.container_id(at.account, at.container).await?))
    }

    fn located(&self, at: BlobAddress<'_>, container_id: u64) -> BlobLocation {
        let row = self.directory.is_shared().then(|| self.directory.row_at(at.account, at.container));
        BlobLocation { row, ..BlobLocation::new(container_id, at.name) }
    }

    /// Finds the place of a blob and reads its record, or that of a snapshot, with one look.
    pub(super) async fn look_at_blob(
        &self,
        at: BlobAddress<'_>,
        snapshot: Option<DateTime>,
    ) -> Result<(BlobLocation, Option<Blob>)> {
        let (keys, partition_of) = ([record_key(snapshot)], |id| keys::blob_partition(id, at.name));
        let found = self.directory.look(at.account, at.container, partition_of, &keys).await?;
        let FoundRecords { id, values, .. } = found.ok_or(ErrorCode::ContainerNotFound)?;
        let blob = values.first().and_then(Option::as_ref).map(Blob::decode).transpose()?;
        Ok((self.located(at, id), blob))
    }

    /// The same for a request that reads the blob, or something of it.
    pub(super) async fn place_to_read(&self, at: BlobAddress<'_>) -> Result<BlobLocation> {
        let place = self.place(at).await?;
        self.load.read(at.account, at.container, at.name, 1);
        Ok(place)
    }

    /// The same for a request that changes it.
    pub(super) async fn place_to_write(&self, at: BlobAddress<'_>) -> Result<BlobLocation> {
        let place = self.place(at).await?;
        self.load.write(at.account, at.container, at.name, 1);
        self.counting(place).await
    }

    /// Counts the changes at a location.
    pub(super) async fn counting(&self, place: BlobLocation) -> Result<BlobLocation> {
        let usage = Some(self.usages.open(place.container_id).await?);
        Ok(BlobLocation { usage, ..place })
    }

    /// The durable record of a blob or of one of its snapshots.
    pub(super) async fn stored_blob(&self, place: &BlobLocation, snapshot: Option<DateTime>) -> Result<Option<Blob>> {
        let [record] = self.records_at(place, [record_key(snapshot)]).await?;
        Ok(record.as_ref().map(Blob::decode).transpose()?)
    }

    /// The durable values of records at a location. On a store that servers share they are read together with the row of the
    /// container, which must still have the id: a container that is dropped is swept a while later.
    pub(super) async fn records_at<const N: usize>(
        &self,
        place: &BlobLocation,
        keys: [Bytes; N],
    ) -> Result<[Option<Bytes>; N]> {
        let mut values = [const { None }; N];
        let Some((directory, row)) = &place.row else {
            for (value, key) in values.iter_mut().zip(&keys) {
                *value = self.store.get(&place.partition, key).await?;
            }
            return Ok(values);
        };
        let wanted = [
            Wanted { partition: directory.clone(), keys: vec![row.clone()] },
            Wanted { partition: place.partition.clone(), keys: keys.to_vec() },
        ];
        let mut found = self.store.get_many(&wanted).await?.into_iter();
        let row = found.next().and_then(|mut values| values.pop()).flatten().ok_or(ErrorCode::ContainerNotFound)?;
        if id_of_row(&row)? != place.container_id {
            return Err(ErrorCode::ContainerNotFound.into());
        }
        for (value, found) in values.iter_mut().zip(found.next().unwrap_or_default()) {
            *value = found;
        }
        Ok(values)
    }
}

/// The key of the record of a blob, or of one of its snapshots.
fn record_key(snapshot: Option<DateTime>) -> Bytes {
    snapshot.map_or(Bytes::from_static(keys::BASE_KEY), |taken| keys::snapshot_key(taken.ticks()))
}

impl ReadTerms {
    pub(super) fn check(&self, blob: &Blob, now: u64) -> Result<(), ServiceError> {
        lease::check_read(blob.lease.as_ref(), self.lease, now, Leased::Blob)?;
        self.conditions.check_read(blob.changed)?;
        check_tags(self.tags.as_ref(), Some(blob))
    }
}

impl WriteTerms {
    /// Fails unless a blob that exists may be changed.
    pub(super) fn check_change(&self, blob: &Blob, now: u64) -> Result<(), ServiceError> {
        lease::check_write(blob.lease.as_ref(), self.lease, now, Leased::Blob)?;
        self.conditions.check_write(Some(blob.changed))?;
        check_tags(self.tags.as_ref(), Some(blob))
    }

    /// Fails if a customer's key came with a request that needs none, and is not the blob's.
    pub(super) fn check_key_if_given(&self, blob: &Blob) -> Result<(), ServiceError> {
        if self.key_digest.is_some() { check_customer_key(blob.key_digest, self.key_digest) } else { Ok(()) }
    }

    /// Fails unless a snapshot may be deleted. The lease of the blob does not protect it.
    pub(super) fn check_snapshot(&self, snapshot: &Blob, now: u64) -> Result<(), ServiceError> {
        self.tier.check(snapshot.tier_changed(now))?;
        let conditions = ReadTerms { conditions: self.conditions.clone(), tags: self.tags.clone(), lease: None };
        conditions.check(snapshot, now).map_err(|error| error.status(412))
    }

    /// Fails unless a blob may replace the current one, if there is one. A name without a blob may have a lease too. What is
    /// archived is not replaced: it is deleted or rehydrated first.
    pub(super) fn check_replace(
        &self,
        current: Option<&Blob>,
        lease: Option<&Lease>,
        now: u64,
    ) -> Result<(), ServiceError> {
        self.conditions.check_combination()?;
        lease::check_write(lease, self.lease, now, Leased::Blob)?;
        match current {
            // Whoever names the lease knows that the blob is there: `If-None-Match: *` then says nothing.
            Some(_) if self.conditions.wants_absence() && self.lease.is_some() => {}
            Some(_) if self.conditions.wants_absence() => return Err(ErrorCode::BlobAlreadyExists.into()),
            current => self.conditions.check_write(current.map(|blob| blob.changed))?,
        }
        check_tags(self.tags.as_ref(), current)?;
        if self.may_only_create && current.is_some() {
            return Err(ErrorCode::UnauthorizedBlobOverwrite.into());
        }
        current.map_or(Ok(()), |blob| blob.check_online(now))
    }
}

pub(super) fn check_tags(condition: Option<&TagCondition>, blob: Option<&Blob>) -> Result<(), ServiceError> {
    let Some(condition) = condition else { return Ok(()) };
    let holds = condition.admits(blob.map_or(&Tags::default(), |blob| &blob.tags));
    if holds { Ok(()) } else { Err(ErrorCode::ConditionNotMet.into()) }
}
