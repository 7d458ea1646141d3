//! Content on its way in: cut into chunks, a few of which go to the store at a time while the next ones arrive.

use std::sync::Arc;

use bytes::BytesMut;
use tablerock_kv::{Bytes, Error as StoreError, Store};
use tablerock_protocol::blob::{Checksums, Digests};
use tablerock_protocol::{ErrorCode, ServiceError};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};

use super::address::Place;
use super::keys;
use super::tidying::OpenNote;
use crate::{Error, Result};

/// The bytes of one record of content.
pub(super) const CHUNK_BYTES: usize = 256 << 10;

/// Content up to this is kept in the record of its blob, so that it is written with one commit and read with one look.
/// Lists read these records too, so it must not be much.
pub(super) const INLINE_BYTES_MAX: usize = 16 << 10;

/// Chunks of one content that are under way to the store.
const CHUNKS_IN_FLIGHT: usize = 8;

/// Chunks of all contents that are under way to the store.
const CHUNKS_IN_FLIGHT_TOTAL: usize = 64;

/// Where content comes from, piece by piece.
pub trait ContentSource: Send {
    /// The next bytes; `None` at the end.
    fn next(&mut self) -> impl Future<Output = Result<Option<Bytes>, ServiceError>> + Send;
}

/// Content that is at hand as a whole.
impl ContentSource for Option<Bytes> {
    async fn next(&mut self) -> Result<Option<Bytes>, ServiceError> {
        Ok(self.take())
    }
}

/// Content that has been received and is durable, or small. Unless a blob takes it, its space comes back.
#[derive(Debug)]
pub struct Received {
    /// The container that it was received for. One that has gone since, and come back under its name, is another.
    pub(super) container_id: u64,
    pub length: u64,
    pub digests: Digests,
    pub(super) body: ReceivedBody,
}

impl Received {
    /// Fails unless the content is where a blob in this place would look for it.
    pub(super) fn check_place(&self, place: &Place) -> Result<()> {
        if self.container_id == place.container_id { Ok(()) } else { Err(ErrorCode::ContainerNotFound.into()) }
    }
}

#[derive(Debug)]
pub(super) enum ReceivedBody {
    Inline(Bytes),
    Stored { content: u64, note: OpenNote },
}

/// What bounds the contents under way.
#[derive(Debug, Clone)]
pub(super) struct Inflow(Arc<Semaphore>);

impl Default for Inflow {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(CHUNKS_IN_FLIGHT_TOTAL)))
    }
}

/// One content under way.
pub(super) struct Upload {
    store: Store,
    inflow: Inflow,
    partition: Bytes,
    buffer: BytesMut,
    chunks: u64,
    length: u64,
    commits: JoinSet<Result<(), StoreError>>,
    hashing: Hashing,
}

impl Upload {
    pub(super) fn new(store: Store, inflow: Inflow, partition: Bytes, checksums: Checksums) -> Self {
        Self {
            store,
            inflow,
            partition,
            buffer: BytesMut::new(),
            chunks: 0,
            length: 0,
            commits: JoinSet::new(),
            hashing: Hashing::Idle(checksums),
        }
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
        if self.commits.len() >= CHUNKS_IN_FLIGHT {
            self.finish_commit().await?;
        }
        let permit = Arc::clone(&self.inflow.0).acquire_owned().await.expect("the semaphore is never closed");
        let (store, partition, key) = (self.store.clone(), self.partition.clone(), keys::chunk_key(self.chunks));
        self.chunks += 1;
        let value = chunk.clone();
        self.commits.spawn(async move {
            let put = |tx: &mut tablerock_kv::Transaction| {
                tx.put(key.clone(), value.clone());
                Ok(())
            };
            let committed = store.transact(&partition, vec![], put).await;
            drop(permit);
            committed
        });
        self.hashing.add(chunk).await
    }

    async fn finish_commit(&mut self) -> Result<()> {
        match self.commits.join_next().await {
            None => Ok(()),
            Some(Ok(outcome)) => Ok(outcome?),
            Some(Err(error)) => Err(StoreError::internal("a chunk was not written").with_source(error).into()),
        }
    }

    /// Waits until all of it is durable.
    pub(super) async fn finish(mut self) -> Result<(u64, Digests)> {
        if !self.buffer.is_empty() {
            self.send_chunk().await?;
        }
        while !self.commits.is_empty() {
            self.finish_commit().await?;
        }
        Ok((self.length, self.hashing.finish().await?))
    }
}

/// Checksums of a chunk take a good part of a millisecond, so they are computed beside what receives the next one.
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
    StoreError::internal("a checksum was cut short").with_source(error).into()
}
