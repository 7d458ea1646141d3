//! What all layers of a blob say about its pages, as runs. It costs what is stored in the range: regions without a map are
//! never visited one by one, however large a cleared area is.

use std::collections::BTreeMap;

use tablerock_kv::{Bytes, Result, ScanLimits, Store};

use super::REGION_PAGES;
use super::layer::Layer;
use super::map::PageMap;
use super::span::{Span, overlaps, union};
use crate::blob::keys;

/// Maps that are joined at a time.
const MAPS_MAX: usize = 256;

/// Maps of all layers, joined, some at a time.
pub(super) struct JoinedMaps<'a> {
    store: &'a Store,
    partition: &'a Bytes,
    layers: &'a [(u64, Layer)],
    /// The runs that any of the layers hides. Where no layer has a map, this is all there is to know.
    hidden: Vec<Span>,
    /// The regions that are not read yet.
    next: u64,
    end: u64,
}

impl<'a> JoinedMaps<'a> {
    /// The maps of the regions that have any of these pages; the newest layer comes first.
    pub(super) fn new(store: &'a Store, partition: &'a Bytes, layers: &'a [(u64, Layer)], pages: Span) -> Self {
        let hidden = layers.iter().fold(vec![], |all, (_, layer)| union(&all, &layer.clears));
        let regions = pages.regions();
        Self { store, partition, layers, hidden, next: regions.start, end: regions.end }
    }

    /// Hands out some runs in order: pages that are written, and pages that are cleared. `false` after the last one, or
    /// when no more are taken.
    pub(super) async fn next(&mut self, mut take: impl FnMut(Span, bool) -> bool) -> Result<bool> {
        if self.next >= self.end {
            return Ok(false);
        }
        let (maps, end) = self.read().await?;
        let mut page = self.next * REGION_PAGES;
        for (region, map) in &maps {
            let mut runs = self.hidden_runs(page, region * REGION_PAGES).chain(map.runs(*region));
            if !runs.all(|(run, is_written)| take(run, is_written)) {
                return Ok(false);
            }
            page = (region + 1) * REGION_PAGES;
        }
        let goes_on = self.hidden_runs(page, end * REGION_PAGES).all(|(run, is_written)| take(run, is_written));
        self.next = end;
        Ok(goes_on)
    }

    fn hidden_runs(&self, first: u64, end: u64) -> impl Iterator<Item = (Span, bool)> {
        let gap = Span { first, end };
        overlaps(&self.hidden, gap).iter().map(move |span| (span.within(gap), false)).filter(|(run, _)| !run.is_empty())
    }

    /// Joins some maps. Returns the region after the last that they cover.
    async fn read(&self) -> Result<(BTreeMap<u64, PageMap>, u64)> {
        let mut end = self.end;
        let mut found = BTreeMap::<u64, PageMap>::new();
        let mut hidden: Vec<Span> = vec![];
        for (layer, Layer { clears, .. }) in self.layers {
            // A long list must not keep other requests waiting, nor its own time limit.
            tokio::task::yield_now().await;
            let range = keys::page_maps(self.partition, *layer, self.next, end);
            let limits = ScanLimits { records_max: MAPS_MAX, ..ScanLimits::PAGE };
            let page = self.store.scan(&range, limits).await?;
            if let Some(next) = page.next.filter(|next| range.contains(next)) {
                end = keys::place_in_layer(&next.key)?.1;
                found.split_off(&end);
            }
            for record in page.records {
                let region = keys::place_in_layer(&record.key)?.1;
                // The first map of a region: the layers above have nothing of it but what they hide.
                let above = found.entry(region).or_insert_with(|| PageMap::clearing(region, &hidden));
                above.put_under(&PageMap::decode(&record.value)?);
            }
            if !clears.is_empty() {
                found.iter_mut().for_each(|(region, map)| map.clear_under(*region, clears));
                hidden = union(&hidden, clears);
            }
            if let Some((region, _)) = found.iter().nth(MAPS_MAX) {
                end = *region;
                found.split_off(&end);
            }
        }
        Ok((found, end))
    }
}
