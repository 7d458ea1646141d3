//! Copy Blob, within this server. The copy is complete when the response is sent, so it is never pending.

use std::collections::HashMap;

use tablerock_kv::Bytes;
use tablerock_protocol::blob::{ByteRange, Checksums, Conditions, CopySourceUrl, LeaseId, Tags};
use tablerock_protocol::{DateTime, ErrorCode, Metadata};

use super::address::{BlobAddress, BlobLocation, ContentAddress, ReadTerms, WriteTerms};
use super::change::BlobChange;
use super::content::{INLINE_BYTES_MAX, ReceivedBody};
use super::pieces::{self, Piece, PieceRecord, PieceSource};
use super::put::NewBlob;
use super::reader::BlobReader;
use super::reclaim::{Direction, ReclaimIntent, Reclaimable};
use super::stored_blob::{Blob, BlobKind, Body, CopyState};
use super::stored_content::copy_stored;
use super::{BlobService, keys};
use crate::{Error, Result};

/// The source of a copy.
#[derive(Debug, Clone)]
pub struct CopySource<'a> {
    pub at: BlobAddress<'a>,
    pub snapshot: Option<DateTime>,
    pub conditions: Conditions,
    pub lease: Option<LeaseId>,
    /// For the properties of the copy.
    pub url: CopySourceUrl,
}

/// Where it is copied to, and what becomes different there.
#[derive(Debug, Clone)]
pub struct CopyTarget<'a> {
    pub at: BlobAddress<'a>,
    pub terms: WriteTerms,
    /// The metadata of the copy, unless it is to have its source's.
    pub metadata: Option<Metadata>,
    pub tags: Tags,
    pub tier: Option<String>,
}

/// The content of a copy, durable and noted.
pub(super) struct Copied {
    pub(super) body: Body,
    pub(super) puts: Vec<(Bytes, Bytes)>,
    pub(super) intent: Option<ReclaimIntent>,
}

impl BlobService {
    /// Copies a blob, and returns the time of the copy and its id.
    pub async fn copy_blob(&self, source: &CopySource<'_>, target: &CopyTarget<'_>) -> Result<(DateTime, String)> {
        let blob = self.copy_source(source).await?;
        if source.snapshot.is_none() {
            blob.check_not_incremental()?;
        }
        let to = self.place_to_write(target.at).await?;
        let current = self.stored_blob(&to, None).await?;
        self.check_copy(&blob, current.as_ref(), target)?;
        let from = self.place(source.at).await?;
        let copied = self.copy_content(&from, source.snapshot, &blob, &to).await?;
        // A container that went away while the content was copied may not get it, even if there is a new one.
        if self.container_id(target.at.account, target.at.container).await? != to.container_id {
            return Err(ErrorCode::ContainerNotFound.into());
        }
        let new = NewBlob {
            kind: blob.kind,
            headers: blob.headers.clone(),
            metadata: target.metadata.clone().unwrap_or_else(|| blob.metadata.clone()),
            tags: target.tags.clone(),
            tier: target.tier.clone(),
        };
        let id = self.fresh_uuid().hyphenated().to_string();
        let change = self.change(&to, |seen| {
            self.check_copy(&blob, seen.blob.as_ref(), target)?;
            let made = self.blob_replacing(seen, &target.terms, &new, blob.length, copied.body.clone())?;
            let changed = made.changed;
            let copy = Some(CopyState { id: id.clone(), source: source.url.clone(), completed: changed });
            let made = Blob { blocks: blob.blocks, is_sealed: blob.is_sealed, copy, ..made };
            Ok((BlobChange { puts: copied.puts.clone(), ..BlobChange::replacing(seen, Some(made)) }, changed))
        });
        Ok((ReclaimIntent::protect(copied.intent, change).await?, id))
    }

    pub(super) async fn copy_source(&self, source: &CopySource<'_>) -> Result<Blob> {
        let from = self.place_to_read(source.at).await?;
        let terms = ReadTerms { conditions: Conditions::default(), tags: None, lease: source.lease };
        let blob = self.find(&from, source.snapshot, &terms).await?;
        let met = source.conditions.check_read(blob.changed);
        if met.is_err() { Err(ErrorCode::SourceConditionNotMet.into()) } else { Ok(blob) }
    }

