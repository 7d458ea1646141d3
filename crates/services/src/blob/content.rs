//! Receiving content: cut into chunks, some of which are being stored while the next ones arrive. They become records, or
//! one file if the engine has files for large contents.

use std::sync::Arc;

use bytes::BytesMut;
use tablerock_kv::{Bytes, CONTENT_PART_BYTES, ContentWriter, Error as StoreError, Store};
use tablerock_protocol::blob::{Checksums, Digests, KeyDigest};
use tablerock_protocol::{ErrorCode, ServiceError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinHandle, JoinSet};

use super::address::{BlobLocation, ContentAddress};
use super::keys;
use super::reclaim::ReclaimIntent;
use crate::{Error, Result};

/// The bytes of one record of content.
pub(super) const CHUNK_BYTES: usize = 256 << 10;

// An engine with files writes a chunk of this length as it is; see `CONTENT_PART_BYTES`.
const _: () = assert!(CHUNK_BYTES == CONTENT_PART_BYTES);

/// Content up to this is part of the record of its blob, so that one commit writes it and one read returns it. Lists read
/// these records too, so it must be small.
pub(super) const INLINE_BYTES_MAX: usize = 16 << 10;

/// Content up to this becomes records also if the engine has files: two records share the syncs of other writes, and a
/// file has its own.
pub(super) const RECORDS_BYTES_MAX: u64 = 2 * CHUNK_BYTES as u64;

/// Chunks of one content that are being stored.
const CHUNKS_IN_FLIGHT: usize = 8;

/// Chunks of all contents that are being stored.
const CHUNKS_IN_FLIGHT_TOTAL: usize = 64;

/// A source of content, piece by piece.
pub trait ContentSource: Send {
    /// The next bytes; `None` at the end.
    fn next(&mut self) -> impl Future<Output = Result<Option<Bytes>, ServiceError>> + Send;

    /// The number of bytes that are still to come, if that is known.
    fn bytes_left(&self) -> Option<u64>;
}

/// Content that is complete in memory.
impl ContentSource for Option<Bytes> {
    async fn next(&mut self) -> Result<Option<Bytes>, ServiceError> {
        Ok(self.take())
    }

    fn bytes_left(&self) -> Option<u64> {
        Some(self.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

/// Content that has been received and is durable, or small. Unless a blob takes it, its space is reclaimed.
#[derive(Debug)]
pub struct Received {
    /// The container that it was received for. One that was deleted and created again since is another.
    pub(super) container_id: u64,
    pub length: u64,
    pub digests: Digests,
    /// The digest of the customer's key that it is encrypted with.
    pub key_digest: Option<KeyDigest>,
    pub(super) body: ReceivedBody,
}

impl Received {
    /// Fails unless the content belongs to the container of this blob.
    pub(super) fn check_place(&self, place: &BlobLocation) -> Result<()> {
        if self.container_id == place.container_id { Ok(()) } else { Err(ErrorCode::ContainerNotFound.into()) }
    }
}

#[derive(Debug)]
pub(super) enum ReceivedBody {
    Inline(Bytes),
    Stored { content: u64, intent: ReclaimIntent },
}

/// Bounds the chunks that are being stored.
#[derive(Debug, Clone)]
pub(super) struct Inflow(Arc<Semaphore>);

impl Default for Inflow {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(CHUNKS_IN_FLIGHT_TOTAL)))
    }
}

impl Inflow {
    async fn permit(&self) -> OwnedSemaphorePermit {
        Arc::clone(&self.0).acquire_owned().await.expect("the semaphore is never closed")
    }

    /// Returns the chunk with a permit that is released when the last clone is dropped.
    async fn hold(&self, chunk: Bytes) -> Bytes {
        Bytes::from_owner(ChunkInFlight { chunk, _permit: self.permit().await })
    }
}

