//! Pages on their way out: those that were never written are zeros.

use bytes::BytesMut;
use tablerock_kv::{Bytes, Error, Result, Store};
use tablerock_protocol::blob::{ByteRange, CustomerKey};

use super::SEGMENT_BYTES;
use super::body::PageBody;
use super::layer::{Layer, read_chain};
use super::stored_pages::SegmentDecryptor;
use super::window::{Window, read_window};
use crate::blob::attempts::pause_before;
use crate::blob::keys;
use crate::blob::stored_blob::{Blob, Body};

/// Segments that are handed out at a time: 256 KiB.
pub(super) const WINDOW_SEGMENTS: usize = 8;

/// A range of up to 4 MiB is of one moment: as long as what one request writes. It may begin and end within a segment.
const WHOLE_SEGMENTS_MAX: u64 = (4 << 20) / SEGMENT_BYTES + 1;

/// How often a window of a longer range is read again because its layers were merged.
const ATTEMPTS_MAX: u32 = 16;

const WINDOW_BYTES: u64 = WINDOW_SEGMENTS as u64 * SEGMENT_BYTES;

/// The bytes of pages that a blob does not have.
static ZEROS: [u8; WINDOW_BYTES as usize] = [0; WINDOW_BYTES as usize];

/// A page blob, or a snapshot of one, whose pages are being read.
#[derive(Debug)]
pub(in crate::blob) struct PageSource {
    store: Store,
    partition: Bytes,
    /// The record of the blob or of the snapshot.
    key: Bytes,
    body: PageBody,
    chain: Vec<(u64, Layer)>,
}

impl PageSource {
    /// Finds the layers of a blob; `None` if they were merged since its record was read.
    pub(in crate::blob) async fn open(
        store: &Store,
        partition: &Bytes,
        key: Bytes,
        body: &PageBody,
    ) -> Result<Option<Self>> {
        let Some(chain) = read_chain(store, partition, body.top).await? else { return Ok(None) };
        let (store, partition, body) = (store.clone(), partition.clone(), body.clone());
        Ok(Some(Self { store, partition, key, body, chain }))
    }

    /// As [`open`](Self::open), but a merge is followed to the layers that have the same pages now; `None` if other pages were
    /// written, or the blob was replaced.
    pub(super) async fn open_merged(
        store: &Store,
        partition: &Bytes,
        key: Bytes,
        body: &PageBody,
    ) -> Result<Option<Self>> {
        if let Some(source) = Self::open(store, partition, key.clone(), body).await? {
            return Ok(Some(source));
        }
        let (store, partition) = (store.clone(), partition.clone());
        let mut source = Self { store, partition, key, body: body.clone(), chain: vec![] };
        Ok((source.reopen().await? && source.body.has_pages_of(body)).then_some(source))
    }

    /// Reads segments from `first` up to `end`, or so many of them. `None` if the blob is not there any more, or if half of a
    /// write could be among them.
    async fn window(&self, first: u64, end: u64, segments_max: usize) -> Result<Option<Window>> {
        let window = read_window(&self.store, &self.partition, &self.chain, first, end, segments_max).await?;
        Ok(self.is_steady().await?.then_some(window))
    }

    /// As [`window`](Self::window), but `None` if any page of the blob was changed. So all windows together are of one
    /// moment.
    pub(super) async fn unchanged_window(&mut self, first: u64, end: u64) -> Result<Option<Window>> {
        let seen = self.body.clone();
        for attempt in 0..ATTEMPTS_MAX {
            pause_before(attempt).await;
            let window = read_window(&self.store, &self.partition, &self.chain, first, end, WINDOW_SEGMENTS).await?;
            if self.is_unchanged().await? {
                return Ok(Some(window));
            }
            // A merge leaves the pages as they are, in other layers.
            if !self.reopen().await? || !self.body.has_pages_of(&seen) {
                return Ok(None);
            }
        }
        Err(Error::unavailable("the layers of a page blob change too often; retry later"))
    }

    /// Whether what was read from the layers is of one moment, as far as each of them was read at once.
    pub(super) async fn is_steady(&self) -> Result<bool> {
        let Some(body) = self.current().await? else { return Ok(false) };
        if !self.hides_the_same().await? {
            return Ok(false);
        }
        if body.has_pages_of(&self.body) {
            return Ok(true);
        }
        // Pages were written. That does no harm unless they moved to a layer that was read later.
        let Some((top, _)) = self.chain.first() else { return Ok(body.top == 0) };
        if body.generation != self.body.generation || body.top != *top {
            return Ok(false);
        }
        let description = self.store.get(&self.partition, &keys::layer_key(*top)).await?;
        Ok(match description.as_ref().map(Layer::decode).transpose()? {
            Some(layer) => !layer.is_leaving,
            None => false,
        })
    }

    /// Whether the pages are still those that were there when the source was opened.
    pub(super) async fn is_unchanged(&self) -> Result<bool> {
        let is_same = self.current().await?.is_some_and(|body| body.has_pages_of(&self.body));
        Ok(is_same && self.hides_the_same().await?)
    }

