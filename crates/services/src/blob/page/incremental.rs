//! Incremental Copy Blob: a copy of a snapshot, and then of what changed from one snapshot to a later one. Each copy ends
//! with a snapshot of the target.

use tablerock_protocol::{DateTime, ErrorCode};

use super::body::{Incremental, PageBody};
use super::layer::Layer;
use super::reader::{PageSource, WINDOW_SEGMENTS};
use super::span::{Span, union};
use super::window::read_window;
use crate::Result;
use crate::blob::address::{BlobAddress, BlobLocation, WriteTerms};
use crate::blob::change::{BlobChange, Seen};
use crate::blob::copy::CopySource;
use crate::blob::put::NewBlob;
use crate::blob::reclaim::{ReclaimIntent, Reclaimable};
use crate::blob::stored_blob::{Blob, BlobKind, Body, CopyState};
use crate::blob::{BlobService, keys};

/// The outcome of an incremental copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncrementalCopied {
    pub changed: DateTime,
    pub id: String,
}

/// The pages that changed, in a layer of their own.
struct Delta {
    layer: Option<u64>,
    clears: Vec<Span>,
    /// The number of the blob, if all pages were copied.
    generation: Option<u64>,
    intent: ReclaimIntent,
}

impl BlobService {
    /// Copies what changed between the last snapshot that was copied and this one, or all of it the first time.
    pub async fn incremental_copy(
        &self,
        source: &CopySource<'_>,
        at: BlobAddress<'_>,
        terms: &WriteTerms,
    ) -> Result<IncrementalCopied> {
        let copied = source.snapshot.ok_or(ErrorCode::IncrementalCopySourceMustBeSnapshot)?;
        let blob = self.copy_source(source).await?;
        if blob.kind != BlobKind::Page {
            return Err(ErrorCode::InvalidSourceBlobType.into());
        }
        let name = format!("{}/{}/{}", source.at.account, source.at.container, source.at.name);
        let to = self.place_to_write(at).await?;
        let target = self.look(&to).await?;
        let last = check_target(target.blob.as_ref(), &name, copied)?;
        terms.check_replace(target.blob.as_ref(), target.lease.as_ref(), self.clock.ticks())?;
        let from = self.place(source.at).await?;
        let delta = self.copy_delta(&from, &blob, copied, last, &to).await?;
        if self.container_id(at.account, at.container).await? != to.container_id {
            return Err(ErrorCode::ContainerNotFound.into());
        }
        let id = self.fresh_uuid().hyphenated().to_string();
        let Delta { layer, clears, generation, intent } = delta;
        let change = self.change(&to, |seen| {
            if check_target(seen.blob.as_ref(), &name, copied)? != last {
                return Err(ErrorCode::ServerBusy.into());
            }
            let taken = self.next_change(None)?;
            let incremental = Incremental { source: name.clone(), copied, taken };
            let mut made = self.incremental_target(seen, terms, &blob, incremental)?;
            made.copy = Some(CopyState { id: id.clone(), source: source.url.clone(), completed: made.changed });
            let mut puts = vec![];
            let below = match (generation, seen.blob.as_ref()) {
                (None, Some(current)) => current.pages()?.top,
                _ => 0,
            };
            let body = made.pages_mut()?;
            body.top = layer.unwrap_or(below);
            if let Some(generation) = generation {
                body.generation = generation;
            }
            if let Some(layer) = layer {
                let description = Layer { below, clears: clears.clone(), ..Layer::default() };
                puts.push((keys::layer_key(layer), description.encode()));
            }
            let changed = made.changed;
            let snapshot = Blob { lease: None, snapshots: 0, changed: taken, ..made.clone() };
            puts.push((keys::snapshot_key(taken.ticks()), snapshot.encode()));
            made.snapshots += 1;
            let leaves: Vec<_> = match generation {
                Some(_) => seen.blob.as_ref().and_then(Reclaimable::of).into_iter().collect(),
                None => vec![],
            };
            let change = BlobChange { puts, leaves, ..BlobChange::beside_blocks(Some(made)) };
            Ok((change, IncrementalCopied { changed, id: id.clone() }))
        });
        ReclaimIntent::protect(Some(intent), change).await
    }

