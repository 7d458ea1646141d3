//! The Queue service's operations over HTTP: decode, call the service, encode.

mod messages;
mod parameters;
mod queues;

use bytes::Bytes;
use http::HeaderMap;
use tablerock_protocol::xml::StoredAccessPolicies;
use tablerock_protocol::{ErrorCode, QueryString, QueueName, QueueResource, Service, ServiceError};

use crate::answer::Answer;
use crate::endpoint::Endpoint;
use crate::operation::Operation;
use crate::pipeline::Server;
use crate::respond::Envelope;
use crate::service_api::ServiceCall;
use crate::spelling::SpelledNames;

/// A request that has been admitted, with its body.
pub(crate) struct Call<'a> {
    pub(crate) server: &'a Server,
    pub(crate) endpoint: &'a Endpoint<'a>,
    pub(crate) operation: Operation,
    pub(crate) resource: &'a QueueResource,
    pub(crate) query: &'a QueryString<'a>,
    pub(crate) headers: &'a HeaderMap,
    /// How names of metadata among them were spelled.
    pub(crate) spelled: Option<&'a SpelledNames>,
    pub(crate) envelope: &'a Envelope,
    pub(crate) body: Bytes,
}

impl<'a> Call<'a> {
    fn account(&self) -> &'a str {
        self.endpoint.account.name.as_str()
    }
}

/// Runs an operation. The match is the list of all there are.
pub(crate) async fn dispatch(call: Call<'_>) -> Result<Answer, ServiceError> {
    use QueueResource::{Message, Messages, Queue};
    let Call { server, endpoint, envelope, headers, .. } = call;
    let service = ServiceCall { service: Service::Queue, server, endpoint, envelope, headers };
    match (call.operation, call.resource) {
        (Operation::ListQueues, _) => queues::list_queues(&call).await,
        (Operation::CreateQueue, Queue { queue }) => queues::create_queue(&call, queue).await,
        (Operation::DeleteQueue, Queue { queue }) => queues::delete_queue(&call, queue).await,
        (Operation::GetQueueMetadata, Queue { queue }) => queues::queue_metadata(&call, queue).await,
        (Operation::SetQueueMetadata, Queue { queue }) => queues::set_queue_metadata(&call, queue).await,
        (Operation::GetQueueACL, Queue { queue }) => queues::queue_acl(&call, queue).await,
        (Operation::SetQueueACL, Queue { queue }) => queues::set_queue_acl(&call, queue).await,
        (Operation::PutMessage, Messages { queue }) => messages::put_message(&call, queue).await,
        (Operation::GetMessages, Messages { queue }) => messages::get_messages(&call, queue).await,
        (Operation::PeekMessages, Messages { queue }) => messages::peek_messages(&call, queue).await,
        (Operation::ClearMessages, Messages { queue }) => messages::clear_messages(&call, queue).await,
        (Operation::UpdateMessage, Message { queue, id }) => messages::update_message(&call, queue, id).await,
        (Operation::DeleteMessage, Message { queue, id }) => messages::delete_message(&call, queue, id).await,
        (Operation::GetQueueServiceProperties, _) => service.properties().await,
        (Operation::SetQueueServiceProperties, _) => service.set_properties(&call.body).await,
        (Operation::GetQueueServiceStats, _) => service.stats(),
        (Operation::QueuePreflightRequest, _) => service.preflight().await,
        // No other operation is resolved from a path of this service.
        _ => Err(ErrorCode::InvalidUri.into()),
    }
}

/// The stored access policies of a queue, for a SAS that rests on one of them. A queue that is gone has none.
pub(crate) async fn stored_policies(
    server: &Server,
    account: &str,
    queue: &QueueName,
) -> Result<StoredAccessPolicies, ServiceError> {
    let policies = server.queues.queue_acl(account, queue).await;
    match policies.map_err(|error| error.into_service_error()) {
        Err(error) if error.code == ErrorCode::QueueNotFound => Ok(StoredAccessPolicies::default()),
        policies => policies,
    }
}
