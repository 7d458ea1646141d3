//! Append Block.

use tablerock_kv::Transaction;
use tablerock_protocol::blob::{BlockId, check_customer_key};
use tablerock_protocol::xml::BLOCKS_MAX;
use tablerock_protocol::{DateTime, ErrorCode};

use super::address::{BlobAddress, WriteTerms};
use super::content::{Received, ReceivedBody};
use super::pieces::{Piece, PieceRecord, PieceSource};
use super::reclaim::ReclaimIntent;
use super::stored_blob::{Blob, BlobKind, Body};
use super::{BlobService, keys, lease};
use crate::Result;
use crate::sharing::Sharing;

/// The parameters of an append, without its bytes.
#[derive(Debug, Clone, Default)]
pub struct AppendTerms {
    pub write: WriteTerms,
    /// Where the block has to begin.
    pub position: Option<u64>,
    /// How long the blob may be afterwards.
    pub length_max: Option<u64>,
}

/// The outcome of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    pub changed: DateTime,
    /// Where the block begins.
    pub offset: u64,
    /// Blocks of the blob, this one included.
    pub blocks: u64,
}

impl BlobService {
    /// Appends a block to an append blob. Small ones are one commit, and several writers share a sync.
    pub async fn append_block(&self, at: BlobAddress<'_>, terms: &AppendTerms, received: Received) -> Result<Appended> {
        let place = self.place_to_write(at).await?;
        received.check_place(&place)?;
        self.timestamps.reserve().await?;
        let (length, key_digest) = (received.length, received.key_digest);
        let (source, intent) = match received.body {
            ReceivedBody::Inline(bytes) => (PieceSource::Inline(bytes), None),
            ReceivedBody::Stored { content, intent } => (PieceSource::Content(content), Some(intent)),
        };
        let piece = Piece { id: BlockId::from_bytes(b""), length, source, is_encrypted: key_digest.is_some() };
        let append = |tx: &mut Transaction, blob: &mut Blob| {
            self.check_append(blob, terms, length)?;
            check_customer_key(blob.key_digest, key_digest)?;
            let Body::Pieces { layout, records } = &mut blob.body else {
                return Err(tablerock_kv::Error::corrupt("an append blob has no list of pieces").into());
            };
            let record = PieceRecord { offset: blob.length, pieces: vec![piece.clone()] };
            tx.put(keys::pieces_key(*layout, *records), record.encode());
            *records += 1;
            let offset = blob.length;
            blob.length += length;
            blob.blocks += 1;
            blob.changed = self.next_change(Some(blob.changed))?;
            blob.lease = lease::after_write(blob.lease, self.clock.ticks());
            Ok(Appended { changed: blob.changed, offset, blocks: blob.blocks })
        };
        // Only an append with stored content can arrive too late for it.
        let fence = intent.as_ref().and_then(|_| Sharing::of(&self.store).append_fence());
        Ok(ReclaimIntent::protect(intent, self.amend_records(&place, fence, append)).await?.1)
    }

    fn check_append(&self, blob: &Blob, terms: &AppendTerms, length: u64) -> Result<()> {
        if blob.kind != BlobKind::Append {
            return Err(ErrorCode::InvalidBlobType.into());
        }
        terms.write.check_change(blob, self.clock.ticks())?;
        if blob.is_sealed {
            return Err(ErrorCode::BlobIsSealed.into());
        }
        if terms.position.is_some_and(|position| position != blob.length) {
            return Err(ErrorCode::AppendPositionConditionNotMet.into());
        }
        if terms.length_max.is_some_and(|max| blob.length + length > max) {
            return Err(ErrorCode::MaxBlobSizeConditionNotMet.into());
        }
        if blob.blocks >= BLOCKS_MAX as u64 {
            return Err(ErrorCode::BlockCountExceedsLimit.into());
        }
        Ok(())
    }
}
