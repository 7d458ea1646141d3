//! A blob in pieces: ranges of it are read, and blocks of it are put and then made into the blob.

use std::ops::Range;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, IF_MATCH};
use http::{HeaderName, Method};
use tablerock_protocol::blob::BlockId;
use tablerock_protocol::xml::{BlockListRequest, BlockSource};

use super::client::etag;
use super::{BlobClient, BlobHeaders};
use crate::transport::BoxFuture;
use crate::{Etag, Result};

const RANGE: HeaderName = HeaderName::from_static("x-ms-range");

impl BlobClient {
    /// Reads a part of a version of the blob: the bytes from the range's start to before its end, or to the blob's.
    /// Fails with 412 if the version is another by now, and with 416 if it has no byte there.
    pub async fn get_range(&self, range: Range<u64>, version: &Etag) -> Result<Bytes> {
        let Some(last) = range.end.checked_sub(1).filter(|last| *last >= range.start) else { return Ok(Bytes::new()) };
        let call = self.call("GetBlob", Method::GET).header(RANGE, &format!("bytes={}-{last}", range.start))?;
        Ok(self.pipeline.send(&call.header(IF_MATCH, version.as_str())?).await?.body)
    }

    /// Puts a block, which nobody sees before it is in a list. All ids of a blob's blocks have the same length.
    pub async fn put_block(&self, id: &BlockId, content: impl Into<Bytes>) -> Result<()> {
        let call = self.call("PutBlock", Method::PUT).query("comp", "block").query("blockid", &id.to_base64());
        self.pipeline.send(&call.body(content)).await.map(drop)
    }

    /// Makes the blob of blocks, the newest of each id, in this order, and returns the new ETag.
    pub fn put_block_list(&self, ids: impl IntoIterator<Item = BlockId>) -> PutBlockList {
        let blocks = ids.into_iter().map(|id| (BlockSource::Latest, id)).collect();
        let (headers, metadata) = Default::default();
        PutBlockList { blob: self.clone(), list: BlockListRequest { blocks }, headers, metadata }
    }
}

/// A list of blocks that waits to be awaited.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct PutBlockList {
    blob: BlobClient,
    list: BlockListRequest,
    headers: BlobHeaders,
    metadata: Vec<(String, String)>,
}

impl PutBlockList {
    /// Sets what goes with the content.
    pub fn headers(mut self, headers: BlobHeaders) -> Self {
        self.headers = headers;
        self
    }

    /// Sets the blob's metadata.
    pub fn metadata(mut self, pairs: Vec<(String, String)>) -> Self {
        self.metadata = pairs;
        self
    }

    async fn send(self) -> Result<Etag> {
        let call = self.blob.call("PutBlockList", Method::PUT).query("comp", "blocklist");
        let call = self.headers.add_to(call.own_header(CONTENT_TYPE, "application/xml"))?;
        let call = call.metadata(&self.metadata)?.body(self.list.render());
        etag(&self.blob.pipeline.send(&call).await?)
    }
}

impl IntoFuture for PutBlockList {
    type Output = Result<Etag>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}
