//! Put Block.

use tablerock_kv::{Bytes, Error as StoreError, Transaction};
use tablerock_protocol::ErrorCode;
use tablerock_protocol::blob::{BlockId, KeyDigest, LeaseId, check_customer_key};

use super::address::{BlobAddress, BlobLocation};
use super::blocks::{BlocksHeader, UncommittedBlock, watch_blocks};
use super::change::Attempts;
use super::content::{Received, ReceivedBody};
use super::lease::{self, Leased};
use super::reclaim::{Direction, ReclaimIntent};
use super::stored_blob::{Blob, BlobKind};
use super::usage::Usage;
use super::{BlobService, keys};
use crate::{Error, Result};

/// Uncommitted blocks of one blob.
const UNCOMMITTED_BLOCKS_MAX: u64 = 100_000;

/// The outcome of an attempt to put a block.
enum Attempt {
    Done,
    /// The block is the first of its blob, and there is no watch yet.
    NeedsWatch,
    /// The block would replace this one, for which there is no intent yet.
    NeedsIntent(UncommittedBlock),
}

impl BlobService {
    /// Puts a block that [`receive_block`](BlobService::receive_block) returned.
    pub async fn put_block(
        &self,
        at: BlobAddress<'_>,
        lease: Option<LeaseId>,
        id: &BlockId,
        received: Received,
    ) -> Result<()> {
        let place = self.place_to_write(at).await?;
        received.check_place(&place)?;
        let ReceivedBody::Stored { content, intent } = received.body else {
            return Err(StoreError::internal("a block was received as if it were a small blob").into());
        };
        let key_digest = received.key_digest;
        let is_encrypted = key_digest.is_some();
        let block = UncommittedBlock { id: id.clone(), content, length: received.length, is_encrypted };
        let block = (block, key_digest);
        let mut leaving = None;
        let put = self.put_received_block(&place, lease, &block, &mut leaving);
        let put = ReclaimIntent::protect(Some(intent), put).await;
        if let (Some(leaving), Ok(()) | Err(Error::Refused(_))) = (leaving, &put) {
            leaving.over();
        }
        put
    }

    /// Puts a block whose content is stored. `leaving` becomes the intent for a block that it replaces.
    async fn put_received_block(
        &self,
        place: &BlobLocation,
        lease: Option<LeaseId>,
        block: &(UncommittedBlock, Option<KeyDigest>),
        leaving: &mut Option<ReclaimIntent>,
    ) -> Result<()> {
        let (mut is_watched, mut intended) = (false, None);
        let mut attempts = Attempts::default();
        loop {
            match self.try_put_block(place, lease, block, is_watched, intended.as_ref()).await? {
                Attempt::Done => return Ok(()),
                Attempt::NeedsWatch => {
                    watch_blocks(&self.store, self.clock.ticks(), place).await?;
                    is_watched = true;
                }
                Attempt::NeedsIntent(replaced) => {
                    let id = self.content_ids.next().await?;
                    let reclaimables = vec![replaced.reclaimable()];
                    *leaving = Some(self.intend_reclaim(place, id, reclaimables, Direction::Leaving).await?);
                    intended = Some(replaced);
                }
            }
            attempts.again(&self.rng).await?;
        }
    }

    async fn try_put_block(
        &self,
        place: &BlobLocation,
        lease: Option<LeaseId>,
        block: &(UncommittedBlock, Option<KeyDigest>),
        is_watched: bool,
        intended: Option<&UncommittedBlock>,
    ) -> Result<Attempt> {
        self.timestamps.reserve().await?;
        let (base_key, header_key) = (Bytes::from_static(keys::BASE_KEY), Bytes::from_static(keys::BLOCKS_KEY));
        let (block, key_digest) = block;
        let block_key = keys::block_key(block.id.as_bytes());
        let mut usage = Usage::default();
        let decide = |tx: &mut Transaction| {
            let blob = tx.get(&base_key).map(Blob::decode).transpose()?;
            if let Some(blob) = &blob {
                self.check_takes_blocks(blob, lease)?;
            }
            let replaced = tx.get(&block_key).map(|record| UncommittedBlock::decode(&block_key, record)).transpose()?;
            let newest = self.timestamps.next()?.ticks();
            let id_length = block.id.as_bytes().len() as u64;
            let header = tx.get(&header_key).map(BlocksHeader::decode).transpose()?;
            if let (None, Some(header)) = (&blob, header.as_ref().filter(|header| header.count > 0)) {
                lease::check_write(header.lease.as_ref(), lease, self.clock.ticks(), Leased::Blob)?;
            }
            let header = match header {
                None if !is_watched => return Ok(Attempt::NeedsWatch),
                None => BlocksHeader { count: 1, id_length, newest, lease: None, key_digest: *key_digest },
                Some(header) if header.count == 0 => {
                    BlocksHeader { count: 1, id_length, newest, lease: None, key_digest: *key_digest }
                }
                Some(header) if header.key_digest != *key_digest => {
                    check_customer_key(header.key_digest, *key_digest)?;
                    header
                }
                Some(header) if header.id_length != id_length => return Err(ErrorCode::InvalidBlobOrBlock.into()),
                Some(header) => BlocksHeader { count: header.count + u64::from(replaced.is_none()), newest, ..header },
            };
            if header.count > UNCOMMITTED_BLOCKS_MAX {
                return Err(ErrorCode::BlockCountExceedsLimit.into());
            }
            let was_there = tx.get(&base_key).is_some() || header.count > 1 || replaced.is_some();
            let replaced_bytes = replaced.as_ref().map_or(0, |replaced| replaced.length);
            usage = Usage::change((replaced_bytes, block.length), (was_there, true));
            match replaced {
                Some(replaced) if intended != Some(&replaced) => return Ok(Attempt::NeedsIntent(replaced)),
                _ => {}
            }
            tx.put(header_key.clone(), header.encode());
            tx.put(block_key.clone(), block.encode());
            Ok(Attempt::Done)
        };
        let keys = vec![base_key.clone(), header_key.clone(), block_key.clone()];
        let pending = place.begin_change();
        let attempt = self.store.transact(&place.partition, keys, decide).await;
        match (pending, &attempt) {
            (Some(pending), Ok(Attempt::Done)) => pending.settle(usage),
            (Some(pending), Ok(_) | Err(Error::Refused(_))) => pending.settle(Usage::default()),
            _ => {}
        }
        attempt
    }

    fn check_takes_blocks(&self, blob: &Blob, lease: Option<LeaseId>) -> Result<()> {
        if blob.kind != BlobKind::Block {
            return Err(ErrorCode::InvalidBlobType.into());
        }
        lease::check_write(blob.lease.as_ref(), lease, self.clock.ticks(), Leased::Blob)?;
        Ok(blob.check_online(self.clock.ticks())?)
    }
}
