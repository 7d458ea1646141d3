//! Reclaiming the layers of page blobs. What takes long is noted for the sweep.

use tablerock_kv::{Bytes, Result, ScanLimits};

use super::{Reclaimer, keys};
use crate::blob::address::BlobLocation;
use crate::blob::page::tidy::{MERGED_AT_ONCE_MAX, tidy};
use crate::work_lease::WorkLease;

/// Notes that one sweep examines, and segments that it merges for each.
const NOTES_MAX: usize = 1_000;
const MERGED_BY_SWEEP_MAX: u64 = 32_768;

impl Reclaimer {
    /// Deletes the layers of a blob that nothing refers to, and merges what it can. `named` layers were being copied.
    pub(super) async fn reclaim_pages(&self, location: &BlobLocation, named: &[u64]) -> Result<()> {
        if tidy(&self.store, location, named, MERGED_AT_ONCE_MAX).await? {
            return Ok(());
        }
        let key = keys::layer_merge_key(location.container_id, &location.name);
        self.store.write(&keys::intents_partition(), |tx| tx.put(key.clone(), Bytes::new())).await
    }

    /// Goes on with the merges that were noted, for as long as this server holds the lease.
    pub(in crate::blob) async fn merge_noted(&self, lease: &WorkLease) -> Result<()> {
        let limits = ScanLimits { records_max: NOTES_MAX, ..ScanLimits::PAGE };
        for note in self.store.scan(&keys::layer_merges(), limits).await?.records {
            if !lease.renew().await? {
                return Ok(());
            }
            let (container_id, name) = keys::blob_of_layer_merge(&note.key)?;
            let location = BlobLocation::new(container_id, &name);
            if tidy(&self.store, &location, &[], MERGED_BY_SWEEP_MAX).await? {
                self.store.write(&keys::intents_partition(), |tx| tx.delete(note.key.clone())).await?;
            }
        }
        Ok(())
    }
}
