//! One block blob: reading it.

use std::sync::Arc;

use bytes::Bytes;
use http::Method;

use super::{DeleteBlob, PutBlob};
use crate::pipeline::{Answer, Call, Pipeline};
use crate::{Credential, Error, ErrorCode, Etag, Result};

/// A blob. Clones are cheap and share connections.
#[derive(Debug, Clone)]
pub struct BlobClient {
    pub(super) pipeline: Arc<Pipeline>,
    container: Arc<str>,
    name: Arc<str>,
    path: Arc<str>,
}

/// What a blob holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobContent {
    /// The bytes, all of them.
    pub content: Bytes,
    /// What kind of bytes they are said to be.
    pub content_type: String,
    /// The version that was read; conditional writes hold against it.
    pub etag: Etag,
}

impl BlobClient {
    pub(super) fn new(pipeline: Arc<Pipeline>, container: Arc<str>, name: &str, path: String) -> Self {
        Self { pipeline, container, name: name.into(), path: path.into() }
    }

    /// The container's name.
    pub fn container(&self) -> &str {
        &self.container
    }

    /// The same blob with another credential, over the same connections: a shared access signature, for example.
    pub fn with_credential(&self, credential: impl Into<Credential>) -> Result<Self> {
        let pipeline = self.pipeline.with(self.pipeline.endpoint.clone(), credential.into())?;
        Ok(Self { pipeline: Arc::new(pipeline), ..self.clone() })
    }

    /// The blob's name, without its container's.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads the blob whole, unless it has more than [`ANSWER_BYTES_MAX`](crate::transport::ANSWER_BYTES_MAX); what is
    /// larger is read in pieces, with [`get_range`](Self::get_range).
    pub async fn get(&self) -> Result<BlobContent> {
        let answer = self.pipeline.send(&self.call("GetBlob", Method::GET)).await?;
        let content_type = answer.header("content-type").unwrap_or_default().to_owned();
        Ok(BlobContent { etag: etag(&answer)?, content_type, content: answer.body })
    }

    /// Reads the blob whole; `None` if it does not exist. That its container does not exist is still an error.
    pub async fn get_if_exists(&self) -> Result<Option<BlobContent>> {
        match self.get().await {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.code() == Some(ErrorCode::BlobNotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Puts content in the place of whatever there is, unless it is told a condition, and returns the new ETag.
    pub fn put(&self, content: impl Into<Bytes>) -> PutBlob {
        PutBlob::new(self.clone(), content.into())
    }

    /// Deletes the blob, whatever its version, unless it is told a condition.
    pub fn delete(&self) -> DeleteBlob {
        DeleteBlob::new(self.clone())
    }

    pub(super) fn call(&self, operation: &'static str, method: Method) -> Call {
        Call::new(operation, method, self.path.as_ref())
    }
}

pub(super) fn etag(answer: &Answer) -> Result<Etag> {
    let etag = answer.header("etag").map(Etag::from);
    answer.reading(etag.ok_or_else(|| Error::Answer("it has no ETag".to_owned())))
}
