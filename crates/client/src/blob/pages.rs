//! Page blobs: blobs of a fixed length that are written in pages of 512 bytes.

use std::ops::Range;

use bytes::Bytes;
use http::header::IF_MATCH;
use http::{HeaderName, Method};
use tablerock_protocol::xml::{ANSWERED_PAGE_RANGES_MAX, parse_page_list};

use super::settings::{BlobSettings, new_blob_setters};
use super::{BlobClient, BlobHttpHeaders};
use crate::listing::page;
use crate::pipeline::Call;
use crate::table::{ContinuationToken, Page};
use crate::transport::send_when_awaited;
use crate::{Etag, Result};

const BLOB_TYPE: HeaderName = HeaderName::from_static("x-ms-blob-type");
const BLOB_LENGTH: HeaderName = HeaderName::from_static("x-ms-blob-content-length");
const SEQUENCE_NUMBER: HeaderName = HeaderName::from_static("x-ms-blob-sequence-number");
const PAGE_WRITE: HeaderName = HeaderName::from_static("x-ms-page-write");
const RANGE: HeaderName = HeaderName::from_static("x-ms-range");

/// The creation of a page blob, which is sent when it is awaited.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct CreatePageBlob {
    blob: BlobClient,
    length: u64,
    sequence_number: u64,
    headers: BlobHttpHeaders,
    settings: BlobSettings,
}

send_when_awaited! {
    CreatePageBlob => Result<Etag>;
}

impl BlobClient {
    /// Creates a page blob of zeros, replaces any existing blob, and returns the new ETag. The length is a multiple of 512.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::run(async |connection| {
    /// # let disks = tablerock_client::BlobServiceClient::from_connection_string(connection)?.container("disks");
    /// # disks.create().await?;
    /// let disk = disks.blob("data.vhd");
    /// disk.create_page_blob(1 << 40).await?;
    /// disk.put_pages(1 << 30, vec![7; 1024]).await?;
    /// let etag = disk.clear_pages((1 << 30) + 512..(1 << 30) + 1024).await?;
    /// let written = disk.page_ranges(None, &etag).await?.items;
    /// assert_eq!(written, [(1 << 30)..(1 << 30) + 512]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "PageBlobClient")]
    pub fn create_page_blob(&self, length: u64) -> CreatePageBlob {
        let (headers, settings) = Default::default();
        CreatePageBlob { blob: self.clone(), length, sequence_number: 0, headers, settings }
    }

    /// Writes whole pages from an offset on, at most 4 MiB, and returns the new ETag.
    #[doc(alias = "upload_pages")]
    pub async fn put_pages(&self, offset: u64, content: impl Into<Bytes>) -> Result<Etag> {
        let content = content.into();
        let call = self.page_call("PutPage", "update", offset..offset + content.len() as u64)?;
        self.pipeline.send(&call.body(content)).await?.etag()
    }

    /// Clears pages, which then are zeros and take no space, and returns the new ETag.
    pub async fn clear_pages(&self, range: Range<u64>) -> Result<Etag> {
        let call = self.page_call("ClearPage", "clear", range)?;
        self.pipeline.send(&call.body(Bytes::new())).await?.etag()
    }

    /// Reads one page of the list of ranges that are written, in a version of the blob: the first, or that of a
    /// continuation token. Fails with 412 if the blob has another version.
    pub async fn page_ranges(&self, from: Option<&ContinuationToken>, etag: &Etag) -> Result<Page<Range<u64>>> {
        let call = self.call("GetPageRanges", Method::GET).query("comp", "pagelist");
        let call = call.query("maxresults", &ANSWERED_PAGE_RANGES_MAX.to_string());
        let call = from.into_iter().fold(call, |call, from| call.query("marker", &from.first));
        let response = self.pipeline.send(&call.header(IF_MATCH, etag.as_str())?).await?;
        let Page { items, continuation_token } = page(parse_page_list(&response.body))?;
        let items = items.into_iter().map(|pages| pages.first..pages.last.saturating_add(1)).collect();
        Ok(Page { items, continuation_token })
    }

    fn page_call(&self, operation: &'static str, write: &'static str, range: Range<u64>) -> Result<Call> {
        let range = format!("bytes={}-{}", range.start, range.end.saturating_sub(1));
        let call = self.call(operation, Method::PUT).query("comp", "page").static_header(PAGE_WRITE, write);
        call.header(RANGE, &range)
    }
}

impl CreatePageBlob {
    /// Sets the blob's sequence number; 0 by default.
    pub fn sequence_number(mut self, number: u64) -> Self {
        self.sequence_number = number;
        self
    }

    new_blob_setters!();

    async fn send(self) -> Result<Etag> {
        let call = self.blob.call("PutBlob", Method::PUT).static_header(BLOB_TYPE, "PageBlob");
        let call = call.header(BLOB_LENGTH, &self.length.to_string())?;
        let call = call.header(SEQUENCE_NUMBER, &self.sequence_number.to_string())?;
        let call = self.settings.add_to(self.headers.add_to(call)?)?;
        self.blob.pipeline.send(&call.body(Bytes::new())).await?.etag()
    }
}
