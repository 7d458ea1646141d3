//! Changing pages and the record of their blob in one commit.

use tablerock_kv::{Bytes, Transaction};
use tablerock_protocol::ErrorCode;

use super::PAGE_BYTES;
use super::body::PageBody;
use super::layer::Layer;
use super::map::PageMap;
use super::segment::Segment;
use super::span::Span;
use super::stored_pages::StoredPages;
use crate::blob::address::BlobLocation;
use crate::blob::change::Attempts;
use crate::blob::reclaim::Reclaimable;
use crate::blob::stored_blob::Blob;
use crate::blob::{BlobService, keys};
use crate::{Error, Result};

/// Clearing up to so many pages marks them in segments; above, a new layer hides them, whatever is below.
const MARKED_PAGES_MAX: u64 = (4 << 20) / PAGE_BYTES;

/// A change of pages.
#[derive(Debug, Clone)]
pub(super) enum Edit {
    None,
    Write(Span, StoredPages),
    Clear(Span),
}

/// Which records an edit is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    /// No pages.
    Nothing,
    /// The layer on top.
    Top(u64),
    /// A layer above this one, or the first if that is 0.
    Above(u64),
    /// A layer above this one that hides pages instead of marking them.
    Hiding(u64),
    /// No layer any more.
    Empty(u64),
}

impl Target {
    fn of(blob: &Blob, body: &PageBody, edit: &Edit) -> Self {
        match edit {
            Edit::None => Self::Nothing,
            Edit::Clear(span) if span.is_empty() || body.top == 0 => Self::Nothing,
            Edit::Clear(span) if span.pages() > MARKED_PAGES_MAX => {
                let is_all = span.first == 0 && span.end * PAGE_BYTES >= blob.length;
                if is_all && blob.snapshots == 0 { Self::Empty(body.top) } else { Self::Hiding(body.top) }
            }
            Edit::Write(..) | Edit::Clear(_) if body.top == 0 || body.is_frozen => Self::Above(body.top),
            Edit::Write(..) | Edit::Clear(_) => Self::Top(body.top),
        }
    }

    /// The layer that space comes back from.
    fn reclaims(self) -> Option<Reclaimable> {
        match self {
            Self::Hiding(layer) | Self::Empty(layer) => Some(Reclaimable::Pages { layer }),
            Self::Nothing | Self::Top(_) | Self::Above(_) => None,
        }
    }
}

impl BlobService {
    /// Decides on a page blob that must exist, and commits its record with its pages. `decide` changes the record and says
    /// the change of its pages; it runs again when another writer came first.
    pub(super) async fn edit_pages<T>(
        &self,
        place: &BlobLocation,
        mut decide: impl FnMut(&mut Blob) -> Result<(Edit, T)> + Send,
    ) -> Result<(Blob, T)> {
        let base = Bytes::from_static(keys::BASE_KEY);
        let mut fresh = None;
        let mut attempts = Attempts::default();
        loop {
            self.timestamps.reserve().await?;
            // The durable record tells which other records the transaction has to read. What it decides on is the newest.
            let seen = self.stored_blob(place, None).await?.ok_or(ErrorCode::BlobNotFound)?;
            let expected = match decide(&mut seen.clone()) {
                Ok((edit, _)) => Plan::new(&seen, edit)?,
                Err(_) => Plan::nothing(),
            };
            if let (Target::Above(_) | Target::Hiding(_), None) = (expected.target, fresh) {
                fresh = Some(self.content_ids.next().await?);
            }
            let intent = self.intend_replacement(place, expected.target.reclaims().into_iter().collect()).await?;
            let run = |tx: &mut Transaction| -> Result<Option<(Blob, T)>> {
                let before = Blob::decode(tx.get(&base).ok_or(ErrorCode::BlobNotFound)?)?;
                let mut blob = before.clone();
                let (edit, outcome) = decide(&mut blob)?;
                let plan = Plan::new(&before, edit)?;
                if plan.target != expected.target || plan.reads() != expected.reads() {
                    return Ok(None);
                }
                plan.apply(tx, &before, &mut blob, fresh)?;
                tx.put(base.clone(), blob.encode());
                Ok(Some((blob, outcome)))
            };
            let reads = expected.reads().into_iter().chain([base.clone()]).collect();
            let done = self.store.transact(&place.partition, reads, run).await;
            if let (Some(intent), Ok(_) | Err(Error::Refused(_))) = (intent, &done) {
                intent.over();
            }
            match done? {
                Some(done) => return Ok(done),
                None => attempts.again(&self.rng).await?,
            }
        }
    }
}

