//! The sweep of the Blob service: blocks that no list committed in time.

use std::time::Duration;

use tablerock_kv::{ScanLimits, TICKS_PER_SECOND};

use super::address::BlobLocation;
use super::blocks::{BlocksHeader, UncommittedBlock, watch_blocks};
use super::change::{BlobChange, Seen};
use super::{BlobService, keys};
use crate::{Result, namespace};

/// The time between two sweeps.
pub(super) const PERIOD: Duration = Duration::from_secs(10 * 60);

/// How long blocks wait for a list.
const BLOCKS_TICKS: u64 = 7 * 24 * 3600 * TICKS_PER_SECOND;

/// Block watches that one sweep examines.
const WATCHES_MAX: usize = 1_000;

impl BlobService {
    /// Reclaims old blocks and abandoned contents, and finishes interrupted deletions of these accounts, until the future
    /// is dropped.
    pub async fn keep_sweeping(&self, accounts: impl Fn() -> Vec<String>) {
        namespace::keep_sweeping(self, accounts).await;
    }

    /// Runs one sweep, unless another server on the store holds the lease.
    pub async fn sweep_if_ours(&self, accounts: &[String]) -> Result<u64> {
        namespace::sweep_if_leader(self, accounts).await
    }

    /// Deletes blocks that have waited too long for a list.
    pub async fn drop_old_blocks(&self) -> Result<()> {
        let now = self.clock.ticks();
        let limits = ScanLimits { records_max: WATCHES_MAX, ..ScanLimits::PAGE };
        let watches = self.store.scan(&keys::block_watches(), limits).await?.records;
        for watch in watches {
            let (since, container_id, name) = keys::blob_of_block_watch(&watch.key)?;
            if since + BLOCKS_TICKS > now || !self.directory.sweep_lease.renew().await? {
                return Ok(());
            }
            let location = self.counting(BlobLocation::new(container_id, &name)).await?;
            let header = self.store.get(&location.partition, keys::BLOCKS_KEY).await?;
            match header.as_ref().map(BlocksHeader::decode).transpose()? {
                Some(header) if header.newest + BLOCKS_TICKS > now => {
                    watch_blocks(&self.store, self.clock.ticks(), &location).await?;
                }
                Some(_) => self.drop_blocks(&location).await?,
                None => {}
            }
            self.store.write(&keys::intents_partition(), |tx| tx.delete(watch.key.clone())).await?;
        }
        Ok(())
    }

    async fn drop_blocks(&self, location: &BlobLocation) -> Result<()> {
        let decide = |seen: &Seen| {
            let leaves = seen.blocks.iter().map(UncommittedBlock::reclaimable).collect();
            Ok((BlobChange { leaves, drops_blocks: true, ..BlobChange::beside_blocks(seen.blob.clone()) }, ()))
        };
        self.change(location, decide).await
    }
}
