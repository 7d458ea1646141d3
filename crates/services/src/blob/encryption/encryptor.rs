//! Content that is encrypted while it arrives.

use bytes::BytesMut;
use tablerock_kv::Bytes;
use tablerock_protocol::ServiceError;
use tablerock_protocol::blob::{Checksums, CustomerKey, Digests};

use super::cipher::{OVERHEAD_BYTES, PartCipher, Purpose, apart};
use super::segment::{PLAIN_BYTES, stored_length};
use crate::blob::content::ContentSource;
use crate::{Error, Result};

/// A source of segments, from a source of content.
pub(in crate::blob) struct Encryptor<'a, S> {
    source: &'a mut S,
    cipher: Option<PartCipher>,
    buffer: BytesMut,
    segments: u64,
    length: u64,
    checksums: Checksums,
    is_at_end: bool,
}

impl<'a, S: ContentSource> Encryptor<'a, S> {
    pub(in crate::blob) fn new(source: &'a mut S, key: &CustomerKey, with_md5: bool) -> Result<Self> {
        let (cipher, checksums) = (Some(PartCipher::fresh(Purpose::Content, key)?), Checksums::new(with_md5));
        Ok(Self { source, cipher, buffer: BytesMut::new(), segments: 0, length: 0, checksums, is_at_end: false })
    }

    /// The length and the checksums of the content itself.
    pub(in crate::blob) fn finish(self) -> (u64, Digests) {
        (self.length, self.checksums.finish())
    }

    /// Encrypts a part of the content.
    async fn encrypt(&mut self, plain: Bytes) -> Result<Bytes> {
        let index = self.segments;
        self.segments += 1;
        self.length += plain.len() as u64;
        let ended = || tablerock_kv::Error::internal("an earlier part could not be encrypted");
        let cipher = self.cipher.take().ok_or_else(ended)?;
        let mut checksums = std::mem::replace(&mut self.checksums, Checksums::new(false));
        let work = move || {
            checksums.update(&plain);
            let mut segment = BytesMut::with_capacity(plain.len() + OVERHEAD_BYTES);
            let encrypted = cipher.encrypt(index, &plain, &mut segment);
            (cipher, checksums, encrypted.map(|()| segment.freeze()))
        };
        let (cipher, checksums, segment) = apart(work).await?;
        (self.cipher, self.checksums) = (Some(cipher), checksums);
        Ok(segment?)
    }
}

impl<S: ContentSource> ContentSource for Encryptor<'_, S> {
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
        self.encrypt(plain).await.map(Some).map_err(Error::into_service_error)
    }

    fn bytes_left(&self) -> Option<u64> {
        let plain = self.source.bytes_left()? + self.buffer.len() as u64;
        Some(stored_length(plain, true))
    }
}
