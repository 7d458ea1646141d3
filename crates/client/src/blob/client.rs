//! One block blob.

use std::sync::Arc;

use bytes::Bytes;
use http::Method;

use super::BlobProperties;
use super::conditions::ConditionalCall;
use super::new_blob::{BLOB_TYPE, BlockBlob, NewBlob};
use crate::pipeline::{Call, Pipeline};
use crate::{Credential, ErrorCode, Etag, Request, Result};

const CONTENT_TYPE_DEFAULT: &str = "application/octet-stream";

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
#[non_exhaustive]
pub struct BlobContent {
    /// All bytes.
    pub content: Bytes,
    /// The content type.
    pub content_type: String,
    /// The ETag of the version that was read, for conditional writes.
    pub etag: Etag,
    /// The properties and the metadata.
    pub properties: BlobProperties,
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

    /// Reads the blob with its properties. One of more than
    /// [`RESPONSE_BYTES_MAX`](crate::transport::RESPONSE_BYTES_MAX) has to be read with
    /// [`download_range`](Self::download_range).
    #[doc(alias = "get_blob")]
    pub fn download(&self) -> Request<BlobContent, ConditionalCall<BlobContent>> {
        Request::conditional(&self.pipeline, Ok(self.call("GetBlob", Method::GET)), |response| {
            let properties = BlobProperties::read(&response)?;
            let content_type = properties.headers.content_type.clone();
            Ok(BlobContent { etag: properties.etag.clone(), content_type, content: response.body, properties })
        })
    }

    /// Reads the blob; `None` if it does not exist. Fails if the container does not exist.
    pub fn download_if_exists(&self) -> Request<Option<BlobContent>, ConditionalCall<Option<BlobContent>>> {
        self.download().found(|error| error.has_code(ErrorCode::BlobNotFound))
    }

    /// Writes the blob, replaces any existing content by default, and returns the new ETag.
    #[doc(alias = "put_blob")]
    pub fn upload(&self, content: impl Into<Bytes>) -> Request<Etag, NewBlob<BlockBlob>> {
        let call = self.call("PutBlob", Method::PUT).static_header(BLOB_TYPE, "BlockBlob").body(content);
        Request::new_blob(self, Ok(call)).content_type(CONTENT_TYPE_DEFAULT)
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn call(&self, operation: &'static str, method: Method) -> Call {
        let call = Call::new(operation, method, self.path.as_ref());
        match &self.snapshot {
            Some(id) => call.query("snapshot", id),
            None => call,
        }
    }
}
