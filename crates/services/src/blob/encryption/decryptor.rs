//! Sealed content on its way out.

use tablerock_kv::{Bytes, Error};
use tablerock_protocol::blob::CustomerKey;

use super::segment::{ContentCipher, PLAIN_BYTES, damaged, stored_length};
use crate::Result;
use crate::blob::content::CHUNK_BYTES;
use crate::blob::stored_content::StoredContent;

/// Opens the segments of contents that one key has sealed.
#[derive(Debug)]
pub(in crate::blob) struct Opener {
    key: CustomerKey,
    /// That of the last segment.
    cipher: Option<ContentCipher>,
}

impl Opener {
    pub(in crate::blob) fn new(key: &CustomerKey) -> Self {
        Self { key: key.clone(), cipher: None }
    }

    /// Opens content that is one segment, or nothing.
    pub(in crate::blob) async fn open_small(&mut self, sealed: Bytes) -> Result<Bytes> {
        if sealed.is_empty() { Ok(sealed) } else { self.open(0, sealed).await }
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
        let plain = self.open(index, segment).await?;
        let from = (offset % PLAIN_BYTES as u64) as usize;
        let to = plain.len().min(from + usize::try_from(length).unwrap_or(usize::MAX).min(PLAIN_BYTES));
        if from >= to { Err(damaged().into()) } else { Ok(Some(plain.slice(from..to))) }
    }

    async fn open(&mut self, index: u64, segment: Bytes) -> Result<Bytes> {
        let cipher = match self.cipher.take() {
            Some(cipher) if cipher.sealed(&segment) => cipher,
            _ => ContentCipher::of_segment(&self.key, &segment)?,
        };
        let work = move || {
            let plain = cipher.open(index, &segment);
            (cipher, plain)
        };
        let opened = tokio::task::spawn_blocking(work).await;
        let (cipher, plain) = opened.map_err(|_| Error::internal("the thread of a cipher ended early"))?;
        self.cipher = Some(cipher);
        Ok(plain?)
    }
}
