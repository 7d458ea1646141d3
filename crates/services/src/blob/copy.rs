//! Copy Blob, within this server. The copy is complete when the response is sent, so it is never pending.

use std::collections::HashMap;

use tablerock_kv::Bytes;
use tablerock_protocol::blob::{
    AccessTier, BlockId, ByteRange, Checksums, Conditions, CopySourceUrl, CustomerKey, LeaseId, RehydratePriority,
    TagCondition, Tags, check_customer_key,
};
use tablerock_protocol::{DateTime, ErrorCode, Keyword, Metadata};

use super::address::{BlobAddress, BlobLocation, ContentAddress, ReadTerms, WriteTerms, check_tags};
use super::change::{BlobChange, Seen};
use super::content::{INLINE_BYTES_MAX, ReceivedBody};
use super::pieces::{self, Piece, PieceRecord, PieceSource};
use super::put::NewBlob;
use super::reader::BlobReader;
use super::reclaim::{Direction, ReclaimIntent, Reclaimable};
use super::stored_blob::{Blob, BlobKind, Body, CopyState};
use super::stored_content::copy_stored;
use super::tier::Tier;
use super::{BlobService, keys};
use crate::{Error, Result};

/// The source of a copy.
#[derive(Debug, Clone)]
pub struct CopySource<'a> {
    pub at: BlobAddress<'a>,
    pub snapshot: Option<DateTime>,
    pub conditions: Conditions,
    pub tags: Option<TagCondition>,
    pub lease: Option<LeaseId>,
    /// The customer's key of the source.
    pub key: Option<CustomerKey>,
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
    /// The tags of the copy, unless it is to have its source's.
    pub tags: Option<Tags>,
    pub tier: Option<String>,
    /// How urgently a copy of an archived blob is rehydrated.
    pub priority: Option<RehydratePriority>,
    /// Whether an append blob is sealed, unless it is to be as its source is.
    pub seals: Option<bool>,
    /// The customer's key that the copy is encrypted with.
    pub key: Option<CustomerKey>,
}

