//! Large blobs: reading ranges, staging blocks and committing block lists.

use std::ops::Range;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderName, Method};
use tablerock_protocol::blob::BlockId;
use tablerock_protocol::xml::{BlockListRequest, BlockSource};

use super::BlobClient;
use super::conditions::{Conditional, ConditionalCall, Conditions};
use super::new_blob::{BlockBlob, NewBlob};
use crate::request::{Exchange, Operation};
use crate::{Etag, Request, Result};

const RANGE: HeaderName = HeaderName::from_static("x-ms-range");

impl BlobClient {
    /// Reads a range of bytes of a version of the blob. A range beyond the end of the blob returns the bytes up to it.
    /// Fails with 412 if the blob has another version, and with 416 if it ends before the range.
    #[doc(alias = "get_range")]
    pub fn download_range(&self, range: Range<u64>, etag: &Etag) -> Request<Bytes, DownloadRange> {
        let read = DownloadRange { blob: self.clone(), range, conditions: Conditions::default() };
        Request::new(read).if_match(etag.clone())
    }

    /// Stages a block, which is part of the blob after it is committed. All block ids of a blob have the same length.
    #[doc(alias = "put_block")]
    pub fn stage_block(&self, id: &BlockId, content: impl Into<Bytes>) -> Request<(), ConditionalCall<()>> {
        let call = self.call("PutBlock", Method::PUT).query("comp", "block").query("blockid", &id.to_base64());
        Request::conditional(&self.pipeline, Ok(call.body(content)), |_| Ok(()))
    }

    /// Commits blocks in this order as the content of the blob, each in its latest version, and returns the new ETag.
    #[doc(alias = "put_block_list")]
    pub fn commit_block_list(&self, ids: impl IntoIterator<Item = BlockId>) -> Request<Etag, NewBlob<BlockBlob>> {
        let blocks = ids.into_iter().map(|id| (BlockSource::Latest, id)).collect();
        let call = self.call("PutBlockList", Method::PUT).query("comp", "blocklist");
        let call = call.static_header(CONTENT_TYPE, "application/xml").body(BlockListRequest { blocks }.render());
        Request::new_blob(self, Ok(call))
    }
}

/// A read of a range of bytes. One without bytes is not sent.
#[derive(Debug, Clone)]
pub struct DownloadRange {
    blob: BlobClient,
    range: Range<u64>,
    conditions: Conditions,
}

impl Conditional for DownloadRange {
    fn conditions_mut(&mut self) -> &mut Conditions {
        &mut self.conditions
    }
}

impl Operation<Bytes> for DownloadRange {
    async fn perform(self, exchange: &mut Exchange) -> Result<Bytes> {
        let Self { blob, range, conditions } = self;
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let bytes = format!("bytes={}-{}", range.start, range.end - 1);
        let call = conditions.add_to(blob.call("GetBlob", Method::GET).header(RANGE, &bytes)?)?;
        Ok(exchange.send(&blob.pipeline, &call).await?.body)
    }
}
