//! Content on its way out.

use std::collections::VecDeque;

use tablerock_kv::{Bytes, Error as StoreError, Store};
use tablerock_protocol::blob::{ByteRange, CustomerKey};
use tablerock_protocol::{DateTime, ErrorCode, ServiceError};

use super::address::ContentAddress;
use super::content::ContentSource;
use super::encryption::{Decryptor, stored_length};
use super::keys;
use super::page::reader::{PageReader, PageSource};
use super::pieces::{self, Piece, PieceSource};
use super::stored_blob::{Blob, Body};
use super::stored_content::StoredContent;
use crate::Result;

/// Chunks that are read before the response begins. A content that is deleted chunk by chunk has at most this many, so
/// a reader gets all of it or none.
const CHUNKS_AHEAD: usize = 2;

/// The bytes of a range of a blob, one chunk at a time, as they were when it was opened.
#[derive(Debug)]
pub struct BlobReader {
    store: Store,
    container_id: u64,
    partition: Bytes,
    /// Parts that come next; the list of pieces behind them may hold more.
    parts: VecDeque<Part>,
    list: Option<List>,
    ahead: VecDeque<Bytes>,
    /// The content that is read at the moment.
    content: Option<StoredContent>,
    /// Decrypts what a customer's key has encrypted. It and the pages stand in boxes, and what they do in futures of
    /// their own: most reads need neither, and would move their size along.
    decryptor: Option<Box<Decryptor>>,
    /// The pages that are read, of a page blob.
    pages: Option<Box<PageReader>>,
    /// Bytes that are not read yet.
    left: u64,
}

#[derive(Debug)]
enum Part {
    Inline(Bytes),
    /// Some of a content, and how long all of it is.
    Content {
        id: u64,
        offset: u64,
        length: u64,
        whole: u64,
        is_encrypted: bool,
    },
}

#[derive(Debug)]
struct List {
    layout: u64,
    next: u64,
    records: u64,
    /// Bytes of the next record that lie before the range.
    skip: u64,
}

impl BlobReader {
    /// Opens a range of a blob, or of a snapshot, and reads its beginning; `None` if the content has gone since the record
    /// was read.
    pub(super) async fn open(
        store: &Store,
        container_id: u64,
        partition: &Bytes,
        snapshot: Option<DateTime>,
        blob: &Blob,
        range: ByteRange,
        key: Option<&CustomerKey>,
    ) -> Result<Option<Self>> {
        let mut reader = Self {
            store: store.clone(),
            container_id,
            partition: partition.clone(),
            parts: VecDeque::new(),
            list: None,
            ahead: VecDeque::new(),
            content: None,
            decryptor: key.map(|key| Box::new(Decryptor::new(key))),
            pages: None,
            left: range.length,
        };
        if range.length == 0 {
            return Ok(Some(reader));
        }
        match &blob.body {
            Body::Inline(bytes) => {
                let bytes = reader.decrypted(bytes, blob.is_key_needed()).await?;
                let (start, end) = (range.offset as usize, (range.offset + range.length) as usize);
                let part = if end <= bytes.len() { bytes.slice(start..end) } else { return Err(damaged()) };
                reader.parts.push_back(Part::Inline(part));
            }
            Body::Whole { content } => {
                let (offset, length) = (range.offset, range.length);
                let (whole, is_encrypted) = (blob.length, blob.is_key_needed());
                reader.parts.push_back(Part::Content { id: *content, offset, length, whole, is_encrypted });
            }
            Body::Pieces { layout, records } => {
                let found = pieces::find_record(store, partition, *layout, *records, range.offset).await?;
                let Some(next) = found else { return Ok(None) };
                let Some(record) = pieces::read_record(store, partition, *layout, next).await? else { return Ok(None) };
                let skip = range.offset - record.offset;
                reader.list = Some(List { layout: *layout, next, records: *records, skip });
            }
            Body::Pages(body) => {
                let record = keys::record_key(snapshot);
                let opened = Box::pin(PageSource::open(store, partition, record, body)).await?;
                let Some(source) = opened else { return Ok(None) };
                reader.pages = Some(Box::new(PageReader::new(source, range, key)));
            }
        }
        while reader.ahead.len() < CHUNKS_AHEAD {
            match reader.read().await? {
                Read::Bytes(bytes) => reader.ahead.push_back(bytes),
                Read::End => break,
                Read::Gone => return Ok(None),
            }
        }
        Ok(Some(reader))
    }

    /// The next bytes; `None` at the end. Content that has gone meanwhile is an error: half of it must not look whole.
    pub async fn next(&mut self) -> Result<Option<Bytes>> {
        if let Some(bytes) = self.ahead.pop_front() {
            return Ok(Some(bytes));
        }
        match self.read().await? {
            Read::Bytes(bytes) => Ok(Some(bytes)),
            Read::End => Ok(None),
            Read::Gone => Err(StoreError::unavailable("the blob was replaced while it was read").into()),
        }
    }

