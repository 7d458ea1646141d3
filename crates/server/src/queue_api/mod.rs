//! The Queue service's operations over HTTP: decode, call the service, encode.

use bytes::Bytes;
use http::{HeaderMap, HeaderName};
use tablerock_protocol::xml::StoredAccessPolicies;
use tablerock_protocol::{ErrorCode, QueryString, QueueName, QueueResource, Service, ServiceError};

use crate::answer::Answer;
use crate::auth::Caller;
use crate::endpoint::Endpoint;
use crate::observe::Seen;
use crate::operation::Operation;
use crate::respond::Envelope;
use crate::road::Road;
use crate::service_api::ServiceCall;

/// The largest body that is read: a message in its envelope, with room for escapes.
pub(crate) const BODY_BYTES_MAX: usize = 128 * 1024 + 512;

/// A request that has been admitted, with its body.
pub(crate) struct Call<'a> {
    pub(crate) road: &'a Road,
    pub(crate) endpoint: &'a Endpoint<'a>,
    pub(crate) operation: Operation,
    pub(crate) resource: &'a QueueResource,
    pub(crate) query: &'a QueryString<'a>,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) caller: &'a Caller,
    pub(crate) envelope: &'a Envelope,
    pub(crate) body: Bytes,
}

impl<'a> Call<'a> {
    fn account(&self) -> &'a str {
        self.endpoint.account.name.as_str()
    }

    fn header(&self, name: HeaderName) -> Option<&'a str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// Runs an operation. The match is the list of all there are.
pub(crate) async fn dispatch(call: Call<'_>, _seen: &mut Seen<'_>) -> Result<Answer, ServiceError> {
    let Call { road, endpoint, envelope, headers, .. } = call;
    let service = ServiceCall { service: Service::Queue, road, endpoint, envelope, headers };
    match call.operation {
        Operation::GetQueueServiceProperties => service.properties().await,
        Operation::SetQueueServiceProperties => service.set_properties(&call.body).await,
        Operation::GetQueueServiceStats => service.stats(),
        Operation::QueuePreflightRequest => service.preflight().await,
        _ => Err(ErrorCode::NotImplemented.into()),
    }
}

/// The stored access policies of a queue, for a SAS that rests on one of them. A queue that is gone has none.
pub(crate) async fn stored_policies(
    _road: &Road,
    _account: &str,
    _queue: &QueueName,
) -> Result<StoredAccessPolicies, ServiceError> {
    Ok(StoredAccessPolicies::default())
}
