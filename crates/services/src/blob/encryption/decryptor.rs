//! Encrypted content on its way out.

use bytes::BytesMut;
use tablerock_kv::Bytes;
use tablerock_protocol::blob::CustomerKey;

use super::cipher::{PartCipher, Purpose, apart, damaged};
use super::segment::{PLAIN_BYTES, stored_length};
use crate::Result;
use crate::blob::content::CHUNK_BYTES;
use crate::blob::stored_content::StoredContent;

/// Decrypts the segments of contents that were encrypted with one key.
#[derive(Debug)]
pub(in crate::blob) struct Decryptor {
    key: CustomerKey,
    /// That of the last segment.
    cipher: Option<PartCipher>,
}

impl Decryptor {
    pub(in crate::blob) fn new(key: &CustomerKey) -> Self {
        Self { key: key.clone(), cipher: None }
    }

    /// Decrypts content that is one segment, or nothing.
    pub(in crate::blob) async fn decrypt_small(&mut self, stored: Bytes) -> Result<Bytes> {
        if stored.is_empty() { Ok(stored) } else { self.decrypt(0, stored).await }
    }

    /// Returns some bytes of a content from an offset on; `None` if the content has gone. `whole` is the length of the
    /// content.
    pub(in crate::blob) async fn read(
        &mut self,
        content: &mut StoredContent,
        offset: u64,
        length: u64,
        whole: u64,
    ) -> Result<Option<Bytes>> {
        let index = offset / PLAIN_BYTES as u64;
        let start = index * CHUNK_BYTES as u64;
        let left = stored_length(whole, true).checked_sub(start).ok_or_else(damaged)?;
        let Some(segment) = content.read(start, left.min(CHUNK_BYTES as u64)).await? else { return Ok(None) };
        let plain = self.decrypt(index, segment).await?;
        let from = (offset % PLAIN_BYTES as u64) as usize;
        let to = plain.len().min(from + usize::try_from(length).unwrap_or(usize::MAX).min(PLAIN_BYTES));
        if from >= to { Err(damaged().into()) } else { Ok(Some(plain.slice(from..to))) }
    }

    async fn decrypt(&mut self, index: u64, segment: Bytes) -> Result<Bytes> {
        let cipher = PartCipher::of_part(Purpose::Content, &self.key, &segment, self.cipher.take())?;
        let work = move || {
            let mut plain = BytesMut::with_capacity(segment.len());
            let decrypted = cipher.decrypt(index, &segment, &mut plain);
            (cipher, decrypted.map(|()| plain.freeze()))
        };
        let (cipher, plain) = apart(work).await?;
        self.cipher = Some(cipher);
        Ok(plain?)
    }
}
