//! Reclaiming the layers of a page blob: those that nothing refers to go, and those that no snapshot keeps apart are merged.
//!
//! All of it asks the data and may run twice, also at the same time. See `merge.rs` for how two layers become one.

use std::collections::BTreeSet;

use tablerock_kv::{Bytes, Error, Position, Range, Result, ScanLimits, Store};

use super::layer::{Layers, read_layers};
use super::merge::{self, Merged};
use crate::blob::address::BlobLocation;
use crate::blob::keys;
use crate::blob::stored_blob::{Blob, Body};

/// Layers of up to so many records are deleted record by record. Above, the engine drops their range.
const DELETED_RECORDS_MAX: usize = 32;

/// Segments that a request's own cleanup merges. The sweep merges the rest.
pub(in crate::blob) const MERGED_AT_ONCE_MAX: u64 = 4_096;

/// How often the layers may change while they are read.
const OUTDATED_MAX: u32 = 64;

/// The records of a blob that refer to layers, by the layer on top.
pub(super) struct References {
    /// Keys of records, with the newest layer of each.
    pub(super) tops: Vec<(Bytes, u64)>,
}

impl References {
    pub(super) async fn read(store: &Store, partition: &Bytes) -> Result<Self> {
        let mut range = keys::snapshots(partition);
        range.end = Some(Position::new(partition.clone(), keys::BASE_KEY).successor());
        let mut records = store.records(range);
        let mut tops = Vec::new();
        while let Some(record) = records.next().await? {
            if let Body::Pages(body) = Blob::decode(&record.value)?.body {
                tops.push((record.key, body.top));
            }
        }
        Ok(Self { tops })
    }

    pub(super) fn is_top(&self, layer: u64) -> bool {
        self.tops.iter().any(|(_, top)| *top == layer)
    }
}

/// Deletes what nothing refers to, and merges up to so many segments. `named` are layers that a copy began and that go
/// unless it was finished. Returns whether there is nothing left to merge.
pub(in crate::blob) async fn tidy(
    store: &Store,
    location: &BlobLocation,
    named: &[u64],
    mut segments_max: u64,
) -> Result<bool> {
    let mut outdated = 0;
    loop {
        // Layers first: one that begins after this read is not in the list, so it cannot be taken for garbage.
        let layers = read_layers(store, &location.partition).await?;
        if layers.is_empty() {
            return Ok(true);
        }
        let references = References::read(store, &location.partition).await?;
        let Some(live) = live_layers(&layers, &references) else {
            outdated += 1;
            if outdated == OUTDATED_MAX {
                return Err(Error::corrupt(format!("a layer of the page blob {:?} is missing", location.name)));
            }
            continue;
        };
        for (id, layer) in &layers {
            if !live.contains(id) && (!layer.is_arriving || named.contains(id)) {
                delete_layer(store, &location.partition, *id).await?;
            }
        }
        let Some((lower, upper)) = mergeable(&layers, &live, &references) else { return Ok(true) };
        if segments_max == 0 {
            return Ok(false);
        }
        // A merge may find that the layers are not what they were.
        match merge::merge(store, &location.partition, lower, upper, segments_max).await? {
            Merged::Some(moved) => segments_max = segments_max.saturating_sub(moved.max(1)),
            Merged::Later => return Ok(false),
        }
    }
}

/// The layers that records refer to, with all below; `None` if one of them is not in the list, which is out of date then.
fn live_layers(layers: &Layers, references: &References) -> Option<BTreeSet<u64>> {
    let mut live = BTreeSet::new();
    for (_, top) in &references.tops {
        let mut next = *top;
        while next != 0 && live.insert(next) {
            next = layers.get(&next)?.below;
        }
    }
    Some(live)
}

/// A layer and the one above it that no record needs apart.
fn mergeable(layers: &Layers, live: &BTreeSet<u64>, references: &References) -> Option<(u64, u64)> {
    let above = |(id, layer): (&u64, &super::layer::Layer)| {
        let lower = layers.get(&layer.below)?;
        let is_free = live.contains(id) && !lower.is_leaving && !references.is_top(layer.below);
        let spans = super::span::union(&lower.clears, &layer.clears).len();
        (is_free && spans <= merge::CLEARS_MAX).then_some((layer.below, *id))
    };
    layers.iter().filter(|(_, layer)| layer.below != 0).find_map(above)
}

/// Deletes all records of a layer, and its description last: until then it can be found again.
pub(super) async fn delete_layer(store: &Store, partition: &Bytes, layer: u64) -> Result<()> {
    let ranges = [keys::page_maps(partition, layer, 0, u64::MAX), keys::pages(partition, layer, 0, u64::MAX)];
    for range in ranges {
        delete_range(store, partition, range).await?;
    }
    store.write(partition, |tx| tx.delete(keys::layer_key(layer))).await
}

async fn delete_range(store: &Store, partition: &Bytes, range: Range) -> Result<()> {
    let limits = ScanLimits { records_max: DELETED_RECORDS_MAX, ..ScanLimits::PAGE };
    let page = store.scan(&range, limits).await?;
    if page.next.is_some_and(|next| range.contains(&next)) {
        return store.drop_range(range).await;
    }
    if page.records.is_empty() {
        return Ok(());
    }
    store.write(partition, |tx| page.records.iter().for_each(|record| tx.delete(record.key.clone()))).await
}