/// The customer's keys of the source and of the copy.
pub(super) type KeysOfCopy<'a> = (Option<&'a CustomerKey>, Option<&'a CustomerKey>);

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
        let archived_to = self.tier_of_archived_copy(&blob, target)?;
        if source.snapshot.is_none() {
            blob.check_not_incremental()?;
        }
        let to = self.place_to_write(target.at).await?;
        let seen = self.look(&to).await?;
        self.check_copy(&blob, &seen, target)?;
        let from = self.place(source.at).await?;
        let keys = (source.key.as_ref(), target.key.as_ref());
        let copied = self.copy_content(&from, source.snapshot, &blob, &to, keys).await?;
        // A container that went away while the content was copied may not get it, even if there is a new one.
        if self.container_id(target.at.account, target.at.container).await? != to.container_id {
            return Err(ErrorCode::ContainerNotFound.into());
        }
        let new = NewBlob {
            kind: blob.kind,
            headers: blob.headers.clone(),
            metadata: target.metadata.clone().unwrap_or_else(|| blob.metadata.clone()),
            tags: target.tags.clone().unwrap_or_else(|| blob.tags.clone()),
            tier: target.tier.clone(),
        };
        let id = self.fresh_uuid().hyphenated().to_string();
        let change = self.change(&to, |seen| {
            self.check_copy(&blob, seen, target)?;
            let made = self.blob_replacing(seen, &target.terms, &new, blob.length, copied.body.clone())?;
            let changed = made.changed;
            let copy = Some(CopyState { id: id.clone(), source: source.url.clone(), completed: changed });
            let is_sealed = target.seals.unwrap_or(blob.is_sealed);
            let tier = match archived_to {
                Some(to) => Some(Tier::rehydrating(to, target.priority, changed)),
                None => made.tier.clone(),
            };
            let key_digest = target.key.as_ref().map(CustomerKey::digest);
            let made = Blob { blocks: blob.blocks, is_sealed, copy, tier, key_digest, ..made };
            Ok((BlobChange { puts: copied.puts.clone(), ..BlobChange::replacing(seen, Some(made)) }, changed))
        });
        Ok((ReclaimIntent::protect(copied.intent, change).await?, id))
    }

    /// The tier that a copy of an archived blob is rehydrated to. The request has to name one.
    fn tier_of_archived_copy(&self, source: &Blob, target: &CopyTarget<'_>) -> Result<Option<AccessTier>> {
        let Err(archived) = source.check_online(self.clock.ticks()) else { return Ok(None) };
        let to = target.tier.as_deref().and_then(AccessTier::parse_keyword);
        to.filter(|to| *to != AccessTier::Archive).map(Some).ok_or_else(|| archived.into())
    }

    pub(super) async fn copy_source(&self, source: &CopySource<'_>) -> Result<Blob> {
        let from = self.place_to_read(source.at).await?;
        let terms = ReadTerms { conditions: Conditions::default(), tags: None, lease: source.lease };
        let blob = self.find(&from, source.snapshot, &terms).await?;
        check_customer_key(blob.key_digest, source.key.as_ref().map(CustomerKey::digest))?;
        // Only the standard conditions have a code of their own.
        source.conditions.check_read(blob.changed).map_err(|_| ErrorCode::SourceConditionNotMet)?;
        check_tags(source.tags.as_ref(), Some(&blob))?;
        Ok(blob)
    }

    fn check_copy(&self, source: &Blob, seen: &Seen, target: &CopyTarget<'_>) -> Result<()> {
        let current = seen.blob.as_ref();
        target.terms.check_replace(current, seen.lease.as_ref(), self.clock.ticks()).map_err(|error| {
            match error.code {
                // Only the standard conditions have a code of their own.
                ErrorCode::ConditionNotMet if check_tags(target.terms.tags.as_ref(), current).is_ok() => {
                    ErrorCode::TargetConditionNotMet.into()
                }
                _ => Error::from(error),
            }
        })?;
        if source.kind == BlobKind::Page && target.tier.is_some() {
            return Err(ErrorCode::AccessTierNotSupportedForBlobType.into());
        }
        match current {
            _ if target.seals == Some(true) && source.kind != BlobKind::Append => {
                Err(ErrorCode::InvalidBlobType.into())
            }
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
        keys: KeysOfCopy<'_>,
    ) -> Result<Copied> {
        match (&blob.body, blob.kind) {
            (Body::Pages(_), _) => self.copy_pages(from, keys::record_key(snapshot), blob, to, keys).await,
            // What is encrypted has to be decrypted, or encrypted, or both.
            _ if keys != (None, None) => self.copy_whole(from, blob, to, keys).await,
            (Body::Inline(bytes), _) => Ok(Copied { body: Body::Inline(bytes.clone()), puts: vec![], intent: None }),
            (Body::Pieces { layout, records }, BlobKind::Block) => self.copy_pieces(from, to, *layout, *records).await,
            (Body::Whole { .. }, _) | (Body::Pieces { .. }, _) => self.copy_whole(from, blob, to, keys).await,
        }
    }

    /// Copies all bytes into one content. Appended blocks become one piece: they have no ids that a request could name.
    async fn copy_whole(
        &self,
        from: &BlobLocation,
        blob: &Blob,
        to: &BlobLocation,
        (source_key, key): KeysOfCopy<'_>,
    ) -> Result<Copied> {
        let range = ByteRange::whole(blob.length);
        let opened =
            BlobReader::open(&self.store, from.container_id, &from.partition, None, blob, range, source_key).await?;
        let mut reader = opened.ok_or(ErrorCode::ServerBusy)?;
        let received = self.receive_with(to, &mut reader, false, INLINE_BYTES_MAX, key).await?;
        let is_encrypted = key.is_some();
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
        let (id, length) = (BlockId::from_bytes(b""), received.length);
        let piece = Piece { id, length, source, is_encrypted };
        let pieces = if blob.length == 0 { vec![] } else { vec![piece] };
        Ok(copied_pieces(layout, pieces, intent))
    }

    /// Copies blocks one by one, so that the copy has the same.
    async fn copy_pieces(&self, from: &BlobLocation, to: &BlobLocation, layout: u64, records: u64) -> Result<Copied> {
        let found = pieces::read_all(&self.store, &from.partition, layout, records).await?;
        let mut pieces = found.ok_or(ErrorCode::ServerBusy)?;
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
