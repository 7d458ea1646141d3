//! Snapshots: records of a blob as it was, which share its content.

use tablerock_kv::{Error as StoreError, Transaction};
use tablerock_protocol::blob::check_customer_key;
use tablerock_protocol::{DateTime, Metadata};

use super::address::{BlobAddress, WriteTerms, check_tags};
use super::lease::{self, Leased};
use super::stored_blob::{Blob, Body};
use super::{BlobService, keys};
use crate::Result;

impl BlobService {
    /// Takes a snapshot; returns its id and the time of its last change. Given metadata replaces the blob's in the
    /// snapshot, which is a change of its own.
    pub async fn snapshot_blob(
        &self,
        at: BlobAddress<'_>,
        terms: &WriteTerms,
        metadata: Option<&Metadata>,
    ) -> Result<(DateTime, DateTime)> {
        let place = self.place_to_write(at).await?;
        self.timestamps.reserve().await?;
        let snapshot = |tx: &mut Transaction, blob: &mut Blob| {
            // A snapshot does not change the blob, so it needs no lease; one that is named must be the right one.
            lease::check_read(blob.lease.as_ref(), terms.lease, self.clock.ticks(), Leased::Blob)?;
            terms.conditions.check_write(Some(blob.changed))?;
            check_tags(terms.tags.as_ref(), Some(blob))?;
            blob.check_online(self.clock.ticks())?;
            check_customer_key(blob.key_digest, terms.key_digest)?;
            blob.check_not_incremental()?;
            let taken = self.next_change(None)?;
            let mut snapshot = Blob { lease: None, snapshots: 0, tag_number: 0, ..blob.clone() };
            if let Some(metadata) = metadata {
                snapshot.metadata = metadata.clone();
                snapshot.changed = taken;
            }
            if let Body::Pages(body) = &mut blob.body {
                body.is_frozen = true;
            }
            blob.snapshots = blob.snapshots.checked_add(1).ok_or_else(|| StoreError::corrupt("too many snapshots"))?;
            tx.put(keys::snapshot_key(taken.ticks()), snapshot.encode());
            Ok((taken, snapshot.changed))
        };
        Ok(self.amend_records(&place, None, snapshot).await?.1)
    }
}
