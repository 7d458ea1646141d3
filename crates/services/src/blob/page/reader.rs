//! Pages on their way out: those that were never written are zeros.

use std::collections::VecDeque;

use bytes::BytesMut;
use tablerock_kv::{Bytes, Result, Store};
use tablerock_protocol::blob::ByteRange;

use super::SEGMENT_BYTES;
use super::body::PageBody;
use super::layer::{Layer, read_chain};
use super::window::{WINDOW_SEGMENTS, Window, read_window};
use crate::blob::stored_blob::{Blob, Body};

const WINDOW_BYTES: usize = WINDOW_SEGMENTS * SEGMENT_BYTES as usize;

/// What takes the place of pages that a blob does not have.
static ZEROS: [u8; WINDOW_BYTES] = [0; WINDOW_BYTES];

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
    /// Finds the layers of a blob; `None` if it has changed since its record was read.
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

    /// Reads segments from `first` up to `end`, or some of them; `None` if the blob has changed since it was opened. So all
    /// windows together are the pages of one moment.
    pub(super) async fn window(&self, first: u64, end: u64) -> Result<Option<Window>> {
        let window = read_window(&self.store, &self.partition, &self.chain, first, end).await?;
        Ok(self.is_unchanged().await?.then_some(window))
    }

    /// Whether the pages are still those that were there when the source was opened.
    pub(super) async fn is_unchanged(&self) -> Result<bool> {
        let Some(record) = self.store.get(&self.partition, &self.key).await? else { return Ok(false) };
        Ok(match Blob::decode(&record)?.body {
            Body::Pages(body) => body.has_pages_of(&self.body),
            _ => false,
        })
    }

    pub(super) fn chain(&self) -> &[(u64, Layer)] {
        &self.chain
    }
}

/// A range of a page blob, some bytes at a time.
#[derive(Debug)]
pub(in crate::blob) struct PageReader {
    source: PageSource,
    /// What is not read yet.
    offset: u64,
    end: u64,
    ready: VecDeque<Part>,
}

#[derive(Debug)]
enum Part {
    Zeros(u64),
    Bytes(Bytes),
}

impl PageReader {
    pub(in crate::blob) fn new(source: PageSource, range: ByteRange) -> Self {
        Self { source, offset: range.offset, end: range.offset + range.length, ready: VecDeque::new() }
    }

    /// The next bytes, at most 256 KiB; `None` if the blob has changed since. Not to be called at the end of the range.
    pub(in crate::blob) async fn next(&mut self) -> Result<Option<Bytes>> {
        loop {
            match self.ready.pop_front() {
                Some(Part::Bytes(bytes)) => return Ok(Some(bytes)),
                Some(Part::Zeros(left)) => {
                    let length = left.min(WINDOW_BYTES as u64);
                    if left > length {
                        self.ready.push_front(Part::Zeros(left - length));
                    }
                    return Ok(Some(Bytes::from_static(&ZEROS[..length as usize])));
                }
                None => {
                    let (first, end) = (self.offset / SEGMENT_BYTES, self.end.div_ceil(SEGMENT_BYTES));
                    let Some(window) = self.source.window(first, end).await? else { return Ok(None) };
                    self.take(&window);
                }
            }
        }
    }

    /// Turns a window into bytes, from the offset on.
    fn take(&mut self, window: &Window) {
        let end = (window.end * SEGMENT_BYTES).min(self.end);
        let mut segments = window.segments.iter().filter(|(_, segment)| segment.written != 0).peekable();
        while self.offset < end {
            let Some((first, _)) = segments.peek() else {
                self.push_zeros(end);
                break;
            };
            self.push_zeros((**first * SEGMENT_BYTES).min(end));
            // Segments that follow each other are one part.
            let (start, mut next) = (**first, **first);
            let mut buffer = BytesMut::new();
            while let Some((_, segment)) = segments.next_if(|(place, _)| **place == next) {
                let at = buffer.len();
                buffer.resize(at + SEGMENT_BYTES as usize, 0);
                segment.copy_to(&mut buffer[at..]);
                next += 1;
            }
            let last = (next * SEGMENT_BYTES).min(end);
            if last > self.offset {
                let start = start * SEGMENT_BYTES;
                let part = buffer.freeze().slice((self.offset - start) as usize..(last - start) as usize);
                self.ready.push_back(Part::Bytes(part));
                self.offset = last;
            }
        }
    }

    fn push_zeros(&mut self, end: u64) {
        if end > self.offset {
            self.ready.push_back(Part::Zeros(end - self.offset));
            self.offset = end;
        }
    }
}
