//! One queue: its creation, deletion, metadata and access policies.

use std::sync::Arc;

use http::header::CONTENT_TYPE;
use http::{Method, StatusCode};

use crate::access_policy;
use crate::error::none_if;
use crate::pipeline::{Call, Pipeline, encode};
use crate::request::{Exchange, Operation};
use crate::sas::{QueuePermissions, StoredAccessPolicy};
use crate::{Credential, Error, ErrorCode, Request, Result};

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

/// A creation of a queue.
#[derive(Debug, Clone)]
pub struct CreateQueue {
    queue: QueueClient,
    metadata: Vec<(String, String)>,
}

/// The metadata of a queue and the number of its messages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct QueueProperties {
    /// The approximate number of messages, including invisible ones. It is never too low.
    pub approximate_message_count: u64,
    /// The metadata, by names in lower case.
    pub metadata: Vec<(String, String)>,
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

    /// Creates the queue. Succeeds if it exists with the same metadata, and fails with 409 if it has other metadata.
    #[doc(alias = "create_queue")]
    pub fn create(&self) -> Request<(), CreateQueue> {
        Request::new(CreateQueue { queue: self.clone(), metadata: Vec::new() })
    }

    /// Creates the queue unless it exists. Returns whether this call created it; after a lost response, an earlier
    /// attempt may have.
    pub fn create_if_not_exists(&self) -> Request<bool> {
        let call = Call::new("CreateQueue", Method::PUT, self.path());
        // The status is 204 if the queue exists with the same metadata.
        let created = Request::single(&self.pipeline, Ok(call), |response| Ok(response.status == StatusCode::CREATED));
        created.map_result(|created| {
            let created = none_if(created, |error| error.has_code(ErrorCode::QueueAlreadyExists))?;
            Ok(created.unwrap_or(false))
        })
    }

    /// Deletes the queue with all its messages.
    pub fn delete_queue(&self) -> Request<()> {
        Request::single(&self.pipeline, Ok(Call::new("DeleteQueue", Method::DELETE, self.path())), |_| Ok(()))
    }

    /// Deletes the queue if it exists. Returns whether it did; after a lost response, an earlier attempt may have
    /// deleted it.
    pub fn delete_queue_if_exists(&self) -> Request<bool> {
        self.delete_queue().map_result(|deleted| Ok(none_if(deleted, Error::is_not_found)?.is_some()))
    }

    /// Returns the queue's metadata and the approximate number of its messages.
    #[doc(alias = "get_queue_properties")]
    #[doc(alias = "get_metadata")]
    pub fn get_properties(&self) -> Request<QueueProperties> {
        let call = Call::new("GetQueueMetadata", Method::GET, self.path()).query("comp", "metadata");
        Request::single(&self.pipeline, Ok(call), |response| {
            let count = response.header("x-ms-approximate-messages-count").and_then(|count| count.parse().ok());
            let absent = || Error::InvalidResponse("it has no x-ms-approximate-messages-count".to_owned());
            Ok(QueueProperties { approximate_message_count: count.ok_or_else(absent)?, metadata: response.metadata() })
        })
    }

    /// Whether the queue exists.
    pub fn exists(&self) -> Request<bool> {
        self.get_properties().map_result(|found| Ok(none_if(found, Error::is_not_found)?.is_some()))
    }

    /// Returns the approximate number of messages, including invisible ones. It is never too low.
    #[doc(alias = "ApproximateMessagesCount")]
    pub fn approximate_message_count(&self) -> Request<u64> {
        self.get_properties().map_result(|found| Ok(found?.approximate_message_count))
    }

    /// Replaces the queue's metadata.
    #[doc(alias = "set_queue_metadata")]
    pub fn set_metadata(&self, pairs: &[(String, String)]) -> Request<()> {
        let call = Call::new("SetQueueMetadata", Method::PUT, self.path()).query("comp", "metadata");
        Request::single(&self.pipeline, call.metadata(pairs), |_| Ok(()))
    }

    /// Returns the stored access policies of the queue. It needs the account's key.
    #[doc(alias = "get_queue_access_policy")]
    pub fn get_access_policies(&self) -> Request<Vec<StoredAccessPolicy<QueuePermissions>>> {
        let call = Call::new("GetQueueAcl", Method::GET, self.path()).query("comp", "acl");
        Request::single(&self.pipeline, Ok(call), |response| access_policy::parse(&response.body))
    }

    /// Sets all stored access policies of the queue, at most five. A signature with a removed policy is no longer
    /// valid. It needs the account's key.
    #[doc(alias = "set_queue_access_policy")]
    pub fn set_access_policies(&self, policies: &[StoredAccessPolicy<QueuePermissions>]) -> Request<()> {
        let call = Call::new("SetQueueAcl", Method::PUT, self.path()).query("comp", "acl");
        let call = call.static_header(CONTENT_TYPE, "application/xml").body(access_policy::render(policies));
        Request::single(&self.pipeline, Ok(call), |_| Ok(()))
    }

    /// Deletes all messages.
    pub fn clear_messages(&self) -> Request<()> {
        Request::single(
            &self.pipeline,
            Ok(Call::new("ClearMessages", Method::DELETE, self.messages_path())),
            |_| Ok(()),
        )
    }

    fn path(&self) -> String {
        format!("/{}", encode(&self.name))
    }

    pub(super) fn messages_path(&self) -> String {
        format!("{}/messages", self.path())
    }
}

impl Request<(), CreateQueue> {
    /// Sets the queue's metadata.
    pub fn metadata(mut self, pairs: Vec<(String, String)>) -> Self {
        self.kind.metadata = pairs;
        self
    }
}

impl Operation<()> for CreateQueue {
    async fn perform(self, exchange: &mut Exchange) -> Result<()> {
        let call = Call::new("CreateQueue", Method::PUT, self.queue.path()).metadata(&self.metadata)?;
        exchange.send(&self.queue.pipeline, &call).await.map(drop)
    }
}
