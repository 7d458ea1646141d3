//! Pages in another store, where layers have other numbers, and pages as text.

use tablerock_kv::{Bytes, Error, Result, Store};

use super::body::PageBody;
use super::layer::Layer;
use super::reader::PageSource;
use super::{PAGE_BYTES, SEGMENT_BYTES};
use crate::blob::keys::{self, BlobKey};

/// A body with other numbers.
pub(in crate::blob) fn renumber_body(body: &mut PageBody, new: impl Fn(u64) -> Result<u64>) -> Result<()> {
    body.generation = new(body.generation)?;
    if body.top != 0 {
        body.top = new(body.top)?;
    }
    Ok(())
}

/// A record of a layer with other numbers.
pub(in crate::blob) fn renumber_record(
    kind: BlobKey,
    key: &Bytes,
    value: &Bytes,
    new: impl Fn(u64) -> Result<u64>,
) -> Result<(Bytes, Bytes)> {
    let (layer, place) = keys::place_in_layer(key)?;
    let layer = new(layer)?;
    Ok(match kind {
        BlobKey::PageMap => (keys::page_map_key(layer, place), value.clone()),
        BlobKey::Pages => (keys::pages_key(layer, place), value.clone()),
        _ => {
            let mut stored = Layer::decode(value)?;
            if stored.below != 0 {
                stored.below = new(stored.below)?;
            }
            (keys::layer_key(layer), stored.encode())
        }
    })
}

/// Reads the pages that a blob has, in runs: where each begins, and some bytes at a time.
pub(in crate::blob) async fn read_pages(
    store: &Store,
    partition: &Bytes,
    record_key: Bytes,
    length: u64,
    body: &PageBody,
    mut take: impl AsyncFnMut(u64, Bytes) -> Result<()>,
) -> Result<()> {
    let changed = || Error::unavailable("a page blob was written to while it was read; stop all writers first");
    let mut source = PageSource::open(store, partition, record_key, body).await?.ok_or_else(changed)?;
    let (mut next, end) = (0, length.div_ceil(SEGMENT_BYTES));
    while next < end {
        let window = source.unchanged_window(next, end).await?.ok_or_else(changed)?;
        for (place, segment) in window.segments {
            for (first, bytes) in segment.runs() {
                take(place * SEGMENT_BYTES + first * PAGE_BYTES, bytes).await?;
            }
        }
        next = window.end;
    }
    Ok(())
}
