//! One queue: its creation, deletion, metadata and access policies.

use std::sync::Arc;

use http::header::CONTENT_TYPE;
use http::{Method, StatusCode};
use tablerock_protocol::signing::QueuePermissions;
use tablerock_protocol::xml::StoredAccessPolicies;

use crate::error::none_if;
use crate::pipeline::{Call, Pipeline, encode};
use crate::{Credential, Error, ErrorCode, Result};

/// A client of one queue. Clones are cheap and share connections.
///
/// [`send_message`](Self::send_message) adds a message, [`receive_message`](Self::receive_message) and
/// [`receive_messages`](Self::receive_messages) receive messages, [`update_message`](Self::update_message) extends the
/// visibility timeout, and [`delete_message`](Self::delete_message) deletes a processed message.
#[derive(Debug, Clone)]
pub struct QueueClient {
    pub(super) pipeline: Arc<Pipeline>,
    name: Arc<str>,
}

impl QueueClient {
    pub(super) fn new(pipeline: Arc<Pipeline>, name: String) -> Self {
        Self { pipeline, name: name.into() }
    }

    /// Returns the queue's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a client of the queue with another credential, such as a shared access signature, over the same
    /// connections.
    pub fn with_credential(&self, credential: impl Into<Credential>) -> Result<Self> {
        let pipeline = self.pipeline.with(self.pipeline.endpoint.clone(), credential.into())?;
        Ok(Self { pipeline: Arc::new(pipeline), name: Arc::clone(&self.name) })
    }

    /// Creates the queue. Succeeds if it exists without metadata, and fails with 409 if it has some.
    #[doc(alias = "create_queue")]
    pub async fn create(&self) -> Result<()> {
        self.send_create().await.map(drop)
    }

    /// Creates the queue unless it exists. Returns whether this call created it; after a lost response, an earlier
    /// attempt may have.
    pub async fn create_if_not_exists(&self) -> Result<bool> {
        let status = none_if(self.send_create().await, |error| error.has_code(ErrorCode::QueueAlreadyExists))?;
        Ok(status == Some(StatusCode::CREATED))
    }

    /// Creates the queue and returns the status: 201, or 204 if it exists with the same metadata.
    async fn send_create(&self) -> Result<StatusCode> {
        Ok(self.pipeline.send(&Call::new("CreateQueue", Method::PUT, self.path())).await?.status)
    }

    /// Deletes the queue with all its messages.
    pub async fn delete_queue(&self) -> Result<()> {
        self.pipeline.send(&Call::new("DeleteQueue", Method::DELETE, self.path())).await.map(drop)
    }

    /// Deletes the queue if it exists. Returns whether it did; after a lost response, an earlier attempt may have
    /// deleted it.
    pub async fn delete_queue_if_exists(&self) -> Result<bool> {
        Ok(none_if(self.delete_queue().await, Error::is_not_found)?.is_some())
    }

    /// Returns the approximate number of messages, including invisible ones. It is never too low.
    #[doc(alias = "get_queue_properties")]
    #[doc(alias = "ApproximateMessagesCount")]
    pub async fn approximate_message_count(&self) -> Result<u64> {
        let call = Call::new("GetQueueMetadata", Method::GET, self.path()).query("comp", "metadata");
        let response = self.pipeline.send(&call).await?;
        let count = response.header("x-ms-approximate-messages-count").and_then(|count| count.parse().ok());
        count.ok_or_else(|| Error::InvalidResponse("it has no x-ms-approximate-messages-count".to_owned()))
    }

    /// Replaces the queue's metadata.
    #[doc(alias = "set_queue_metadata")]
    pub async fn set_metadata(&self, pairs: &[(String, String)]) -> Result<()> {
        let call = Call::new("SetQueueMetadata", Method::PUT, self.path()).query("comp", "metadata");
        self.pipeline.send(&call.metadata(pairs)?).await.map(drop)
    }

    /// Returns the stored access policies of the queue. It needs the account's key.
    #[doc(alias = "get_queue_access_policy")]
    pub async fn get_access_policies(&self) -> Result<StoredAccessPolicies> {
        let call = Call::new("GetQueueAcl", Method::GET, self.path()).query("comp", "acl");
        let response = self.pipeline.send(&call).await?;
        StoredAccessPolicies::parse(&response.body, QueuePermissions::LETTERS)
            .map_err(|error| Error::invalid_response(&error))
    }

    /// Sets all stored access policies of the queue, at most five. A signature with a removed policy is no longer
    /// valid. It needs the account's key.
    #[doc(alias = "set_queue_access_policy")]
    pub async fn set_access_policies(&self, policies: &StoredAccessPolicies) -> Result<()> {
        let call = Call::new("SetQueueAcl", Method::PUT, self.path()).query("comp", "acl");
        self.pipeline.send(&call.static_header(CONTENT_TYPE, "application/xml").body(policies.render())).await.map(drop)
    }

    /// Deletes all messages.
    pub async fn clear_messages(&self) -> Result<()> {
        self.pipeline.send(&Call::new("ClearMessages", Method::DELETE, self.messages_path())).await.map(drop)
    }

    fn path(&self) -> String {
        format!("/{}", encode(&self.name))
    }

    pub(super) fn messages_path(&self) -> String {
        format!("{}/messages", self.path())
    }
}
