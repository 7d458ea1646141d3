//! The client of the Queue service.

use std::sync::Arc;

use tablerock_protocol::Service;

use super::{QueueClient, VERSION};
use crate::pipeline::Pipeline;
use crate::{ClientOptions, ConnectionString, Credential, Endpoint, Result};

/// A client of the Queue service of an account. Clones are cheap and share connections.
#[derive(Debug, Clone)]
pub struct QueueServiceClient {
    pub(super) pipeline: Arc<Pipeline>,
}

impl QueueServiceClient {
    /// Connects with a connection string.
    pub fn from_connection_string(text: &str) -> Result<Self> {
        Self::from_connection_string_with(text, ClientOptions::new())
    }

    /// Connects with a connection string and options.
    pub fn from_connection_string_with(text: &str, options: ClientOptions) -> Result<Self> {
        let connection = ConnectionString::parse(text)?;
        Self::with_options(connection.queue_endpoint()?, connection.credential().clone(), options)
    }

    /// Connects to an endpoint.
    pub fn new(endpoint: Endpoint, credential: impl Into<Credential>) -> Result<Self> {
        Self::with_options(endpoint, credential, ClientOptions::new())
    }

    /// Connects to an endpoint with options.
    pub fn with_options(endpoint: Endpoint, credential: impl Into<Credential>, options: ClientOptions) -> Result<Self> {
        let pipeline = Pipeline::new(Service::Queue, VERSION, endpoint, credential.into(), options)?;
        Ok(Self { pipeline: Arc::new(pipeline) })
    }

    /// Returns a client with another credential over the same connections.
    pub fn with_credential(&self, credential: impl Into<Credential>) -> Result<Self> {
        let pipeline = self.pipeline.with(self.pipeline.endpoint.clone(), credential.into())?;
        Ok(Self { pipeline: Arc::new(pipeline) })
    }

    /// Returns a client of one queue. This sends nothing, and the queue may not exist.
    #[doc(alias = "get_queue_client")]
    pub fn queue(&self, name: impl Into<String>) -> QueueClient {
        QueueClient::new(Arc::clone(&self.pipeline), name.into())
    }

    /// Returns the endpoint of the service.
    pub fn endpoint(&self) -> &Endpoint {
        &self.pipeline.endpoint
    }
}
