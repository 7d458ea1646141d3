//! One queue: its creation and end, and what it holds.

use std::sync::Arc;

use http::Method;
use http::header::CONTENT_TYPE;
use tablerock_protocol::signing::QueuePermissions;
use tablerock_protocol::xml::StoredAccessPolicies;

use crate::pipeline::{Call, Pipeline, encode};
use crate::{Credential, Error, ErrorCode, Result};

/// A queue. Clones are cheap and share connections.
///
/// Messages are put with [`put_message`](Self::put_message), taken with [`get_message`](Self::get_message) or
/// [`get_messages`](Self::get_messages), kept longer or changed with [`update_message`](Self::update_message), and
/// done with at [`delete_message`](Self::delete_message).
#[derive(Debug, Clone)]
pub struct QueueClient {
    pub(super) pipeline: Arc<Pipeline>,
    name: Arc<str>,
}

impl QueueClient {
    pub(super) fn new(pipeline: Arc<Pipeline>, name: String) -> Self {
        Self { pipeline, name: name.into() }
    }

    /// The queue's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same queue with another credential, over the same connections: a shared access signature, for example.
    pub fn with_credential(&self, credential: impl Into<Credential>) -> Result<Self> {
        let pipeline = self.pipeline.with(self.pipeline.endpoint.clone(), credential.into())?;
        Ok(Self { pipeline: Arc::new(pipeline), name: Arc::clone(&self.name) })
    }

    /// Creates the queue; it is as good if it exists already without metadata, like this one.
    pub async fn create(&self) -> Result<()> {
        self.pipeline.send(&Call::new("CreateQueue", Method::PUT, self.path())).await.map(drop)
    }

    /// Creates the queue unless it exists in whatever form.
    pub async fn create_if_not_exists(&self) -> Result<()> {
        match self.create().await {
            Err(error) if error.code() == Some(ErrorCode::QueueAlreadyExists) => Ok(()),
            other => other,
        }
    }

    /// Deletes the queue with everything in it.
    pub async fn delete_queue(&self) -> Result<()> {
        self.pipeline.send(&Call::new("DeleteQueue", Method::DELETE, self.path())).await.map(drop)
    }

    /// Deletes the queue if it exists. Returns whether it did; after a lost answer, an earlier try may have deleted it.
    pub async fn delete_queue_if_exists(&self) -> Result<bool> {
        match self.delete_queue().await {
            Ok(()) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// About how many messages there are, invisible ones included; never too few.
    pub async fn message_count(&self) -> Result<u64> {
        let call = Call::new("GetQueueMetadata", Method::GET, self.path()).query("comp", "metadata");
        let answer = self.pipeline.send(&call).await?;
        let count = answer.header("x-ms-approximate-messages-count").and_then(|count| count.parse().ok());
        count.ok_or_else(|| Error::Answer("it does not say how many messages there are".to_owned()))
    }

    /// Sets all of the queue's metadata, by name and value.
    pub async fn set_metadata(&self, pairs: &[(String, String)]) -> Result<()> {
        let call = Call::new("SetQueueMetadata", Method::PUT, self.path()).query("comp", "metadata");
        self.pipeline.send(&call.metadata(pairs)?).await.map(drop)
    }

    /// The queue's stored access policies, which shared access signatures can refer to. Takes the account's key.
    pub async fn access_policies(&self) -> Result<StoredAccessPolicies> {
        let call = Call::new("GetQueueAcl", Method::GET, self.path()).query("comp", "acl");
        let answer = self.pipeline.send(&call).await?;
        StoredAccessPolicies::parse(&answer.body, QueuePermissions::LETTERS).map_err(|error| Error::unreadable(&error))
    }

    /// Sets all of the queue's stored access policies, at most five. Takes the account's key.
    pub async fn set_access_policies(&self, policies: &StoredAccessPolicies) -> Result<()> {
        let call = Call::new("SetQueueAcl", Method::PUT, self.path()).query("comp", "acl");
        self.pipeline.send(&call.own_header(CONTENT_TYPE, "application/xml").body(policies.render())).await.map(drop)
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
