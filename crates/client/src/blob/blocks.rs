//! Large blobs: reading ranges, staging blocks and committing block lists.

use std::ops::Range;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, IF_MATCH};
use http::{HeaderName, Method};
use tablerock_protocol::blob::BlockId;
use tablerock_protocol::xml::{BlockListRequest, BlockSource};

use super::settings::{BlobSettings, access_tier_setter, new_blob_setters};
use super::{BlobClient, BlobHttpHeaders};
use crate::transport::send_when_awaited;
use crate::{Etag, Result};

const RANGE: HeaderName = HeaderName::from_static("x-ms-range");

impl BlobClient {
    /// Reads a range of bytes of a version of the blob. A range beyond the end of the blob returns the bytes up to it.
    /// Fails with 412 if the blob has another version, and with 416 if it ends before the range.
    #[doc(alias = "get_range")]
    pub async fn download_range(&self, range: Range<u64>, etag: &Etag) -> Result<Bytes> {
        let Some(last) = range.end.checked_sub(1).filter(|last| *last >= range.start) else { return Ok(Bytes::new()) };
        let call = self.call("GetBlob", Method::GET).header(RANGE, &format!("bytes={}-{last}", range.start))?;
        Ok(self.pipeline.send(&call.header(IF_MATCH, etag.as_str())?).await?.body)
    }

    /// Stages a block, which is part of the blob after it is committed. All block ids of a blob have the same length.
    #[doc(alias = "put_block")]
    pub async fn stage_block(&self, id: &BlockId, content: impl Into<Bytes>) -> Result<()> {
        let call = self.call("PutBlock", Method::PUT).query("comp", "block").query("blockid", &id.to_base64());
        self.pipeline.send(&call.body(content)).await.map(drop)
    }

    /// Commits blocks in this order as the content of the blob, each in its latest version, and returns the new ETag.
    #[doc(alias = "put_block_list")]
    pub fn commit_block_list(&self, ids: impl IntoIterator<Item = BlockId>) -> CommitBlockList {
        let blocks = ids.into_iter().map(|id| (BlockSource::Latest, id)).collect();
        let (headers, settings) = Default::default();
        CommitBlockList { blob: self.clone(), list: BlockListRequest { blocks }, headers, settings }
    }
}

/// A commit of a block list, which is sent when it is awaited.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct CommitBlockList {
    blob: BlobClient,
    list: BlockListRequest,
    headers: BlobHttpHeaders,
    settings: BlobSettings,
}

send_when_awaited! {
    CommitBlockList => Result<Etag>;
}

impl CommitBlockList {
    new_blob_setters!();
    access_tier_setter!();

    async fn send(self) -> Result<Etag> {
        let call = self.blob.call("PutBlockList", Method::PUT).query("comp", "blocklist");
        let call = self.headers.add_to(call.static_header(CONTENT_TYPE, "application/xml"))?;
        let call = self.settings.add_to(call)?.body(self.list.render());
        self.blob.pipeline.send(&call).await?.etag()
    }
}
