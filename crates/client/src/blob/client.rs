//! One block blob.

use std::sync::Arc;

use bytes::Bytes;
use http::Method;

use super::{DeleteBlob, UploadBlob};
use crate::error::none_if;
use crate::pipeline::{Call, Pipeline};
use crate::{Credential, ErrorCode, Etag, Result};

/// A client of one blob. Clones are cheap and share connections.
#[doc(alias = "BlockBlobClient")]
#[derive(Debug, Clone)]
pub struct BlobClient {
    pub(super) pipeline: Arc<Pipeline>,
    container: Arc<str>,
    name: Arc<str>,
    path: Arc<str>,
    pub(super) snapshot: Option<Arc<str>>,
}

/// The content of a blob.
#[doc(alias = "BlobDownloadResult")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobContent {
    /// All bytes.
    pub content: Bytes,
    /// The content type.
    pub content_type: String,
    /// The ETag of the version that was read, for conditional writes.
    pub etag: Etag,
}

impl BlobClient {
    pub(super) fn new(pipeline: Arc<Pipeline>, container: Arc<str>, name: &str, path: String) -> Self {
        Self { pipeline, container, name: name.into(), path: path.into(), snapshot: None }
    }

    /// Returns the container's name.
    pub fn container(&self) -> &str {
        &self.container
    }

    /// Returns a client of the blob with another credential, such as a shared access signature, over the same
    /// connections.
    pub fn with_credential(&self, credential: impl Into<Credential>) -> Result<Self> {
        let pipeline = self.pipeline.with(self.pipeline.endpoint.clone(), credential.into())?;
        Ok(Self { pipeline: Arc::new(pipeline), ..self.clone() })
    }

    /// Returns the blob's name, without its container.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads the blob. One of more than [`RESPONSE_BYTES_MAX`](crate::transport::RESPONSE_BYTES_MAX) has to be read
    /// with [`download_range`](Self::download_range).
    #[doc(alias = "get_blob")]
    pub async fn download(&self) -> Result<BlobContent> {
        let response = self.pipeline.send(&self.call("GetBlob", Method::GET)).await?;
        let content_type = response.header("content-type").unwrap_or_default().to_owned();
        Ok(BlobContent { etag: response.etag()?, content_type, content: response.body })
    }

    /// Reads the blob; `None` if it does not exist. Fails if the container does not exist.
    pub async fn download_if_exists(&self) -> Result<Option<BlobContent>> {
        none_if(self.download().await, |error| error.has_code(ErrorCode::BlobNotFound))
    }

    /// Writes the blob, replaces any existing content by default, and returns the new ETag.
    #[doc(alias = "put_blob")]
    pub fn upload(&self, content: impl Into<Bytes>) -> UploadBlob {
        UploadBlob::new(self.clone(), content.into())
    }

    /// Deletes the blob, in any version by default.
    #[doc(alias = "delete_blob")]
    pub fn delete(&self) -> DeleteBlob {
        DeleteBlob::new(self.clone())
    }

    pub(super) fn call(&self, operation: &'static str, method: Method) -> Call {
        let call = Call::new(operation, method, self.path.as_ref());
        match &self.snapshot {
            Some(id) => call.query("snapshot", id),
            None => call,
        }
    }
}