    /// The whole range, which must be small.
    pub async fn read_to_end(mut self) -> Result<Bytes> {
        let Some(first) = self.next().await? else { return Ok(Bytes::new()) };
        // Most small blobs are one piece, which the store's own memory can hold for the response.
        if self.left == 0 && self.ahead.is_empty() {
            return Ok(first);
        }
        let mut whole = bytes::BytesMut::from(&first[..]);
        while let Some(bytes) = self.next().await? {
            whole.extend_from_slice(&bytes);
        }
        Ok(whole.freeze())
    }

    async fn read(&mut self) -> Result<Read> {
        if self.left == 0 {
            return Ok(Read::End);
        }
        if let Some(pages) = &mut self.pages {
            return Ok(match Box::pin(pages.next()).await? {
                Some(bytes) => self.hand_out(bytes),
                None => Read::Gone,
            });
        }
        loop {
            match self.parts.pop_front() {
                Some(Part::Inline(bytes)) if bytes.is_empty() => {}
                Some(Part::Inline(bytes)) => return Ok(self.hand_out(bytes)),
                Some(Part::Content { length: 0, .. }) => {}
                Some(Part::Content { id, offset, length, whole, is_encrypted }) => {
                    let Some(bytes) = self.read_content(id, offset, length, whole, is_encrypted).await? else {
                        return Ok(Read::Gone);
                    };
                    let read = bytes.len() as u64;
                    let (offset, length) = (offset + read, length - read);
                    self.parts.push_front(Part::Content { id, offset, length, whole, is_encrypted });
                    return Ok(self.hand_out(bytes));
                }
                None => {
                    if !self.read_list().await? {
                        return Ok(Read::Gone);
                    }
                }
            }
        }
    }

    async fn read_content(
        &mut self,
        id: u64,
        offset: u64,
        length: u64,
        whole: u64,
        is_encrypted: bool,
    ) -> Result<Option<Bytes>> {
        let at = ContentAddress { container_id: self.container_id, content: id };
        let content = match &mut self.content {
            Some(content) if content.at == at => content,
            other => other.insert(StoredContent::open(&self.store, at, stored_length(whole, is_encrypted)).await?),
        };
        if is_encrypted {
            let decryptor = self.decryptor.as_mut().ok_or(ErrorCode::BlobUsesCustomerSpecifiedEncryption)?;
            return Box::pin(decryptor.read(content, offset, length, whole)).await;
        }
        Ok(content.read(offset, length).await?)
    }

    /// Small content as it was before it was encrypted.
    async fn decrypted(&mut self, bytes: &Bytes, is_encrypted: bool) -> Result<Bytes> {
        if !is_encrypted {
            return Ok(bytes.clone());
        }
        let decryptor = self.decryptor.as_mut().ok_or(ErrorCode::BlobUsesCustomerSpecifiedEncryption)?;
        Box::pin(decryptor.decrypt_small(bytes.clone())).await
    }

    /// The last part may reach beyond the range.
    fn hand_out(&mut self, mut bytes: Bytes) -> Read {
        bytes.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.left -= bytes.len() as u64;
        Read::Bytes(bytes)
    }

    /// Takes the next record of the list of pieces; `false` if it is not there any more.
    async fn read_list(&mut self) -> Result<bool> {
        let Some(list) = &mut self.list else { return Err(damaged()) };
        if list.next >= list.records {
            return Err(damaged());
        }
        let Some(record) = pieces::read_record(&self.store, &self.partition, list.layout, list.next).await? else {
            return Ok(false);
        };
        list.next += 1;
        let mut skip = list.skip;
        for Piece { length, source, is_encrypted, .. } in record.pieces {
            let skipped = skip.min(length);
            skip -= skipped;
            let part = match source {
                PieceSource::Inline(bytes) => {
                    let bytes = self.decrypted(&bytes, is_encrypted).await?;
                    if skipped as usize > bytes.len() {
                        return Err(damaged());
                    }
                    Part::Inline(bytes.slice(skipped as usize..))
                }
                PieceSource::Content(id) => {
                    Part::Content { id, offset: skipped, length: length - skipped, whole: length, is_encrypted }
                }
            };
            self.parts.push_back(part);
        }
        if let Some(list) = &mut self.list {
            list.skip = skip;
        }
        Ok(true)
    }
}

/// Content may come from another blob.
impl ContentSource for BlobReader {
    async fn next(&mut self) -> Result<Option<Bytes>, ServiceError> {
        BlobReader::next(self).await.map_err(crate::Error::into_service_error)
    }

    fn bytes_left(&self) -> Option<u64> {
        Some(self.left + self.ahead.iter().map(|bytes| bytes.len() as u64).sum::<u64>())
    }
}

enum Read {
    Bytes(Bytes),
    End,
    Gone,
}

fn damaged() -> crate::Error {
    StoreError::corrupt("a blob has fewer bytes than its record says").into()
}
