//! One container.

use std::sync::Arc;

use http::Method;

use super::BlobClient;
use crate::error::none_if;
use crate::pipeline::{Call, Pipeline, encode};
use crate::{Credential, Error, ErrorCode, Result};

/// A client of one container. Clones are cheap and share connections.
#[derive(Debug, Clone)]
pub struct ContainerClient {
    pub(super) pipeline: Arc<Pipeline>,
    name: Arc<str>,
}

impl ContainerClient {
    pub(super) fn new(pipeline: Arc<Pipeline>, name: String) -> Self {
        Self { pipeline, name: name.into() }
    }

    /// Returns the container's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a client of one blob. This sends nothing, and the blob may not exist. Slashes in its name form folders.
    #[doc(alias = "get_blob_client")]
    pub fn blob(&self, name: impl AsRef<str>) -> BlobClient {
        let parts: Vec<String> = name.as_ref().split('/').map(|part| encode(part).to_string()).collect();
        let path = format!("{}/{}", self.path(), parts.join("/"));
        BlobClient::new(Arc::clone(&self.pipeline), Arc::clone(&self.name), name.as_ref(), path)
    }

    /// Returns a client of the container with another credential, such as a shared access signature, over the same
    /// connections.
    pub fn with_credential(&self, credential: impl Into<Credential>) -> Result<Self> {
        let pipeline = self.pipeline.with(self.pipeline.endpoint.clone(), credential.into())?;
        Ok(Self { pipeline: Arc::new(pipeline), name: Arc::clone(&self.name) })
    }

    /// Creates the container without public access. Fails with 409 if it exists.
    #[doc(alias = "create_container")]
    pub async fn create(&self) -> Result<()> {
        self.pipeline.send(&self.call("CreateContainer", Method::PUT)).await.map(drop)
    }

    /// Creates the container unless it exists. Returns whether this call created it; after a lost response, an earlier
    /// attempt may have.
    pub async fn create_if_not_exists(&self) -> Result<bool> {
        Ok(none_if(self.create().await, |error| error.has_code(ErrorCode::ContainerAlreadyExists))?.is_some())
    }

    /// Replaces the container's metadata.
    #[doc(alias = "set_container_metadata")]
    pub async fn set_metadata(&self, pairs: &[(String, String)]) -> Result<()> {
        let call = self.call("SetContainerMetadata", Method::PUT).query("comp", "metadata").metadata(pairs)?;
        self.pipeline.send(&call).await.map(drop)
    }

    /// Deletes the container with all its blobs.
    pub async fn delete_container(&self) -> Result<()> {
        self.pipeline.send(&self.call("DeleteContainer", Method::DELETE)).await.map(drop)
    }

    /// Deletes the container if it exists. Returns whether it did; after a lost response, an earlier attempt may have
    /// deleted it.
    pub async fn delete_container_if_exists(&self) -> Result<bool> {
        Ok(none_if(self.delete_container().await, Error::is_not_found)?.is_some())
    }

    fn path(&self) -> String {
        format!("/{}", encode(&self.name))
    }

    pub(super) fn call(&self, operation: &'static str, method: Method) -> Call {
        Call::new(operation, method, self.path()).query("restype", "container")
    }
}
