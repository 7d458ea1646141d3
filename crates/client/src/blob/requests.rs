//! Writes of blobs. Each is a request that is sent when it is awaited, and that can be told more before.

use bytes::Bytes;
use http::Method;
use http::header::{HeaderName, IF_MATCH, IF_NONE_MATCH};

use super::client::etag;
use super::{BlobClient, BlobHeaders};
use crate::transport::BoxFuture;
use crate::{ErrorCode, Etag, Result};

const BLOB_TYPE: HeaderName = HeaderName::from_static("x-ms-blob-type");
const CONTENT_TYPE_DEFAULT: &str = "application/octet-stream";

/// A put that waits to be awaited.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct PutBlob {
    blob: BlobClient,
    content: Bytes,
    headers: BlobHeaders,
    metadata: Vec<(String, String)>,
    condition: Condition,
}

/// A delete that waits to be awaited.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct DeleteBlob {
    blob: BlobClient,
    condition: Condition,
}

/// A delete to which a blob that is not there is as good as deleted.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct DeleteBlobIfExists(DeleteBlob);

#[derive(Debug)]
enum Condition {
    Any,
    Version(Etag),
    Absent,
}

impl PutBlob {
    pub(super) fn new(blob: BlobClient, content: Bytes) -> Self {
        let headers = BlobHeaders { content_type: CONTENT_TYPE_DEFAULT.to_owned(), ..BlobHeaders::default() };
        Self { blob, content, headers, metadata: Vec::new(), condition: Condition::Any }
    }

    /// Says what kind of content it is.
    pub fn content_type(mut self, content_type: impl Into<String>) -> Self {
        self.headers.content_type = content_type.into();
        self
    }

    /// Sets all that goes with the content.
    pub fn headers(mut self, headers: BlobHeaders) -> Self {
        self.headers = headers;
        self
    }

    /// Sets the blob's metadata.
    pub fn metadata(mut self, pairs: Vec<(String, String)>) -> Self {
        self.metadata = pairs;
        self
    }

    /// Only over this version; fails with 412 over any other, or if there is none.
    pub fn if_match(mut self, etag: impl Into<Etag>) -> Self {
        self.condition = Condition::Version(etag.into());
        self
    }

    /// Only if there is none yet; fails with 409 otherwise.
    pub fn if_absent(mut self) -> Self {
        self.condition = Condition::Absent;
        self
    }

    async fn send(self) -> Result<Etag> {
        let call = self.blob.call("PutBlob", Method::PUT).own_header(BLOB_TYPE, "BlockBlob");
        let call = self.headers.add_to(call)?.metadata(&self.metadata)?.body(self.content);
        let call = match self.condition {
            Condition::Any => call,
            Condition::Version(etag) => call.header(IF_MATCH, etag.as_str())?,
            Condition::Absent => call.own_header(IF_NONE_MATCH, "*"),
        };
        etag(&self.blob.pipeline.send(&call).await?)
    }
}

impl DeleteBlob {
    pub(super) fn new(blob: BlobClient) -> Self {
        Self { blob, condition: Condition::Any }
    }

    /// Only this version; fails with 412 if it is another.
    pub fn if_match(mut self, etag: impl Into<Etag>) -> Self {
        self.condition = Condition::Version(etag.into());
        self
    }

    /// Returns whether the blob was there in the place of failing when it was not. After a lost answer, an earlier try
    /// may have deleted it.
    pub fn if_exists(self) -> DeleteBlobIfExists {
        DeleteBlobIfExists(self)
    }

    async fn send(self) -> Result<()> {
        let mut call = self.blob.call("DeleteBlob", Method::DELETE);
        if let Condition::Version(etag) = self.condition {
            call = call.header(IF_MATCH, etag.as_str())?;
        }
        self.blob.pipeline.send(&call).await.map(drop)
    }
}

impl IntoFuture for PutBlob {
    type Output = Result<Etag>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

impl IntoFuture for DeleteBlob {
    type Output = Result<()>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

impl IntoFuture for DeleteBlobIfExists {
    type Output = Result<bool>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            match self.0.send().await {
                Ok(()) => Ok(true),
                Err(error) if error.code() == Some(ErrorCode::BlobNotFound) => Ok(false),
                Err(error) => Err(error),
            }
        })
    }
}
