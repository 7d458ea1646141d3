//! The Queue service's stretch of the server.

use http::Method;
use hyper::body::Incoming;
use tablerock_protocol::{ErrorCode, QueryString, QueueResource, Service, ServiceError, limits};

use super::{Arrival, BODY_TIME, Peer, REQUEST_TIME, Refusal, Server, check_endpoint, check_length, check_url_length};
use crate::answer::Answer;
use crate::auth::Caller;
use crate::body::{self, DISCARD_BYTES_MAX};
use crate::endpoint::Endpoint;
use crate::headers::AnswerHeader;
use crate::observe::Seen;
use crate::operation::Operation;
use crate::queue_api::{self, Call};
use crate::resolve::{Verb, resolve_queue};
use crate::respond::{Envelope, Voice};

/// A request that may run: known, authenticated and authorised.
struct Admitted<'a> {
    endpoint: Endpoint<'a>,
    operation: Operation,
    resource: QueueResource,
    query: QueryString<'a>,
}

impl Server {
    pub(super) async fn travel_queue<'a>(
        &'a self,
        head: &'a http::request::Parts,
        body: Incoming,
        peer: Peer,
        envelope: &mut Envelope,
        seen: &mut Seen<'a>,
    ) -> Result<Answer, Refusal> {
        let travel = async {
            match self.admit_to_queue(head, peer, envelope, seen).await {
                Ok(admitted) => self.perform_on_queue(head, body, admitted, envelope).await,
                Err(refusal) => {
                    body::discard(body, DISCARD_BYTES_MAX, BODY_TIME).await;
                    Err(refusal)
                }
            }
        };
        let result = tokio::time::timeout(REQUEST_TIME, travel).await;
        let result = result.unwrap_or_else(|_| Err(ErrorCode::OperationTimedOut.into()));
        result.map_err(|error| (Voice::Queue, error))
    }

    /// Identify, resolve, authenticate, authorise.
    async fn admit_to_queue<'a>(
        &'a self,
        head: &'a http::request::Parts,
        peer: Peer,
        envelope: &mut Envelope,
        seen: &mut Seen<'a>,
    ) -> Result<Admitted<'a>, ServiceError> {
        check_url_length(&head.uri)?;
        let verb = Verb::parse(head.method.as_str()).ok_or(ErrorCode::InvalidHttpVerb)?;
        let arrival = self.arrive(Service::Queue, head, peer, envelope, seen)?;
        let resource = QueueResource::parse(arrival.below_root())?;
        // Who asks comes before whether the question makes sense, so the outcome of this waits.
        let resolved = resolve_queue(verb, &resource, &arrival.query);
        seen.operation = resolved.as_ref().ok().copied();
        let caller = match verb {
            Verb::Options => Caller::Owner,
            _ => {
                let credentials = self.credentials(Service::Queue, head, peer, envelope, &arrival);
                credentials.verify_for_queue(self, &resource).await?
            }
        };
        let operation = resolved?;
        check_endpoint(&arrival.endpoint, operation)?;
        caller.check(operation, None)?;
        let Arrival { query, endpoint, .. } = arrival;
        Ok(Admitted { endpoint, operation, resource, query })
    }

    /// Decode, call, encode.
    async fn perform_on_queue(
        &self,
        head: &http::request::Parts,
        body: Incoming,
        admitted: Admitted<'_>,
        envelope: &Envelope,
    ) -> Result<Answer, ServiceError> {
        let Admitted { endpoint, operation, resource, query } = admitted;
        check_length(operation, head, &body)?;
        let body = body::read(body, limits::MESSAGE_BODY_BYTES_MAX, BODY_TIME, &self.memory).await.map_err(
            |error| match error.code {
                ErrorCode::RequestBodyTooLarge => ServiceError::body_too_large(limits::MESSAGE_BODY_BYTES_MAX as u64),
                _ => error,
            },
        )?;
        let call = Call {
            server: self,
            endpoint: &endpoint,
            operation,
            resource: &resource,
            query: &query,
            headers: &head.headers,
            spelled: head.extensions.get(),
            envelope,
            body,
        };
        let mut answer = queue_api::dispatch(call).await?;
        if head.method == Method::GET {
            answer = answer.with(AnswerHeader::CacheControl, "no-cache");
        }
        answer.place = self.memory.for_answer(answer.body.bytes_held()).await?;
        Ok(answer)
    }
}
