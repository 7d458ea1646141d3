//! Deleting a snapshot of a page blob that clients write to meanwhile.

use tablerock_kv::{Bytes, Transaction};
use tablerock_protocol::{DateTime, ErrorCode};

use crate::blob::address::{BlobLocation, WriteTerms};
use crate::blob::reclaim::Reclaimable;
use crate::blob::stored_blob::Blob;
use crate::blob::{BlobService, keys};
use crate::{Error, Result};

impl BlobService {
    /// Deletes a snapshot, and decides on the newest record of its blob: one that writers change all the time is never as it
    /// was read.
    pub(in crate::blob) async fn delete_page_snapshot(
        &self,
        place: &BlobLocation,
        taken: DateTime,
        seen: &Blob,
        terms: &WriteTerms,
    ) -> Result<()> {
        let intent = self.intend_replacement(place, Reclaimable::of(seen).into_iter().collect()).await?;
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
}
