//! One container.

use std::sync::Arc;

use http::Method;

use super::conditions::ConditionalCall;
use super::{BlobClient, BlobServiceClient, PublicAccess};
use crate::error::none_if;
use crate::pipeline::{Call, Pipeline, encode};
use crate::request::{Exchange, Operation};
use crate::{Credential, Error, ErrorCode, Request, Result};

/// A client of one container. Clones are cheap and share connections.
#[derive(Debug, Clone)]
pub struct ContainerClient {
    pub(super) pipeline: Arc<Pipeline>,
    name: Arc<str>,
}

/// A creation of a container.
#[derive(Debug, Clone)]
pub struct CreateContainer {
    container: ContainerClient,
    metadata: Vec<(String, String)>,
    public_access: PublicAccess,
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

    /// Returns the client of the container's service.
    pub fn service(&self) -> BlobServiceClient {
        BlobServiceClient { pipeline: Arc::clone(&self.pipeline) }
    }

    /// Creates the container, without public access by default. Fails with 409 if it exists.
    #[doc(alias = "create_container")]
    pub fn create(&self) -> Request<(), CreateContainer> {
        let (metadata, public_access) = (Vec::new(), PublicAccess::None);
        Request::new(CreateContainer { container: self.clone(), metadata, public_access })
    }

    /// Creates the container unless it exists. Returns whether this call created it; after a lost response, an earlier
    /// attempt may have.
    pub fn create_if_not_exists(&self) -> Request<bool> {
        let created = Request::single(&self.pipeline, Ok(self.call("CreateContainer", Method::PUT)), |_| Ok(()));
        created.map_result(|created| {
            Ok(none_if(created, |error| error.has_code(ErrorCode::ContainerAlreadyExists))?.is_some())
        })
    }

    /// Replaces the container's metadata.
    #[doc(alias = "set_container_metadata")]
    pub fn set_metadata(&self, pairs: &[(String, String)]) -> Request<(), ConditionalCall<()>> {
        let call = self.call("SetContainerMetadata", Method::PUT).query("comp", "metadata").metadata(pairs);
        Request::conditional(&self.pipeline, call, |_| Ok(()))
    }

    /// Deletes the container with all its blobs.
    pub fn delete_container(&self) -> Request<(), ConditionalCall<()>> {
        Request::conditional(&self.pipeline, Ok(self.call("DeleteContainer", Method::DELETE)), |_| Ok(()))
    }

    /// Deletes the container if it exists. Returns whether it did; after a lost response, an earlier attempt may have
    /// deleted it.
    pub fn delete_container_if_exists(&self) -> Request<bool, ConditionalCall<bool>> {
        self.delete_container().found(Error::is_not_found).convert(|deleted| Ok(deleted?.is_some()))
    }

    fn path(&self) -> String {
        format!("/{}", encode(&self.name))
    }

    pub(super) fn call(&self, operation: &'static str, method: Method) -> Call {
        Call::new(operation, method, self.path()).query("restype", "container")
    }
}

impl Request<(), CreateContainer> {
    /// Sets the container's metadata.
    pub fn metadata(mut self, pairs: Vec<(String, String)>) -> Self {
        self.kind.metadata = pairs;
        self
    }

    /// Sets the public access; none by default.
    pub fn public_access(mut self, access: PublicAccess) -> Self {
        self.kind.public_access = access;
        self
    }
}

impl Operation<()> for CreateContainer {
    async fn perform(self, exchange: &mut Exchange) -> Result<()> {
        let call = self.container.call("CreateContainer", Method::PUT).metadata(&self.metadata)?;
        exchange.send(&self.container.pipeline, &self.public_access.add_to(call)).await.map(drop)
    }
}
