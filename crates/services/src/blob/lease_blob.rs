//! Lease Blob. A name that has uncommitted blocks only can be leased too; the header of its blocks keeps that lease until
//! a blob takes it over.

use tablerock_kv::{Bytes, Transaction};
use tablerock_protocol::blob::{LeaseAction, LeaseId};
use tablerock_protocol::{DateTime, ErrorCode};

use super::address::{BlobAddress, WriteTerms, check_tags};
use super::blocks::BlocksHeader;
use super::lease::{self, Lease, LeaseOutcome};
use super::stored_blob::Blob;
use super::{BlobService, keys};
use crate::Result;

impl BlobService {
    /// Applies an action to the lease of a blob; returns the time of the blob's last change, which this is not.
    pub async fn lease_blob(
        &self,
        at: BlobAddress<'_>,
        terms: &WriteTerms,
        action: LeaseAction,
    ) -> Result<(DateTime, LeaseOutcome)> {
        let fresh = LeaseId(self.fresh_uuid());
        let place = self.place_to_write(at).await?;
        let (base_key, header_key) = (Bytes::from_static(keys::BASE_KEY), Bytes::from_static(keys::BLOCKS_KEY));
        let apply = |lease: &mut Option<Lease>, blob: Option<&Blob>, changed: DateTime| -> Result<_> {
            terms.conditions.check_write(Some(changed))?;
            check_tags(terms.tags.as_ref(), blob)?;
            Ok((changed, lease::apply(lease, action, self.clock.ticks(), fresh)?))
        };
        let decide = |tx: &mut Transaction| {
            if let Some(record) = tx.get(&base_key) {
                let mut blob = Blob::decode(record)?;
                let mut lease = blob.lease;
                let applied = apply(&mut lease, Some(&blob), blob.changed)?;
                blob.lease = lease;
                tx.put(base_key.clone(), blob.encode());
                return Ok(applied);
            }
            let header = tx.get(&header_key).map(BlocksHeader::decode).transpose()?;
            let mut header = header.filter(|header| header.count > 0).ok_or(ErrorCode::BlobNotFound)?;
            let applied = apply(&mut header.lease, None, DateTime::from_ticks(header.newest))?;
            tx.put(header_key.clone(), header.encode());
            Ok(applied)
        };
        self.store.transact(&place.partition, vec![base_key.clone(), header_key.clone()], decide).await
    }
}
