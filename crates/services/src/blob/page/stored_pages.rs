//! The bytes of pages as they are stored: in the clear, or encrypted with a customer's key.

use tablerock_kv::{Bytes, Error, Result};
use tablerock_protocol::blob::CustomerKey;

use super::PAGE_BYTES;
use super::segment::Segment;
use crate::blob::encryption::{ENCRYPTED_PAGE_BYTES, PageDecryptor, PageEncryptor};

/// Pages behind each other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct StoredPages {
    bytes: Bytes,
    is_encrypted: bool,
}

impl StoredPages {
    pub(super) fn plain(bytes: Bytes) -> Self {
        Self { bytes, is_encrypted: false }
    }

    pub(super) fn encrypted(bytes: Bytes) -> Self {
        Self { bytes, is_encrypted: true }
    }

    /// Encrypts pages from one on, if there is a key.
    pub(super) async fn of_write(first: u64, bytes: Bytes, key: Option<&CustomerKey>) -> Result<Self> {
        let Some(key) = key else { return Ok(Self::plain(bytes)) };
        let places = (first..).take(bytes.len() / PAGE_BYTES as usize).collect();
        Ok(Self::encrypted(PageEncryptor::new(key)?.encrypt(places, bytes).await?))
    }

    /// Other pages, stored in the same way.
    pub(super) fn alike(&self, bytes: Bytes) -> Self {
        Self { bytes, ..*self }
    }

    pub(super) fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    pub(super) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The bytes that are stored for a page.
    pub(super) fn page_bytes(&self) -> usize {
        if self.is_encrypted { ENCRYPTED_PAGE_BYTES } else { PAGE_BYTES as usize }
    }

    /// Whether they are so many pages.
    pub(super) fn has(&self, count: u32) -> bool {
        self.bytes.len() == count as usize * self.page_bytes()
    }

    /// One of them.
    pub(super) fn page(&self, place: usize) -> Option<&[u8]> {
        let page = self.page_bytes();
        self.bytes.get(place * page..(place + 1) * page)
    }

    /// Some of them.
    pub(super) fn slice(&self, first: usize, count: usize) -> Self {
        let page = self.page_bytes();
        self.alike(self.bytes.slice(first * page..(first + count) * page))
    }
}

/// Segments that are decrypted before they are read, if their blob has a customer's key.
#[derive(Debug, Default)]
pub(super) struct SegmentDecryptor {
    pages: Option<PageDecryptor>,
}

impl SegmentDecryptor {
    pub(super) fn new(key: Option<&CustomerKey>) -> Self {
        Self { pages: key.map(PageDecryptor::new) }
    }

    /// Decrypts segments, each given with its place. Those of a blob without a key are as they were.
    pub(super) async fn decrypt(&mut self, segments: Vec<(u64, Segment)>) -> Result<Vec<(u64, Segment)>> {
        let is_encrypted = self.pages.is_some();
        if segments.iter().any(|(_, segment)| segment.written != 0 && segment.pages().is_encrypted != is_encrypted) {
            return Err(Error::corrupt("pages of a blob are encrypted, or not encrypted, unlike what its record says"));
        }
        let Some(pages) = &mut self.pages else { return Ok(segments) };
        let groups = segments.iter().map(|(place, segment)| (segment.places(*place), segment.pages().bytes.clone()));
        let plain = pages.decrypt(groups.collect()).await?;
        let segments = segments.into_iter().zip(plain);
        Ok(segments.map(|((place, segment), bytes)| (place, segment.with_pages(StoredPages::plain(bytes)))).collect())
    }
}

/// Segments that are encrypted before they are stored, if their blob has a customer's key. Each place comes once.
#[derive(Debug)]
pub(super) struct SegmentEncryptor {
    pages: Option<PageEncryptor>,
}

impl SegmentEncryptor {
    pub(super) fn new(key: Option<&CustomerKey>) -> Result<Self> {
        Ok(Self { pages: key.map(PageEncryptor::new).transpose()? })
    }

    /// Encrypts a segment in the clear at a place. That of a blob without a key is as it was.
    pub(super) async fn encrypt(&self, place: u64, segment: Segment) -> Result<Segment> {
        let Some(pages) = &self.pages else { return Ok(segment) };
        let encrypted = pages.encrypt(segment.places(place), segment.pages().bytes.clone()).await?;
        Ok(segment.with_pages(StoredPages::encrypted(encrypted)))
    }
}
