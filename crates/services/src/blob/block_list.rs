//! Put Block List and Get Block List.

use std::collections::{HashMap, HashSet};

use tablerock_protocol::blob::{BlockId, check_customer_key};
use tablerock_protocol::xml::{BlockListRequest, BlockSource};
use tablerock_protocol::{DateTime, ErrorCode, Keyword};

use super::address::{BlobAddress, BlobLocation, ReadTerms, WriteTerms};
use super::blocks::UncommittedBlock;
use super::change::{Attempts, BlobChange, Seen};
use super::pieces::{self, Piece, PieceSource};
use super::put::NewBlob;
use super::reclaim::Reclaimable;
use super::stored_blob::{Blob, BlobKind, Body};
use super::{BlobService, keys};
use crate::{Error, Result};

/// The lists that Get Block List returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhichBlocks {
    Committed,
    Uncommitted,
    All,
}

impl Keyword for WhichBlocks {
    const WORDS: &'static [(&'static str, Self)] =
        &[("committed", Self::Committed), ("uncommitted", Self::Uncommitted), ("all", Self::All)];
}

/// The blocks of a blob, each with its length.
#[derive(Debug, Clone, Default)]
pub struct BlockLists {
    /// The blob, if it has been committed.
    pub blob: Option<Blob>,
    pub committed: Option<Vec<(BlockId, u64)>>,
    pub uncommitted: Option<Vec<(BlockId, u64)>>,
}

impl BlobService {
    /// Makes a blob of blocks. All blocks that no list took are dropped.
    pub async fn put_block_list(
        &self,
        at: BlobAddress<'_>,
        terms: &WriteTerms,
        new: &NewBlob,
        list: &BlockListRequest,
    ) -> Result<DateTime> {
        let place = self.place_to_write(at).await?;
        let layout = self.content_ids.next().await?;
        let mut attempts = Attempts::default();
        loop {
            self.timestamps.reserve().await?;
            let seen = self.look(&place).await?;
            match self.decide_list(&place, &seen, terms, new, list, layout).await {
                Ok((change, changed)) => {
                    if self.commit_change(&place, &seen, change).await? {
                        return Ok(changed);
                    }
                }
                // Blocks may be missing because a list that came first has taken or dropped them.
                Err(Error::Refused(error)) if error.code == ErrorCode::InvalidBlockList => {
                    if self.is_current(&place, &seen).await? {
                        return Err(error.into());
                    }
                }
                Err(error) => return Err(error),
            }
            attempts.again(&self.rng).await?;
        }
    }

    async fn decide_list(
        &self,
        place: &BlobLocation,
        seen: &Seen,
        terms: &WriteTerms,
        new: &NewBlob,
        list: &BlockListRequest,
        layout: u64,
    ) -> Result<(BlobChange, DateTime)> {
        if seen.blob.as_ref().is_some_and(|blob| blob.kind != BlobKind::Block) {
            return Err(ErrorCode::InvalidBlobType.into());
        }
        // The lease and the conditions come before the list.
        terms.check_replace(seen.blob.as_ref(), seen.lease.as_ref(), self.clock.ticks())?;
        let committed = match &seen.blob {
            Some(blob) => self.committed_pieces(place, blob).await?.ok_or(ErrorCode::InvalidBlockList)?,
            None => vec![],
        };
        let pieces = choose(list, &committed, &seen.blocks)?;
        check_keys(&pieces, seen, terms)?;
        let length = pieces.iter().map(|piece| piece.length).sum();
        let blocks = pieces.len() as u64;
        let used: HashSet<u64> = pieces.iter().filter_map(Piece::content).collect();
        let records = pieces::into_records(pieces);
        let body = Body::Pieces { layout, records: records.len() as u64 };
        let key_digest = terms.key_digest;
        let blob = Blob { blocks, key_digest, ..self.blob_replacing(seen, terms, new, length, body)? };
        let changed = blob.changed;
        let mut change = BlobChange::replacing(seen, Some(blob));
        change
            .leaves
            .retain(|reclaimable| !matches!(reclaimable, Reclaimable::Content { id, .. } if used.contains(id)));
        let record =
            |(index, record): (usize, &pieces::PieceRecord)| (keys::pieces_key(layout, index as u64), record.encode());
        change.puts = records.iter().enumerate().map(record).collect();
        Ok((change, changed))
    }

