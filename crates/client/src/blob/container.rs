//! One container.

use std::sync::Arc;

use http::Method;

use super::BlobClient;
use crate::pipeline::{Call, Pipeline, encode};
use crate::{Credential, ErrorCode, Result};

/// A container. Clones are cheap and share connections.
#[derive(Debug, Clone)]
pub struct ContainerClient {
    pub(super) pipeline: Arc<Pipeline>,
    name: Arc<str>,
}

impl ContainerClient {
    pub(super) fn new(pipeline: Arc<Pipeline>, name: String) -> Self {
        Self { pipeline, name: name.into() }
    }

    /// The container's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One blob. Nothing is sent: whether it exists shows when it is used. Slashes in its name make folders.
    pub fn blob(&self, name: impl AsRef<str>) -> BlobClient {
        let parts: Vec<String> = name.as_ref().split('/').map(|part| encode(part).to_string()).collect();
        let path = format!("{}/{}", self.path(), parts.join("/"));
        BlobClient::new(Arc::clone(&self.pipeline), Arc::clone(&self.name), name.as_ref(), path)
    }

    /// The same container with another credential, over the same connections: a shared access signature, for example.
    pub fn with_credential(&self, credential: impl Into<Credential>) -> Result<Self> {
        let pipeline = self.pipeline.with(self.pipeline.endpoint.clone(), credential.into())?;
        Ok(Self { pipeline: Arc::new(pipeline), name: Arc::clone(&self.name) })
    }

    /// Creates the container, which nobody can read without a credential.
    pub async fn create(&self) -> Result<()> {
        self.pipeline.send(&self.call("CreateContainer", Method::PUT)).await.map(drop)
    }

    /// Creates the container unless it exists. Returns whether it was this call that created it; after a lost answer,
    /// an earlier try may have.
    pub async fn create_if_not_exists(&self) -> Result<bool> {
        match self.create().await {
            Ok(()) => Ok(true),
            Err(error) if error.code() == Some(ErrorCode::ContainerAlreadyExists) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Sets all of the container's metadata, by name and value.
    pub async fn set_metadata(&self, pairs: &[(String, String)]) -> Result<()> {
        let call = self.call("SetContainerMetadata", Method::PUT).query("comp", "metadata").metadata(pairs)?;
        self.pipeline.send(&call).await.map(drop)
    }

    /// Deletes the container with all blobs in it.
    pub async fn delete_container(&self) -> Result<()> {
        self.pipeline.send(&self.call("DeleteContainer", Method::DELETE)).await.map(drop)
    }

    /// Deletes the container if it exists. Returns whether it did; after a lost answer, an earlier try may have deleted
    /// it.
    pub async fn delete_container_if_exists(&self) -> Result<bool> {
        match self.delete_container().await {
            Ok(()) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn path(&self) -> String {
        format!("/{}", encode(&self.name))
    }

    pub(super) fn call(&self, operation: &'static str, method: Method) -> Call {
        Call::new(operation, method, self.path()).query("restype", "container")
    }
}
