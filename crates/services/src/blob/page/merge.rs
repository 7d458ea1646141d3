//! Merging two layers: what the upper one has moves to the lower one, which the upper one hides anyway.
//!
//! Nothing refers to the lower layer but the upper one, so its pages may change as long as both together stay the same. A
//! reader goes from newer to older layers, so it finds whatever is moved meanwhile. Each step is a transaction that
//! reads the descriptions of both layers, so a merge that comes late changes nothing:
//!
//! 1. The upper layer is marked as leaving, so that no merge with a layer above it begins or goes on. If clients write to it
//!    and it has much, it is frozen, as by a snapshot: they begin another one above it.
//! 2. What the upper layer hides goes from the lower one, which then hides it itself.
//! 3. Segments of the upper layer move to the lower one, some at a time.
//! 4. Records and layers that name the upper layer name the lower one. That of the blob itself only if no page was written
//!    since the upper layer was found empty.

use tablerock_kv::{Bytes, Result, ScanLimits, Store, Transaction};
use tablerock_protocol::DateTime;

use super::REGION_SEGMENTS;
use super::layer::{Layer, read_layers};
use super::map::PageMap;
use super::segment::Segment;
use super::span::{mask_of, union};
use super::tidy::References;
use crate::blob::keys;
use crate::blob::stored_blob::{Blob, Body};

/// Runs of hidden pages that one layer has at most.
pub(super) const CLEARS_MAX: usize = 1_024;

/// Segments that one transaction moves.
const MOVED_MAX: usize = 16;

/// Segments of a layer that clients may go on writing to while it is merged, which takes a moment then.
const SMALL_SEGMENTS_MAX: usize = 64;

/// How often a layer that clients write to is found empty and is not any more.
const ROUNDS_MAX: u32 = 8;

/// How far a merge came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Merged {
    /// So many segments were moved, and there may be more.
    Some(u64),
    /// Clients write to the layer all the time.
    Later,
}

/// Merges a layer with the one above it, up to so many segments.
pub(super) async fn merge(
    store: &Store,
    partition: &Bytes,
    lower: u64,
    upper: u64,
    segments_max: u64,
) -> Result<Merged> {
    let pair = Pair { store, partition, lower, upper };
    if !pair.mark().await? {
        return Ok(Merged::Some(0));
    }
    pair.freeze_unless_small().await?;
    let mut moved = pair.hide(segments_max).await?;
    let mut rounds = 0;
    while moved < segments_max {
        // Read before the layer is found empty: a later write changes it.
        let written = pair.written().await?;
        match pair.move_some().await? {
            None => break,
            Some(0) if pair.replace(written).await? => break,
            Some(0) if rounds == ROUNDS_MAX => {
                pair.unmark().await?;
                return Ok(Merged::Later);
            }
            Some(0) => rounds += 1,
            Some(count) => moved += count,
        }
    }
    Ok(Merged::Some(moved))
}

struct Pair<'a> {
    store: &'a Store,
    partition: &'a Bytes,
    lower: u64,
    upper: u64,
}

/// The descriptions of both layers, if the upper one is still above the lower one.
struct Both {
    lower: Layer,
    upper: Layer,
}