    /// The committed blocks of a blob; one that was put as a whole has none. `None` if the blob was replaced meanwhile.
    async fn committed_pieces(
        &self,
        place: &BlobLocation,
        blob: &Blob,
    ) -> Result<Option<Vec<Piece>>, tablerock_kv::Error> {
        match blob.body {
            Body::Pieces { layout, records } => pieces::read_all(&self.store, &place.partition, layout, records).await,
            Body::Inline(_) | Body::Whole { .. } | Body::Pages(_) => Ok(Some(vec![])),
        }
    }

    pub async fn block_list(
        &self,
        at: BlobAddress<'_>,
        snapshot: Option<DateTime>,
        terms: &ReadTerms,
        which: WhichBlocks,
    ) -> Result<BlockLists> {
        let place = self.place_to_read(at).await?;
        let mut attempts = Attempts::default();
        let (blob, uncommitted, committed) = loop {
            let blob = self.stored_blob(&place, snapshot).await?;
            let uncommitted = UncommittedBlock::read_all(&self.store, &place.partition).await?;
            if blob.is_none() && (uncommitted.is_empty() || snapshot.is_some()) {
                return Err(ErrorCode::BlobNotFound.into());
            }
            let Some(found) = &blob else { break (blob, uncommitted, vec![]) };
            if found.kind != BlobKind::Block {
                return Err(ErrorCode::InvalidBlobType.into());
            }
            terms.check(found, self.clock.ticks())?;
            match self.committed_pieces(&place, found).await? {
                Some(committed) => break (blob, uncommitted, committed),
                None => attempts.again(&self.rng).await?,
            }
        };
        let committed = committed.into_iter().map(|piece| (piece.id, piece.length)).collect();
        let uncommitted = uncommitted.into_iter().map(|block| (block.id, block.length)).collect();
        Ok(BlockLists {
            blob,
            committed: (which != WhichBlocks::Uncommitted).then_some(committed),
            uncommitted: (which != WhichBlocks::Committed).then_some(uncommitted),
        })
    }
}

/// Fails unless all blocks of a list have the customer's key of the request. That of the blob before does not matter.
fn check_keys(pieces: &[Piece], seen: &Seen, terms: &WriteTerms) -> Result<()> {
    let staged: HashSet<u64> = seen.blocks.iter().map(|block| block.content).collect();
    let of_blob = seen.blob.as_ref().and_then(|blob| blob.key_digest);
    for piece in pieces {
        let is_staged = piece.content().is_some_and(|content| staged.contains(&content));
        let stored = if is_staged { seen.blocks_key_digest } else { of_blob };
        check_customer_key(stored, terms.key_digest)?;
    }
    Ok(())
}

/// Finds each block of a list where the list says that it is.
fn choose(list: &BlockListRequest, committed: &[Piece], uncommitted: &[UncommittedBlock]) -> Result<Vec<Piece>> {
    let committed: HashMap<&BlockId, &Piece> = committed.iter().map(|piece| (&piece.id, piece)).collect();
    let uncommitted: HashMap<&BlockId, &UncommittedBlock> =
        uncommitted.iter().map(|block| (&block.id, block)).collect();
    let find_committed = |id: &BlockId| committed.get(id).map(|piece| (*piece).clone());
    let find_uncommitted = |id: &BlockId| {
        let block = uncommitted.get(id)?;
        let source = PieceSource::Content(block.content);
        Some(Piece { id: block.id.clone(), length: block.length, source, is_encrypted: block.is_encrypted })
    };
    let pieces = list.blocks.iter().map(|(source, id)| match source {
        BlockSource::Committed => find_committed(id),
        BlockSource::Uncommitted => find_uncommitted(id),
        BlockSource::Latest => find_uncommitted(id).or_else(|| find_committed(id)),
    });
    pieces.collect::<Option<Vec<_>>>().ok_or_else(|| ErrorCode::InvalidBlockList.into())
}