struct ChunkInFlight {
    chunk: Bytes,
    _permit: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for ChunkInFlight {
    fn as_ref(&self) -> &[u8] {
        &self.chunk
    }
}

/// One content that is being stored.
pub(super) struct ContentUpload {
    inflow: Inflow,
    destination: Destination,
    buffer: BytesMut,
    length: u64,
    hashing: Hashing,
}

/// The destination of a content. It depends on the length that was known at the beginning, so a reader tries the likely
/// one first and then the other.
enum Destination {
    Records(ChunkRecords),
    File(Box<dyn ContentWriter>),
}

impl ContentUpload {
    /// `expected_bytes` is how long the content is going to be, if that is known.
    pub(super) fn new(
        store: &Store,
        inflow: Inflow,
        at: ContentAddress,
        expected_bytes: Option<u64>,
        checksums: Checksums,
    ) -> Self {
        let is_large = expected_bytes.is_none_or(|bytes| bytes > RECORDS_BYTES_MAX);
        let destination = match store.contents().filter(|_| is_large) {
            Some(contents) => Destination::File(contents.create(at.name())),
            None => Destination::Records(ChunkRecords::new(store.clone(), at)),
        };
        Self { inflow, destination, buffer: BytesMut::new(), length: 0, hashing: Hashing::Idle(checksums) }
    }

    pub(super) async fn write(&mut self, mut piece: Bytes) -> Result<()> {
        while !piece.is_empty() {
            if self.buffer.capacity() == 0 {
                self.buffer.reserve(CHUNK_BYTES);
            }
            let taken = piece.split_to(piece.len().min(CHUNK_BYTES - self.buffer.len()));
            self.buffer.extend_from_slice(&taken);
            if self.buffer.len() == CHUNK_BYTES {
                self.send_chunk().await?;
            }
        }
        Ok(())
    }

    async fn send_chunk(&mut self) -> Result<()> {
        let chunk = std::mem::take(&mut self.buffer).freeze();
        self.length += chunk.len() as u64;
        match &mut self.destination {
            Destination::Records(records) => records.put(chunk.clone(), &self.inflow).await?,
            Destination::File(file) => file.write(self.inflow.hold(chunk.clone()).await).await?,
        }
        self.hashing.add(chunk).await
    }

    /// Waits until all of it is durable.
    pub(super) async fn finish(mut self) -> Result<(u64, Digests)> {
        if !self.buffer.is_empty() {
            self.send_chunk().await?;
        }
        match self.destination {
            Destination::Records(records) => records.finish().await?,
            Destination::File(file) => file.finish().await?,
        }
        Ok((self.length, self.hashing.finish().await?))
    }
}

/// Chunks that become records, some at a time.
struct ChunkRecords {
    store: Store,
    partition: Bytes,
    chunks: u64,
    commits: JoinSet<Result<(), StoreError>>,
}

impl ChunkRecords {
    fn new(store: Store, at: ContentAddress) -> Self {
        Self { store, partition: at.partition(), chunks: 0, commits: JoinSet::new() }
    }

    async fn put(&mut self, chunk: Bytes, inflow: &Inflow) -> Result<()> {
        if self.commits.len() >= CHUNKS_IN_FLIGHT {
            self.finish_commit().await?;
        }
        let permit = inflow.permit().await;
        let (store, partition, key) = (self.store.clone(), self.partition.clone(), keys::chunk_key(self.chunks));
        self.chunks += 1;
        self.commits.spawn(async move {
            let committed = store.write(&partition, |tx| tx.put(key.clone(), chunk.clone())).await;
            drop(permit);
            committed
        });
        Ok(())
    }

    async fn finish_commit(&mut self) -> Result<()> {
        match self.commits.join_next().await {
            None => Ok(()),
            Some(Ok(outcome)) => Ok(outcome?),
            Some(Err(error)) => Err(StoreError::internal("a chunk was not written").with_source(error).into()),
        }
    }

    async fn finish(mut self) -> Result<()> {
        while !self.commits.is_empty() {
            self.finish_commit().await?;
        }
        Ok(())
    }
}

/// Checksums of a chunk take a good part of a millisecond, so a blocking thread computes them while the next one arrives.
enum Hashing {
    Idle(Checksums),
    Busy(JoinHandle<Checksums>),
}

impl Hashing {
    async fn add(&mut self, chunk: Bytes) -> Result<()> {
        let mut checksums = self.take().await?;
        *self = Self::Busy(tokio::task::spawn_blocking(move || {
            checksums.update(&chunk);
            checksums
        }));
        Ok(())
    }

    async fn finish(mut self) -> Result<Digests> {
        Ok(self.take().await?.finish())
    }

    async fn take(&mut self) -> Result<Checksums> {
        match std::mem::replace(self, Self::Idle(Checksums::new(false))) {
            Self::Idle(checksums) => Ok(checksums),
            Self::Busy(handle) => handle.await.map_err(cut_short),
        }
    }
}

fn cut_short(error: tokio::task::JoinError) -> Error {
    StoreError::internal("the thread of a checksum ended early").with_source(error).into()
}
