//! Put Page: writing and clearing.

use tablerock_kv::Bytes;
use tablerock_protocol::blob::{ByteRange, CustomerKey, KeyDigest, SequenceConditions, check_customer_key};
use tablerock_protocol::{DateTime, ErrorCode};

use super::edit::Edit;
use super::span::Span;
use super::stored_pages::StoredPages;
use crate::Result;
use crate::blob::address::{BlobAddress, ReadTerms, WriteTerms};
use crate::blob::stored_blob::Blob;
use crate::blob::{BlobService, lease};

/// The parameters of Put Page, without its bytes.
#[derive(Debug, Clone, Default)]
pub struct PageTerms {
    pub write: WriteTerms,
    pub sequence: SequenceConditions,
    /// The customer's key, which must be the blob's.
    pub key: Option<CustomerKey>,
}

impl PageTerms {
    /// The digest of the customer's key.
    pub fn key_digest(&self) -> Option<KeyDigest> {
        self.key.as_ref().map(CustomerKey::digest)
    }
}

/// A change of a range of pages.
#[derive(Debug, Clone)]
pub enum PageWrite {
    /// As many bytes as the range has.
    Update(Bytes),
    Clear,
}

/// The outcome of Put Page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PagesWritten {
    pub changed: DateTime,
    pub sequence_number: u64,
}

impl BlobService {
    /// Fails unless there is a page blob. For requests that read their body before the pages are written.
    pub async fn check_page_blob(&self, at: BlobAddress<'_>) -> Result<()> {
        let place = self.place(at).await?;
        self.find(&place, None, &ReadTerms::default()).await?.pages()?;
        Ok(())
    }

    /// Writes or clears a range of pages, all of them or none.
    pub async fn put_pages(
        &self,
        at: BlobAddress<'_>,
        terms: &PageTerms,
        range: ByteRange,
        write: PageWrite,
    ) -> Result<PagesWritten> {
        let place = self.place_to_write(at).await?;
        let span = Span::of_bytes(range.offset, range.length);
        let edit = match write {
            // Once, before any attempt: what is stored for a page depends on its place and on no other state of the blob.
            PageWrite::Update(bytes) => {
                Edit::Write(span, StoredPages::of_write(span.first, bytes, terms.key.as_ref()).await?)
            }
            PageWrite::Clear => Edit::Clear(span),
        };
        let decide = |blob: &mut Blob| {
            self.check_put_pages(blob, terms)?;
            if range.offset + range.length > blob.length {
                return Err(ErrorCode::InvalidPageRange.into());
            }
            blob.changed = self.next_change(Some(blob.changed))?;
            blob.lease = lease::after_write(blob.lease, self.clock.ticks());
            let sequence_number = blob.pages()?.sequence_number;
            Ok((edit.clone(), PagesWritten { changed: blob.changed, sequence_number }))
        };
        Ok(self.edit_pages(&place, decide).await?.1)
    }

    fn check_put_pages(&self, blob: &Blob, terms: &PageTerms) -> Result<()> {
        let body = blob.pages()?;
        terms.write.check_change(blob, self.clock.ticks())?;
        terms.sequence.check(body.sequence_number)?;
        check_customer_key(blob.key_digest, terms.key_digest())?;
        Ok(blob.check_not_incremental()?)
    }
}