    /// Whether the layers still hide what they hid when the source was opened. A merge first hands that down to the layer
    /// below, and then moves pages there: a reader that knows the old descriptions would take those pages for hidden.
    async fn hides_the_same(&self) -> Result<bool> {
        for (layer, Layer { clears, .. }) in self.chain.iter().filter(|(_, layer)| !layer.clears.is_empty()) {
            let description = self.store.get(&self.partition, &keys::layer_key(*layer)).await?;
            let current = description.as_ref().map(Layer::decode).transpose()?;
            if current.is_none_or(|current| current.clears != *clears) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn current(&self) -> Result<Option<PageBody>> {
        let Some(record) = self.store.get(&self.partition, &self.key).await? else { return Ok(None) };
        Ok(match Blob::decode(&record)?.body {
            Body::Pages(body) => Some(body),
            _ => None,
        })
    }

    /// Finds the layers again; `false` if the blob was replaced or deleted.
    async fn reopen(&mut self) -> Result<bool> {
        for attempt in 0..ATTEMPTS_MAX {
            pause_before(attempt).await;
            let Some(body) = self.current().await? else { return Ok(false) };
            if body.generation != self.body.generation {
                return Ok(false);
            }
            if let Some(chain) = read_chain(&self.store, &self.partition, body.top).await? {
                (self.body, self.chain) = (body, chain);
                return Ok(true);
            }
        }
        Err(Error::unavailable("the layers of a page blob change too often; retry later"))
    }

    pub(super) fn chain(&self) -> &[(u64, Layer)] {
        &self.chain
    }
}

/// A range of a page blob, some bytes at a time. Up to 4 MiB it is of one moment; above, each 256 KiB are.
#[derive(Debug)]
pub(in crate::blob) struct PageReader {
    source: PageSource,
    /// The part that is not handed out yet.
    offset: u64,
    end: u64,
    /// Whether all of it is of one moment.
    is_whole: bool,
    /// The part that was read and is not handed out yet.
    window: Window,
    decryptor: SegmentDecryptor,
}

impl PageReader {
    /// Reads a range of a blob; `key` is the customer's key of the blob.
    pub(in crate::blob) fn new(source: PageSource, range: ByteRange, key: Option<&CustomerKey>) -> Self {
        let (offset, end) = (range.offset, range.offset + range.length);
        let first = offset / SEGMENT_BYTES;
        let is_whole = end.div_ceil(SEGMENT_BYTES) - first <= WHOLE_SEGMENTS_MAX;
        let (window, decryptor) = (Window { end: first, ..Window::default() }, SegmentDecryptor::new(key));
        Self { source, offset, end, is_whole, window, decryptor }
    }

    /// The next bytes, at most 256 KiB; `None` if the blob has gone. Not to be called at the end of the range.
    pub(in crate::blob) async fn next(&mut self) -> Result<Option<Bytes>> {
        if self.offset >= self.window.end * SEGMENT_BYTES && !self.read().await? {
            return Ok(None);
        }
        let end = (self.window.end * SEGMENT_BYTES).min(self.end);
        let first = self.offset / SEGMENT_BYTES;
        let next = self.window.segments.first_key_value().map_or(self.window.end, |(place, _)| *place);
        if next > first {
            // A run of pages that nobody wrote: as long as the blob, and no engine to wait for.
            tokio::task::consume_budget().await;
            let length = (next * SEGMENT_BYTES).min(end).min(self.offset + WINDOW_BYTES) - self.offset;
            self.offset += length;
            return Ok(Some(Bytes::from_static(&ZEROS[..length as usize])));
        }
        let mut segments = Vec::with_capacity(WINDOW_SEGMENTS);
        for place in first..first + WINDOW_SEGMENTS as u64 {
            let Some(segment) = self.window.segments.remove(&place) else { break };
            segments.push((place, segment));
        }
        let segments = self.decryptor.decrypt(segments).await?;
        let mut buffer = BytesMut::zeroed(segments.len() * SEGMENT_BYTES as usize);
        for ((_, segment), part) in segments.iter().zip(buffer.chunks_exact_mut(SEGMENT_BYTES as usize)) {
            segment.copy_to(part);
        }
        let last = ((first + segments.len() as u64) * SEGMENT_BYTES).min(end);
        let start = first * SEGMENT_BYTES;
        let bytes = buffer.freeze().slice((self.offset - start) as usize..(last - start) as usize);
        self.offset = last;
        Ok(Some(bytes))
    }

    /// Reads the next window; `false` if the blob has gone.
    async fn read(&mut self) -> Result<bool> {
        let (first, end) = (self.offset / SEGMENT_BYTES, self.end.div_ceil(SEGMENT_BYTES));
        if self.is_whole {
            let window = self.source.window(first, end, WHOLE_SEGMENTS_MAX as usize).await?;
            return Ok(window.map(|window| self.window = window).is_some());
        }
        for attempt in 0..ATTEMPTS_MAX {
            pause_before(attempt).await;
            if let Some(window) = self.source.window(first, end, WINDOW_SEGMENTS).await? {
                self.window = window;
                return Ok(true);
            }
            if !self.source.reopen().await? {
                return Ok(false);
            }
        }
        Ok(false)
    }
}