impl Pair<'_> {
    fn descriptions(&self) -> Vec<Bytes> {
        vec![keys::layer_key(self.lower), keys::layer_key(self.upper)]
    }

    fn both(&self, tx: &Transaction) -> Result<Option<Both>> {
        let layer = |id: u64| tx.get(&keys::layer_key(id)).map(Layer::decode).transpose();
        let (Some(lower), Some(upper)) = (layer(self.lower)?, layer(self.upper)?) else { return Ok(None) };
        Ok((upper.below == self.lower && !lower.is_leaving).then_some(Both { lower, upper }))
    }

    /// Step 1; `false` if the layers are not what they were.
    async fn mark(&self) -> Result<bool> {
        self.set_leaving(true).await
    }

    async fn unmark(&self) -> Result<bool> {
        self.set_leaving(false).await
    }

    async fn set_leaving(&self, is_leaving: bool) -> Result<bool> {
        let decide = |tx: &mut Transaction| {
            let Some(Both { mut upper, .. }) = self.both(tx)? else { return Ok(false) };
            if upper.is_leaving != is_leaving {
                upper.is_leaving = is_leaving;
                tx.put(keys::layer_key(self.upper), upper.encode());
            }
            Ok(true)
        };
        self.store.transact(self.partition, self.descriptions(), decide).await
    }

    /// Makes clients begin another layer if they write to this one and merging it takes long. While it is marked and written
    /// to, readers have to begin again with every write.
    async fn freeze_unless_small(&self) -> Result<()> {
        let clears = self.record(keys::layer_key(self.upper)).await?.map_or(0, |layer| layer.clears.len());
        let limits = ScanLimits { records_max: SMALL_SEGMENTS_MAX, ..ScanLimits::PAGE };
        let range = keys::pages(self.partition, self.upper, 0, u64::MAX);
        let is_small =
            clears == 0 && self.store.scan(&range, limits).await?.next.is_none_or(|next| !range.contains(&next));
        if is_small {
            return Ok(());
        }
        let base = Bytes::from_static(keys::BASE_KEY);
        let decide = |tx: &mut Transaction| {
            let Some(mut blob) = tx.get(&base).map(Blob::decode).transpose()? else { return Ok(()) };
            match &mut blob.body {
                Body::Pages(body) if body.top == self.upper && !body.is_frozen => body.is_frozen = true,
                _ => return Ok(()),
            }
            tx.put(base.clone(), blob.encode());
            Ok(())
        };
        self.store.transact(self.partition, vec![base.clone()], decide).await
    }

    async fn record(&self, key: Bytes) -> Result<Option<Layer>> {
        self.store.get(self.partition, &key).await?.as_ref().map(Layer::decode).transpose()
    }

    /// Step 2. Returns how many segments of the lower layer it changed.
    async fn hide(&self, segments_max: u64) -> Result<u64> {
        let Some(upper) = self.record(keys::layer_key(self.upper)).await? else { return Ok(0) };
        let mut hidden = 0;
        for span in &upper.clears {
            let mut range = keys::pages(self.partition, self.lower, span.segments().start, span.segments().end);
            loop {
                let page = self.store.scan(&range, Self::limits()).await?;
                let places = places_of(page.records.iter().map(|record| &record.key))?;
                for places in by_region(&places) {
                    if !self.hide_segments(places, &upper).await? {
                        return Ok(segments_max);
                    }
                    hidden += places.len() as u64;
                }
                match page.next {
                    Some(next) if range.contains(&next) => range.start = next,
                    _ => break,
                }
                if hidden >= segments_max {
                    return Ok(hidden);
                }
            }
        }
        if !upper.clears.is_empty() {
            self.inherit_clears(&upper).await?;
        }
        Ok(hidden)
    }

    async fn hide_segments(&self, places: &[u64], seen: &Layer) -> Result<bool> {
        let map_key = keys::page_map_key(self.lower, places[0] / REGION_SEGMENTS);
        let mut reads = self.descriptions();
        reads.push(map_key.clone());
        reads.extend(places.iter().map(|place| keys::pages_key(self.lower, *place)));
        let decide = |tx: &mut Transaction| {
            match self.both(tx)? {
                Some(both) if both.upper.clears == seen.clears => {}
                _ => return Ok(false),
            }
            let mut map = tx.get(&map_key).map(PageMap::decode).transpose()?.unwrap_or_default();
            for place in places {
                let key = keys::pages_key(self.lower, *place);
                let Some(stored) = tx.get(&key).map(Segment::decode).transpose()? else { continue };
                let left = stored.without(mask_of(&seen.clears, *place));
                map.set(*place, &left);
                put_segment(tx, key, &left);
            }
            put_map(tx, map_key.clone(), &map);
            Ok(true)
        };
        self.store.transact(self.partition, reads, decide).await
    }

    /// The lower layer hides what the upper one hid. The lowest one hides nothing that could be seen, except from the
    /// difference to a snapshot that had no layer; so it keeps that while the blob has snapshots.
    async fn inherit_clears(&self, seen: &Layer) -> Result<()> {
        let has_snapshots = self.has_snapshots().await?;
        let decide = |tx: &mut Transaction| {
            let Some(Both { mut lower, mut upper }) = self.both(tx)? else { return Ok(()) };
            if upper.clears != seen.clears {
                return Ok(());
            }
            if lower.below != 0 || has_snapshots {
                lower.clears = union(&lower.clears, &upper.clears);
            }
            upper.clears.clear();
            tx.put(keys::layer_key(self.lower), lower.encode());
            tx.put(keys::layer_key(self.upper), upper.encode());
            Ok(())
        };
        self.store.transact(self.partition, self.descriptions(), decide).await
    }

    async fn has_snapshots(&self) -> Result<bool> {
        let limits = ScanLimits { records_max: 1, ..ScanLimits::PAGE };
        Ok(!self.store.scan(&keys::snapshots(self.partition), limits).await?.records.is_empty())
    }

    /// Step 3: moves some segments. `None` if the layers are not what they were, 0 if there was nothing to move.
    async fn move_some(&self) -> Result<Option<u64>> {
        let range = keys::pages(self.partition, self.upper, 0, u64::MAX);
        let page = self.store.scan(&range, Self::limits()).await?;
        let places = places_of(page.records.iter().map(|record| &record.key))?;
        let Some(places) = by_region(&places).next() else { return Ok(Some(0)) };
        let has_snapshots = self.has_snapshots().await?;
        let is_moved = self.move_segments(places, has_snapshots).await?;
        Ok(is_moved.then_some(places.len() as u64))
    }

    async fn move_segments(&self, places: &[u64], has_snapshots: bool) -> Result<bool> {
        let region = places[0] / REGION_SEGMENTS;
        let maps = [self.lower, self.upper].map(|layer| keys::page_map_key(layer, region));
        let mut reads = self.descriptions();
        reads.extend(maps.iter().cloned());
        for place in places {
            reads.extend([self.lower, self.upper].map(|layer| keys::pages_key(layer, *place)));
        }
        let decide = |tx: &mut Transaction| {
            let Some(Both { lower, upper }) = self.both(tx)? else { return Ok(false) };
            if !upper.clears.is_empty() {
                return Ok(false);
            }
            let keeps_marks = lower.below != 0 || has_snapshots;
            let map = |key: &Bytes| tx.get(key).map(PageMap::decode).transpose();
            let (mut lower_map, mut upper_map) =
                (map(&maps[0])?.unwrap_or_default(), map(&maps[1])?.unwrap_or_default());
            for place in places {
                let [lower_key, upper_key] = [self.lower, self.upper].map(|layer| keys::pages_key(layer, *place));
                let Some(above) = tx.get(&upper_key).map(Segment::decode).transpose()? else { continue };
                let below = tx.get(&lower_key).map(Segment::decode).transpose()?.unwrap_or_default();
                let merged = above.over(&below)?;
                let merged = if keeps_marks { merged } else { merged.without_cleared() };
                lower_map.set(*place, &merged);
                upper_map.set(*place, &Segment::default());
                put_segment(tx, lower_key, &merged);
                tx.delete(upper_key);
            }
            put_map(tx, maps[0].clone(), &lower_map);
            put_map(tx, maps[1].clone(), &upper_map);
            Ok(true)
        };
        self.store.transact(self.partition, reads, decide).await
    }

    /// When pages of the blob itself were last written, if the upper layer is its newest.
    async fn written(&self) -> Result<Option<DateTime>> {
        let Some(record) = self.store.get(self.partition, keys::BASE_KEY).await? else { return Ok(None) };
        Ok(match Blob::decode(&record)?.body {
            Body::Pages(body) if body.top == self.upper => Some(body.written),
            _ => None,
        })
    }

    /// Step 4, once the upper layer was found empty; `false` if it may not be empty any more.
    async fn replace(&self, written: Option<DateTime>) -> Result<bool> {
        let seen = self.store.get(self.partition, keys::BASE_KEY).await?;
        let references = References::read(self.store, self.partition).await?;
        let has_snapshot = |(key, top): &(Bytes, u64)| *top == self.upper && key != keys::BASE_KEY;
        // Without a snapshot that shares it, the blob may go on with the lower layer. One that is taken meanwhile changes its
        // record.
        let alone = seen.filter(|_| !references.tops.iter().any(has_snapshot));
        if !self.rename_top(Bytes::from_static(keys::BASE_KEY), written, alone.as_ref()).await? {
            return Ok(false);
        }
        // A snapshot that is taken now has the top of the blob itself, which is another by now. So this finds them all.
        for (key, top) in References::read(self.store, self.partition).await?.tops {
            if top == self.upper && key != keys::BASE_KEY && !self.rename_top(key, None, None).await? {
                return Ok(false);
            }
        }
        for (id, layer) in read_layers(self.store, self.partition).await? {
            if layer.below == self.upper {
                self.rename_below(id).await?;
            }
        }
        super::tidy::delete_layer(self.store, self.partition, self.upper).await?;
        Ok(true)
    }

    /// Makes a record that has the upper layer on top have the lower one. `written` is of the blob itself: `false` if its
    /// pages, or the layer on top of it, are not what they were then. If its record is still `alone`, nothing shares the
    /// layer with it.
    async fn rename_top(&self, key: Bytes, written: Option<DateTime>, alone: Option<&Bytes>) -> Result<bool> {
        let is_base = key == keys::BASE_KEY;
        let decide = |tx: &mut Transaction| {
            let stored = tx.get(&key);
            let is_alone = stored.is_some() && stored == alone;
            let Some(mut blob) = stored.map(Blob::decode).transpose()? else { return Ok(written.is_none()) };
            match &mut blob.body {
                Body::Pages(body) if body.top == self.upper => {
                    if is_base && written != Some(body.written) {
                        return Ok(false);
                    }
                    body.top = self.lower;
                    body.is_frozen &= !is_alone;
                }
                _ => return Ok(written.is_none()),
            }
            tx.put(key.clone(), blob.encode());
            Ok(true)
        };
        self.store.transact(self.partition, vec![key.clone()], decide).await
    }

    async fn rename_below(&self, id: u64) -> Result<()> {
        let key = keys::layer_key(id);
        let decide = |tx: &mut Transaction| {
            let Some(mut layer) = tx.get(&key).map(Layer::decode).transpose()? else { return Ok(()) };
            if layer.below == self.upper {
                layer.below = self.lower;
                tx.put(key.clone(), layer.encode());
            }
            Ok(())
        };
        self.store.transact(self.partition, vec![key.clone()], decide).await
    }

    fn limits() -> ScanLimits {
        ScanLimits { records_max: MOVED_MAX, ..ScanLimits::PAGE }
    }
}

fn places_of<'k>(record_keys: impl Iterator<Item = &'k Bytes>) -> Result<Vec<u64>> {
    record_keys.map(|key| Ok(keys::place_in_layer(key)?.1)).collect()
}

/// Groups of segments that one map is about.
fn by_region(places: &[u64]) -> impl Iterator<Item = &[u64]> {
    places.chunk_by(|a, b| a / REGION_SEGMENTS == b / REGION_SEGMENTS)
}

fn put_segment(tx: &mut Transaction, key: Bytes, segment: &Segment) {
    match segment.is_empty() {
        true => tx.delete(key),
        false => tx.put(key, segment.encode()),
    }
}

fn put_map(tx: &mut Transaction, key: Bytes, map: &PageMap) {
    match map.is_empty() {
        true => tx.delete(key),
        false => tx.put(key, map.encode()),
    }
}