/// An edit of one blob.
struct Plan {
    target: Target,
    edit: Edit,
}

impl Plan {
    fn nothing() -> Self {
        Self { target: Target::Nothing, edit: Edit::None }
    }

    fn new(blob: &Blob, edit: Edit) -> Result<Self> {
        Ok(Self { target: Target::of(blob, blob.pages()?, &edit), edit })
    }

    fn span(&self) -> Span {
        match &self.edit {
            Edit::None => Span { first: 0, end: 0 },
            Edit::Write(span, _) | Edit::Clear(span) => *span,
        }
    }

    /// The records that it changes instead of replacing them.
    fn reads(&self) -> Vec<Bytes> {
        let Target::Top(layer) = self.target else { return vec![] };
        let span = self.span();
        let partial = span.segments().filter(|segment| span.mask(*segment) != u64::MAX);
        let mut reads: Vec<_> = partial.map(|segment| keys::pages_key(layer, segment)).collect();
        reads.extend(span.regions().map(|region| keys::page_map_key(layer, region)));
        if let Edit::Clear(_) = self.edit {
            reads.push(keys::layer_key(layer));
        }
        reads
    }

    /// Writes the pages and notes the layer in the record.
    fn apply(&self, tx: &mut Transaction, before: &Blob, blob: &mut Blob, fresh: Option<u64>) -> Result<()> {
        let fresh = || fresh.ok_or_else(|| tablerock_kv::Error::internal("a new layer has no number"));
        let (layer, is_new) = match self.target {
            Target::Nothing => return Ok(()),
            Target::Top(layer) => (layer, false),
            Target::Empty(_) => (0, false),
            Target::Above(below) => {
                let layer = fresh()?;
                tx.put(keys::layer_key(layer), Layer { below, ..Layer::default() }.encode());
                (layer, true)
            }
            Target::Hiding(below) => {
                let layer = fresh()?;
                tx.put(keys::layer_key(layer), Layer { below, clears: vec![self.span()], ..Layer::default() }.encode());
                (layer, true)
            }
        };
        if let Target::Top(_) | Target::Above(_) = self.target {
            // Marks hide the layers below, and tell what was cleared since a snapshot. Without either they are not needed.
            let is_lowest = match self.target {
                Target::Top(layer) if matches!(self.edit, Edit::Clear(_)) => tx
                    .get(&keys::layer_key(layer))
                    .map(Layer::decode)
                    .transpose()?
                    .is_some_and(|layer| layer.below == 0),
                _ => false,
            };
            self.write_pages(tx, layer, is_new, !is_lowest || before.snapshots > 0)?;
        }
        let written = blob.changed;
        let body = blob.pages_mut()?;
        (body.top, body.is_frozen, body.written) = (layer, false, written);
        Ok(())
    }

    fn write_pages(&self, tx: &mut Transaction, layer: u64, is_new: bool, keeps_marks: bool) -> Result<()> {
        let span = self.span();
        for region in span.regions() {
            let key = keys::page_map_key(layer, region);
            let stored = if is_new { None } else { tx.get(&key).map(PageMap::decode).transpose()? };
            let mut map = stored.unwrap_or_default();
            let in_region = region * super::REGION_SEGMENTS..(region + 1) * super::REGION_SEGMENTS;
            for segment in span.segments().filter(|segment| in_region.contains(segment)) {
                let pages = self.segment(tx, layer, is_new, segment)?;
                let pages = if keeps_marks { pages } else { pages.without_cleared() };
                map.set(segment, &pages);
                match pages.is_empty() {
                    true => tx.delete(keys::pages_key(layer, segment)),
                    false => tx.put(keys::pages_key(layer, segment), pages.encode()),
                }
            }
            match map.is_empty() {
                true => tx.delete(key),
                false => tx.put(key, map.encode()),
            }
        }
        Ok(())
    }

    /// A segment after the edit.
    fn segment(&self, tx: &Transaction, layer: u64, is_new: bool, segment: u64) -> Result<Segment> {
        let mask = self.span().mask(segment);
        let edited = match &self.edit {
            Edit::None => Segment::default(),
            Edit::Clear(_) => Segment::clearing(mask),
            Edit::Write(span, pages) => {
                let first = (segment * super::SEGMENT_PAGES).max(span.first) - span.first;
                Segment::writing(mask, pages.slice(first as usize, mask.count_ones() as usize))
            }
        };
        if is_new || mask == u64::MAX {
            return Ok(edited);
        }
        match tx.get(&keys::pages_key(layer, segment)) {
            Some(stored) => Ok(edited.over(&Segment::decode(stored)?)?),
            None => Ok(edited),
        }
    }
}
