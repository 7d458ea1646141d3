//! Content that is encrypted while it arrives.

use bytes::BytesMut;
use tablerock_kv::Bytes;
use tablerock_protocol::ServiceError;
use tablerock_protocol::blob::{Checksums, CustomerKey, Digests};

use super::segment::{ContentCipher, PLAIN_BYTES, stored_length};
use crate::blob::content::ContentSource;
use crate::{Error, Result};

/// A source of segments, from a source of content.
pub(in crate::blob) struct Sealer<'a, S> {
    source: &'a mut S,
    cipher: Option<ContentCipher>,
    buffer: BytesMut,
    segments: u64,
    length: u64,
    checksums: Checksums,
    is_at_end: bool,
}

impl<'a, S: ContentSource> Sealer<'a, S> {
    pub(in crate::blob) fn new(source: &'a mut S, key: &CustomerKey, with_md5: bool) -> Result<Self> {
        let (cipher, checksums) = (Some(ContentCipher::fresh(key)?), Checksums::new(with_md5));
        Ok(Self { source, cipher, buffer: BytesMut::new(), segments: 0, length: 0, checksums, is_at_end: false })
    }

    /// The length and the checksums of the content itself.
    pub(in crate::blob) fn finish(self) -> (u64, Digests) {
        (self.length, self.checksums.finish())
    }

    /// Seals a part of the content. A thread of its own does, because that takes a good part of a millisecond.
    async fn seal(&mut self, plain: Bytes) -> Result<Bytes> {
        let index = self.segments;
        self.segments += 1;
        self.length += plain.len() as u64;
        let cipher = self.cipher.take().ok_or_else(ended_early)?;
        let mut checksums = std::mem::replace(&mut self.checksums, Checksums::new(false));
        let work = move || {
            checksums.update(&plain);
            let sealed = cipher.seal(index, &plain);
            (cipher, checksums, sealed)
        };
        let (cipher, checksums, sealed) = tokio::task::spawn_blocking(work).await.map_err(|_| ended_early())?;
        (self.cipher, self.checksums) = (Some(cipher), checksums);
        Ok(sealed?)
    }
}

impl<S: ContentSource> ContentSource for Sealer<'_, S> {
    async fn next(&mut self) -> Result<Option<Bytes>, ServiceError> {
        while self.buffer.len() < PLAIN_BYTES && !self.is_at_end {
            match self.source.next().await? {
                Some(piece) => self.buffer.extend_from_slice(&piece),
                None => self.is_at_end = true,
            }
        }
        if self.buffer.is_empty() {
            return Ok(None);
        }
        let plain = self.buffer.split_to(self.buffer.len().min(PLAIN_BYTES)).freeze();
        self.seal(plain).await.map(Some).map_err(Error::into_service_error)
    }

    fn bytes_left(&self) -> Option<u64> {
        let plain = self.source.bytes_left()? + self.buffer.len() as u64;
        Some(stored_length(plain, true))
    }
}

fn ended_early() -> Error {
    tablerock_kv::Error::internal("the thread of a cipher ended early").into()
}
