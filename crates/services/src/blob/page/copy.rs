//! Copying the pages of a blob to another: only those that it has.

use tablerock_kv::{Bytes, Error as StoreError, Store, Transaction};
use tablerock_protocol::ErrorCode;

use super::REGION_SEGMENTS;
use super::body::PageBody;
use super::layer::Layer;
use super::map::PageMap;
use super::reader::PageSource;
use super::segment::Segment;
use super::stored_pages::{SegmentDecryptor, SegmentEncryptor};
use crate::Result;
use crate::blob::address::BlobLocation;
use crate::blob::copy::{Copied, KeysOfCopy};
use crate::blob::reclaim::{Direction, ReclaimIntent, Reclaimable};
use crate::blob::stored_blob::{Blob, Body};
use crate::blob::{BlobService, keys};

impl BlobService {
    /// Copies the pages of a blob, or of the snapshot under `key`, to a layer that nothing refers to yet.
    pub(in crate::blob) async fn copy_pages(
        &self,
        from: &BlobLocation,
        key: Bytes,
        blob: &Blob,
        to: &BlobLocation,
        (source_key, target_key): KeysOfCopy<'_>,
    ) -> Result<Copied> {
        let body = blob.pages()?;
        let mut decryptor = SegmentDecryptor::new(source_key);
        let encryptor = SegmentEncryptor::new(target_key)?;
        let opened = PageSource::open_merged(&self.store, &from.partition, key, body).await?;
        // The source was changed meanwhile; a retry copies the new one.
        let mut source = opened.ok_or(ErrorCode::ServerBusy)?;
        let generation = self.content_ids.next().await?;
        let (mut upload, intent) = self.page_upload(to).await?;
        let (mut next, end) = (0, blob.length.div_ceil(super::SEGMENT_BYTES));
        while next < end {
            let window = source.unchanged_window(next, end).await?.ok_or(ErrorCode::ServerBusy)?;
            for (place, segment) in decryptor.decrypt(window.segments.into_iter().collect()).await? {
                upload.put(place, encryptor.encrypt(place, segment.without_cleared()).await?).await?;
            }
            next = window.end;
        }
        let top = upload.finish().await?;
        let puts = top.map(|layer| (keys::layer_key(layer), Layer::default().encode())).into_iter().collect();
        let body = PageBody { top: top.unwrap_or(0), ..PageBody::new(generation, body.written, body.sequence_number) };
        Ok(Copied { body: Body::Pages(body), puts, intent: Some(intent) })
    }

    /// Begins a layer that nothing refers to yet.
    pub(super) async fn page_upload(&self, to: &BlobLocation) -> Result<(PageUpload, ReclaimIntent)> {
        let layer = self.content_ids.next().await?;
        let reclaimable = Reclaimable::Pages { layer };
        let intent = self.intend_reclaim(to, layer, vec![reclaimable], Direction::Arriving).await?;
        let upload = PageUpload {
            store: self.store.clone(),
            partition: to.partition.clone(),
            layer,
            is_begun: false,
            region: 0,
            map: PageMap::default(),
            batch: vec![],
        };
        Ok((upload, intent))
    }
}

/// Segments that are written together: 512 KiB.
const BATCH_MAX: usize = 16;

/// A layer that a copy is writing, in the order of its segments.
pub(in crate::blob) struct PageUpload {
    store: Store,
    partition: Bytes,
    pub(super) layer: u64,
    is_begun: bool,
    /// The region of the segments that came last, and what the layer has of it.
    region: u64,
    map: PageMap,
    batch: Vec<(Bytes, Bytes)>,
}

impl PageUpload {
    pub(super) async fn put(&mut self, place: u64, segment: Segment) -> Result<(), StoreError> {
        if segment.is_empty() {
            return Ok(());
        }
        if place / REGION_SEGMENTS != self.region {
            self.end_region();
            self.region = place / REGION_SEGMENTS;
        }
        self.map.set(place, &segment);
        self.batch.push((keys::pages_key(self.layer, place), segment.encode()));
        if self.batch.len() >= BATCH_MAX { self.write().await } else { Ok(()) }
    }

    fn end_region(&mut self) {
        let map = std::mem::take(&mut self.map);
        if !map.is_empty() {
            self.batch.push((keys::page_map_key(self.layer, self.region), map.encode()));
        }
    }

    async fn write(&mut self) -> Result<(), StoreError> {
        let batch = std::mem::take(&mut self.batch);
        let layer = Layer { is_arriving: true, ..Layer::default() };
        let is_begun = std::mem::replace(&mut self.is_begun, true);
        let write = |tx: &mut Transaction| {
            if !is_begun {
                tx.put(keys::layer_key(self.layer), layer.encode());
            }
            batch.iter().for_each(|(key, value)| tx.put(key.clone(), value.clone()));
        };
        self.store.write(&self.partition, write).await
    }

    /// Waits until all of it is durable. Returns the layer, if it has any pages. It becomes part of a blob with its
    /// description.
    pub(super) async fn finish(mut self) -> Result<Option<u64>, StoreError> {
        self.end_region();
        if !self.batch.is_empty() {
            self.write().await?;
        }
        Ok(self.is_begun.then_some(self.layer))
    }
}