    fn check_copy(&self, source: &Blob, current: Option<&Blob>, target: &CopyTarget<'_>) -> Result<()> {
        target.terms.check_replace(current, self.clock.ticks()).map_err(|error| match error.code {
            ErrorCode::ConditionNotMet => ErrorCode::TargetConditionNotMet.into(),
            _ => Error::from(error),
        })?;
        if source.kind == BlobKind::Page && target.tier.is_some() {
            return Err(ErrorCode::InvalidBlobTier.into());
        }
        match current {
            Some(current) if current.kind != source.kind => Err(ErrorCode::InvalidBlobType.into()),
            _ => Ok(()),
        }
    }

    async fn copy_content(
        &self,
        from: &BlobLocation,
        snapshot: Option<DateTime>,
        blob: &Blob,
        to: &BlobLocation,
    ) -> Result<Copied> {
        match (&blob.body, blob.kind) {
            (Body::Inline(bytes), _) => Ok(Copied { body: Body::Inline(bytes.clone()), puts: vec![], intent: None }),
            (Body::Pieces { layout, records }, BlobKind::Block) => self.copy_pieces(from, to, *layout, *records).await,
            (Body::Pages(_), _) => self.copy_pages(from, keys::record_key(snapshot), blob, to).await,
            (Body::Whole { .. }, _) | (Body::Pieces { .. }, _) => self.copy_whole(from, blob, to).await,
        }
    }

    /// Copies all bytes into one content. Appended blocks become one piece: they have no ids that a request could name.
    async fn copy_whole(&self, from: &BlobLocation, blob: &Blob, to: &BlobLocation) -> Result<Copied> {
        let range = ByteRange::whole(blob.length);
        let opened = BlobReader::open(&self.store, from.container_id, &from.partition, None, blob, range).await?;
        let mut reader = opened.ok_or(ErrorCode::ServerBusy)?;
        let received = self.receive(to, &mut reader, false, INLINE_BYTES_MAX).await?;
        let (source, intent) = match received.body {
            ReceivedBody::Inline(bytes) => (PieceSource::Inline(bytes), None),
            ReceivedBody::Stored { content, intent } => (PieceSource::Content(content), Some(intent)),
        };
        if blob.kind == BlobKind::Block {
            let body = match source {
                PieceSource::Inline(bytes) => Body::Inline(bytes),
                PieceSource::Content(content) => Body::Whole { content },
            };
            return Ok(Copied { body, puts: vec![], intent });
        }
        let layout = self.content_ids.next().await?;
        let piece = Piece { id: tablerock_protocol::blob::BlockId::from_bytes(b""), length: received.length, source };
        let pieces = if blob.length == 0 { vec![] } else { vec![piece] };
        Ok(copied_pieces(layout, pieces, intent))
    }

    /// Copies blocks one by one, so that the copy has the same.
    async fn copy_pieces(&self, from: &BlobLocation, to: &BlobLocation, layout: u64, records: u64) -> Result<Copied> {
        let mut pieces = pieces::read_all(&self.store, &from.partition, layout, records).await?;
        let mut copies = HashMap::new();
        for piece in &pieces {
            if let Some(content) = piece.content()
                && !copies.contains_key(&content)
            {
                copies.insert(content, (self.content_ids.next().await?, piece.length));
            }
        }
        let reclaimables =
            copies.values().map(|(id, length)| Reclaimable::Content { id: *id, length: *length }).collect();
        let layout = self.content_ids.next().await?;
        let intent = self.intend_reclaim(to, layout, reclaimables, Direction::Arriving).await?;
        for (content, (copy, length)) in &copies {
            let source = ContentAddress { container_id: from.container_id, content: *content };
            let target = ContentAddress { container_id: to.container_id, content: *copy };
            let upload = self.upload(target, Some(*length), Checksums::new(false));
            let is_copied = copy_stored(&self.store, source, *length, upload, |_| {}).await?;
            if !is_copied {
                // The source was replaced meanwhile; a retry copies the new one.
                return Err(ErrorCode::ServerBusy.into());
            }
        }
        for piece in &mut pieces {
            if let PieceSource::Content(content) = &mut piece.source {
                *content = copies[content].0;
            }
        }
        Ok(copied_pieces(layout, pieces, Some(intent)))
    }
}

fn copied_pieces(layout: u64, pieces: Vec<Piece>, intent: Option<ReclaimIntent>) -> Copied {
    let records = pieces::into_records(pieces);
    let put = |(index, record): (usize, &PieceRecord)| (keys::pieces_key(layout, index as u64), record.encode());
    let puts = records.iter().enumerate().map(put).collect();
    Copied { body: Body::Pieces { layout, records: records.len() as u64 }, puts, intent }
}
