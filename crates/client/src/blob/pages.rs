//! Page blobs: blobs of a fixed length that are written in pages of 512 bytes.

use std::ops::Range;

use bytes::Bytes;
use http::header::IF_MATCH;
use http::{HeaderName, Method};
use tablerock_protocol::xml::{ANSWERED_PAGE_RANGES_MAX, parse_page_list};

use super::BlobClient;
use super::conditions::ConditionalCall;
use super::new_blob::{BLOB_TYPE, NewBlob, PageBlob};
use crate::listing::page;
use crate::pipeline::Call;
use crate::table::{ContinuationToken, Page};
use crate::{Etag, Request, Result};

const BLOB_LENGTH: HeaderName = HeaderName::from_static("x-ms-blob-content-length");
const PAGE_WRITE: HeaderName = HeaderName::from_static("x-ms-page-write");
const RANGE: HeaderName = HeaderName::from_static("x-ms-range");

/// A page of ranges of bytes.
type PageOfRanges = Page<Range<u64>>;

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
    pub fn create_page_blob(&self, length: u64) -> Request<Etag, NewBlob<PageBlob>> {
        let call = self.call("PutBlob", Method::PUT).static_header(BLOB_TYPE, "PageBlob").body(Bytes::new());
        Request::new_blob(self, call.header(BLOB_LENGTH, &length.to_string()))
    }

    /// Writes whole pages from an offset on, at most 4 MiB, and returns the new ETag.
    #[doc(alias = "upload_pages")]
    pub fn put_pages(&self, offset: u64, content: impl Into<Bytes>) -> Request<Etag, ConditionalCall<Etag>> {
        let content = content.into();
        let call = self.page_call("PutPage", "update", offset..offset + content.len() as u64);
        Request::conditional(&self.pipeline, call.map(|call| call.body(content)), |response| response.etag())
    }

    /// Clears pages, which then are zeros and take no space, and returns the new ETag.
    pub fn clear_pages(&self, range: Range<u64>) -> Request<Etag, ConditionalCall<Etag>> {
        let call = self.page_call("ClearPage", "clear", range);
        Request::conditional(&self.pipeline, call, |response| response.etag())
    }

    /// Reads one page of the list of ranges that are written, in a version of the blob: the first, or that of a
    /// continuation token. Fails with 412 if the blob has another version.
    pub fn page_ranges(
        &self,
        from: Option<&ContinuationToken>,
        etag: &Etag,
    ) -> Request<PageOfRanges, ConditionalCall<PageOfRanges>> {
        let call = self.call("GetPageRanges", Method::GET).query("comp", "pagelist");
        let call = call.query("maxresults", &ANSWERED_PAGE_RANGES_MAX.to_string());
        let call = from.into_iter().fold(call, |call, from| call.query("marker", &from.first));
        Request::conditional(&self.pipeline, call.header(IF_MATCH, etag.as_str()), |response| {
            let Page { items, continuation_token } = page(parse_page_list(&response.body))?;
            let items = items.into_iter().map(|pages| pages.first..pages.last.saturating_add(1)).collect();
            Ok(Page { items, continuation_token })
        })
    }

    fn page_call(&self, operation: &'static str, write: &'static str, range: Range<u64>) -> Result<Call> {
        let range = format!("bytes={}-{}", range.start, range.end.saturating_sub(1));
        let call = self.call(operation, Method::PUT).query("comp", "page").static_header(PAGE_WRITE, write);
        call.header(RANGE, &range)
    }
}
