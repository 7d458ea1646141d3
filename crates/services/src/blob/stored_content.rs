//! Reading a content, from records or from a file.

use std::sync::Arc;

use tablerock_kv::{Bytes, ContentReader, Error, Result, Store};

use super::address::ContentAddress;
use super::content::{CHUNK_BYTES, ContentUpload, RECORDS_BYTES_MAX};
use super::keys;
use crate::sharing::Sharing;

/// A content that is being read.
#[derive(Debug)]
pub(super) struct StoredContent {
    store: Store,
    pub(super) at: ContentAddress,
    found: Found,
}

#[derive(Debug)]
enum Found {
    File(Arc<dyn ContentReader>),
    /// There may be a file.
    MaybeRecords,
    /// There is no file.
    Records,
}

impl StoredContent {
    /// `length` is that of the whole content. It decides where to look first.
    pub(super) async fn open(store: &Store, at: ContentAddress, length: u64) -> Result<Self> {
        let mut content = Self { store: store.clone(), at, found: Found::MaybeRecords };
        if length > RECORDS_BYTES_MAX {
            content.look_for_file().await?;
        }
        Ok(content)
    }

    /// Returns some bytes from an offset on, at most `length`; `None` if the content has gone.
    pub(super) async fn read(&mut self, offset: u64, length: u64) -> Result<Option<Bytes>> {
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(CHUNK_BYTES);
        let bytes = match &self.found {
            Found::File(file) => Some(file.read(offset, length).await?),
            Found::Records => self.read_record(offset, length).await?,
            Found::MaybeRecords => match self.read_record(offset, length).await? {
                Some(bytes) => Some(bytes),
                None => match self.look_for_file().await? {
                    Some(file) => Some(file.read(offset, length).await?),
                    None => None,
                },
            },
        };
        match bytes {
            Some(bytes) if bytes.is_empty() => Err(Error::corrupt("a blob has fewer bytes than its record says")),
            bytes => Ok(bytes),
        }
    }

    async fn look_for_file(&mut self) -> Result<Option<Arc<dyn ContentReader>>> {
        let file = match self.store.contents() {
            Some(contents) => contents.open(self.at.name()).await?,
            None => None,
        };
        self.found = file.clone().map_or(Found::Records, Found::File);
        Ok(file)
    }

    async fn read_record(&self, offset: u64, length: usize) -> Result<Option<Bytes>> {
        let key = keys::chunk_key(offset / CHUNK_BYTES as u64);
        let found = Sharing::of(&self.store).read_large(&self.store, self.at.partition(), key, CHUNK_BYTES).await?;
        let Some(chunk) = found else { return Ok(None) };
        let start = (offset % CHUNK_BYTES as u64) as usize;
        let end = chunk.len().min(start + length);
        Ok(Some(chunk.slice(start.min(end)..end)))
    }
}

/// Copies a whole content into an upload; `false` if the content has gone. `progress` gets the length of each part.
pub(super) async fn copy_stored(
    from: &Store,
    at: ContentAddress,
    length: u64,
    mut upload: ContentUpload,
    mut progress: impl FnMut(u64),
) -> crate::Result<bool> {
    let mut content = StoredContent::open(from, at, length).await?;
    let mut copied = 0;
    while copied < length {
        let Some(bytes) = content.read(copied, length - copied).await? else { return Ok(false) };
        let part = bytes.len() as u64;
        upload.write(bytes).await?;
        copied += part;
        progress(part);
    }
    upload.finish().await?;
    Ok(true)
}
