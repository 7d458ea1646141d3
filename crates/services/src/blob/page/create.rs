//! Put Blob of a page blob.

use tablerock_protocol::DateTime;

use super::body::PageBody;
use crate::Result;
use crate::blob::BlobService;
use crate::blob::address::{BlobAddress, WriteTerms};
use crate::blob::change::BlobChange;
use crate::blob::put::NewBlob;
use crate::blob::stored_blob::Body;

/// The properties that only a new page blob has.
#[derive(Debug, Clone, Copy)]
pub struct NewPages {
    pub length: u64,
    pub sequence_number: u64,
}

impl BlobService {
    /// Creates or replaces a page blob without any pages; returns the time of the change. With the digest of a customer's key
    /// in its terms the blob has that key.
    pub async fn put_page_blob(
        &self,
        at: BlobAddress<'_>,
        terms: &WriteTerms,
        new: &NewBlob,
        pages: NewPages,
    ) -> Result<DateTime> {
        let place = self.place_to_write(at).await?;
        let generation = self.content_ids.next().await?;
        let body = |written| Body::Pages(PageBody::new(generation, written, pages.sequence_number));
        self.change(&place, |seen| {
            let mut blob = self.blob_replacing(seen, terms, new, pages.length, body(DateTime::from_ticks(0)))?;
            (blob.body, blob.key_digest) = (body(blob.changed), terms.key_digest);
            let changed = blob.changed;
            Ok((BlobChange::replacing(seen, Some(blob)), changed))
        })
        .await
    }
}
