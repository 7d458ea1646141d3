//! Reads: properties, content, and what they have in common.

use tablerock_kv::Error as StoreError;
use tablerock_protocol::blob::{ByteRange, CustomerKey, check_customer_key};
use tablerock_protocol::{DateTime, ErrorCode, ServiceError};

use super::BlobService;
use super::address::{BlobAddress, BlobLocation, ReadTerms};
use super::attempts::pause_before;
use super::reader::BlobReader;
use super::stored_blob::Blob;
use crate::Result;

/// How often a download begins again because the blob was replaced between its record and its content.
const ATTEMPTS_MAX: u32 = 16;

/// Picks the range of a blob that is read, when it sees the blob and before any content is read. A closure does.
pub trait RangeChoice: Send {
    fn choose(&mut self, blob: &Blob) -> impl Future<Output = Result<ByteRange, ServiceError>> + Send;
}

impl<F: FnMut(&Blob) -> Result<ByteRange, ServiceError> + Send> RangeChoice for F {
    fn choose(&mut self, blob: &Blob) -> impl Future<Output = Result<ByteRange, ServiceError>> + Send {
        std::future::ready(self(blob))
    }
}

impl BlobService {
    /// The properties of a blob or of a snapshot.
    pub async fn blob(&self, at: BlobAddress<'_>, snapshot: Option<DateTime>, terms: &ReadTerms) -> Result<Blob> {
        let (_, blob) = self.look_at_blob(at, snapshot).await?;
        self.load.read(at.account, at.container, at.name, 1);
        self.check_found(blob, terms)
    }

    pub(super) async fn find(
        &self,
        place: &BlobLocation,
        snapshot: Option<DateTime>,
        terms: &ReadTerms,
    ) -> Result<Blob> {
        self.check_found(self.stored_blob(place, snapshot).await?, terms)
    }

    fn check_found(&self, blob: Option<Blob>, terms: &ReadTerms) -> Result<Blob> {
        let blob = blob.ok_or(ErrorCode::BlobNotFound)?;
        terms.check(&blob, self.clock.ticks())?;
        Ok(blob)
    }

    /// A range of a blob's content, which `choose` picks when it sees the blob.
    pub async fn download(
        &self,
        at: BlobAddress<'_>,
        snapshot: Option<DateTime>,
        terms: &ReadTerms,
        choose: impl RangeChoice,
    ) -> Result<(Blob, ByteRange, BlobReader)> {
        self.download_with(at, snapshot, terms, None, choose).await
    }

    /// The same with the customer's key, which must be the blob's.
    pub async fn download_with(
        &self,
        at: BlobAddress<'_>,
        snapshot: Option<DateTime>,
        terms: &ReadTerms,
        key: Option<&CustomerKey>,
        mut choose: impl RangeChoice,
    ) -> Result<(Blob, ByteRange, BlobReader)> {
        for attempt in 0..ATTEMPTS_MAX {
            pause_before(attempt).await;
            let (place, blob) = self.look_at_blob(at, snapshot).await?;
            if attempt == 0 {
                self.load.read(at.account, at.container, at.name, 1);
            }
            let blob = self.check_found(blob, terms)?;
            blob.check_online(self.clock.ticks())?;
            check_customer_key(blob.key_digest, key.map(CustomerKey::digest))?;
            if snapshot.is_none() {
                blob.check_not_incremental()?;
            }
            let range = choose.choose(&blob).await?;
            let (container_id, partition) = (place.container_id, &place.partition);
            let opened = BlobReader::open(&self.store, container_id, partition, snapshot, &blob, range, key).await?;
            if let Some(reader) = opened {
                return Ok((blob, range, reader));
            }
        }
        Err(StoreError::unavailable("a blob is replaced too often to be read; retry later").into())
    }
}
