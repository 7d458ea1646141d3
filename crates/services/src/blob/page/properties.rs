//! Set Blob Properties of a page blob: its length and its sequence number.

use tablerock_protocol::ErrorCode;
use tablerock_protocol::blob::{ContentHeaders, SequenceAction};

use super::PAGE_BYTES;
use super::edit::Edit;
use super::span::Span;
use crate::Result;
use crate::blob::address::{BlobAddress, WriteTerms};
use crate::blob::stored_blob::Blob;
use crate::blob::{BlobService, lease};

/// The properties that only a page blob has, as far as they are set.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageProperties {
    pub length: Option<u64>,
    pub sequence: Option<SequenceAction>,
}

impl BlobService {
    /// Changes the length or the sequence number of a page blob, and its content headers if they are given. Pages behind
    /// the new end go, and come back as zeros.
    pub async fn set_page_properties(
        &self,
        at: BlobAddress<'_>,
        terms: &WriteTerms,
        headers: Option<&ContentHeaders>,
        pages: PageProperties,
    ) -> Result<Blob> {
        let place = self.place_to_write(at).await?;
        let decide = |blob: &mut Blob| {
            let now = self.clock.ticks();
            let sequence_number = blob.pages()?.sequence_number;
            terms.check_change(blob, now)?;
            terms.check_key_if_given(blob)?;
            blob.check_not_incremental()?;
            if let Some(sequence) = pages.sequence {
                blob.pages_mut()?.sequence_number =
                    sequence.apply(sequence_number).ok_or(ErrorCode::SequenceNumberIncrementTooLarge)?;
            }
            if let Some(headers) = headers {
                blob.headers = headers.clone();
            }
            let before = blob.length;
            blob.length = pages.length.unwrap_or(before);
            blob.copy = None;
            blob.changed = self.next_change(Some(blob.changed))?;
            blob.lease = lease::after_write(blob.lease, now);
            let cut = Span { first: blob.length / PAGE_BYTES, end: before.div_ceil(PAGE_BYTES) };
            Ok((if cut.is_empty() { Edit::None } else { Edit::Clear(cut) }, ()))
        };
        Ok(self.edit_pages(&place, decide).await?.0)
    }
}