    /// The record of the target after a copy, with the pages that it had before.
    fn incremental_target(
        &self,
        seen: &Seen,
        terms: &WriteTerms,
        source: &Blob,
        incremental: Incremental,
    ) -> Result<Blob> {
        let new = NewBlob {
            kind: BlobKind::Page,
            headers: source.headers.clone(),
            metadata: source.metadata.clone(),
            tags: Default::default(),
            tier: None,
        };
        let number = source.pages()?.sequence_number;
        let before = seen.blob.as_ref().map(Blob::pages).transpose()?;
        let (generation, written) = before.map_or((0, DateTime::from_ticks(0)), |body| (body.generation, body.written));
        let body = PageBody::new(generation, written, number);
        let mut made = self.blob_replacing(seen, terms, &new, source.length, Body::Pages(body))?;
        let changed = made.changed;
        let body = made.pages_mut()?;
        (body.written, body.is_frozen, body.incremental) = (changed, true, Some(incremental));
        Ok(made)
    }

    /// Copies the pages that changed since a snapshot, or all of them.
    async fn copy_delta(
        &self,
        from: &BlobLocation,
        blob: &Blob,
        copied: DateTime,
        last: Option<DateTime>,
        to: &BlobLocation,
    ) -> Result<Delta> {
        let body = blob.pages()?;
        let key = keys::record_key(Some(copied));
        let opened = PageSource::open_merged(&self.store, &from.partition, key, body).await?;
        let source = opened.ok_or(ErrorCode::ServerBusy)?;
        let since = match last {
            Some(last) => self.top_of_snapshot(from, last, body.generation).await?,
            None => None,
        };
        let chain = source.chain();
        let layers = match since {
            Some(0) | None => chain,
            Some(top) => {
                let above = chain.iter().position(|(layer, _)| *layer == top).ok_or(ErrorCode::ServerBusy)?;
                &chain[..above]
            }
        };
        let clears = layers.iter().fold(vec![], |all, (_, layer)| union(&all, &layer.clears));
        let generation = if since.is_none() { Some(self.content_ids.next().await?) } else { None };
        let (mut upload, intent) = self.page_upload(to).await?;
        let number = upload.layer;
        let (mut next, end) = (0, u64::MAX);
        while next < end {
            let window = read_window(&self.store, &from.partition, layers, next, end, WINDOW_SEGMENTS).await?;
            for (place, segment) in window.segments {
                let is_whole = since.is_none();
                upload.put(place, if is_whole { segment.without_cleared() } else { segment }).await?;
            }
            next = window.end;
        }
        if !source.is_unchanged().await? {
            return Err(ErrorCode::ServerBusy.into());
        }
        let clears = if since.is_none() { vec![] } else { clears };
        let layer = upload.finish().await?.or((!clears.is_empty()).then_some(number));
        Ok(Delta { layer, clears, generation, intent })
    }

    /// The newest layer of an earlier snapshot of the same blob, if it is still there.
    async fn top_of_snapshot(&self, place: &BlobLocation, taken: DateTime, generation: u64) -> Result<Option<u64>> {
        let Some(snapshot) = self.stored_blob(place, Some(taken)).await? else { return Ok(None) };
        Ok(match snapshot.body {
            Body::Pages(body) if body.generation == generation => Some(body.top),
            _ => None,
        })
    }
}

/// Fails unless a blob may be the target of this copy. Returns the snapshot that was copied last.
fn check_target(current: Option<&Blob>, source: &str, copied: DateTime) -> Result<Option<DateTime>> {
    let Some(current) = current else { return Ok(None) };
    let Body::Pages(PageBody { incremental: Some(last), .. }) = &current.body else {
        return Err(ErrorCode::IncrementalCopyBlobMismatch.into());
    };
    if last.source != source {
        return Err(ErrorCode::IncrementalCopyBlobMismatch.into());
    }
    if copied < last.copied {
        return Err(ErrorCode::IncrementalCopyOfEarlierVersionSnapshotNotAllowed.into());
    }
    Ok(Some(last.copied))
}
