//! The pages of a part of a blob, from all its layers.
//!
//! Layers are read from the newest to the oldest. Merging moves pages from a layer to the one below, so whatever is moved
//! while this reads is found in one of the two, or in both. Clients write to the newest layer only, which is one scan, so
//! each of their writes is seen as a whole or not at all, unless that layer is merged meanwhile.

use std::collections::BTreeMap;

use tablerock_kv::{Bytes, Result, ScanLimits, Store};

use super::layer::Layer;
use super::segment::Segment;
use super::span::{Span, mask_of};
use crate::blob::keys;

/// The segments of a part of a blob that have any pages.
#[derive(Debug, Default)]
pub(super) struct Window {
    pub(super) segments: BTreeMap<u64, Segment>,
    /// The segment that the next window begins with.
    pub(super) end: u64,
}

/// Reads segments from `first` up to `end`, or so many of them. What a layer has of them is read at once.
pub(super) async fn read_window(
    store: &Store,
    partition: &Bytes,
    chain: &[(u64, Layer)],
    first: u64,
    end: u64,
    segments_max: usize,
) -> Result<Window> {
    let mut window = Window { segments: BTreeMap::new(), end };
    let mut hidden: Vec<Span> = Vec::new();
    for (layer, Layer { clears, .. }) in chain {
        if window.is_complete(first) {
            break;
        }
        let range = keys::pages(partition, *layer, first, window.end);
        let limits = ScanLimits { records_max: segments_max, bytes_max: usize::MAX, deadline: None };
        let page = store.scan(&range, limits).await?;
        if let Some(next) = &page.next
            && range.contains(next)
        {
            window.end = keys::place_in_layer(&next.key)?.1;
            window.segments.split_off(&window.end);
        }
        for record in &page.records {
            let segment = keys::place_in_layer(&record.key)?.1;
            let below = Segment::decode(&record.value)?.without(mask_of(&hidden, segment));
            let merged = match window.segments.get(&segment) {
                Some(above) => above.over(&below)?,
                None => below,
            };
            window.segments.insert(segment, merged);
        }
        hidden.extend_from_slice(clears);
    }
    Ok(window)
}

impl Window {
    /// Whether older layers have nothing to add.
    fn is_complete(&self, first: u64) -> bool {
        self.segments.len() as u64 == self.end - first
            && self.segments.values().all(|segment| segment.touched() == u64::MAX)
    }
}
