//! The Blob service's stretch of the server. Bodies are streams here in both directions, and a request may take as long
//! as something moves.

use std::sync::Arc;

use hyper::body::Incoming;
use tablerock_protocol::{BlobResource, ErrorCode, QueryString, Service, ServiceError};

use super::{Arrival, Peer, REQUEST_TIME, Refusal, Server, check_endpoint, check_length, check_url_length};
use crate::answer::Answer;
use crate::auth::Caller;
use crate::blob_api::{self, Call};
use crate::endpoint::Endpoint;
use crate::observe::Seen;
use crate::operation::Operation;
use crate::progress::Progress;
use crate::resolve::{Verb, resolve_blob};
use crate::respond::{Envelope, Voice};
use crate::upload::Upload;

/// A request that may run: known, authenticated and authorised.
struct Admitted<'a> {
    endpoint: Endpoint<'a>,
    operation: Operation,
    resource: BlobResource,
    query: QueryString<'a>,
    caller: Caller,
    peer: Peer,
}

impl Server {
    pub(super) async fn travel_blob<'a>(
        &'a self,
        head: &'a http::request::Parts,
        body: Incoming,
        peer: Peer,
        envelope: &mut Envelope,
        seen: &mut Seen<'a>,
    ) -> Result<Answer, Refusal> {
        let progress = Arc::new(Progress::new());
        let travel = async {
            let admitted = self.admit_to_blob(head, peer, envelope, seen).await;
            let admitted = admitted.and_then(|admitted| {
                check_length(admitted.operation, head, &body)?;
                Ok(admitted)
            });
            let mut upload = Upload::new(body, &self.memory, progress.clone());
            let result = match admitted {
                Ok(admitted) => self.perform_on_blob(head, &mut upload, &progress, admitted, envelope, seen).await,
                Err(error) => Err(error),
            };
            upload.finish().await;
            result
        };
        let result = progress.within(REQUEST_TIME, travel).await;
        let result = result.unwrap_or_else(|| Err(ErrorCode::OperationTimedOut.into()));
        result.map_err(|error| (Voice::Blob, error))
    }

    /// Identify, resolve, authenticate, authorise.
    async fn admit_to_blob<'a>(
        &'a self,
        head: &'a http::request::Parts,
        peer: Peer,
        envelope: &mut Envelope,
        seen: &mut Seen<'a>,
    ) -> Result<Admitted<'a>, ServiceError> {
        check_url_length(&head.uri)?;
        let verb = Verb::parse(head.method.as_str()).ok_or(ErrorCode::InvalidHttpVerb)?;
        let arrival = self.arrive(Service::Blob, head, peer, envelope, seen)?;
        let resource = BlobResource::parse(arrival.below_root(), arrival.query.value("restype").is_some())?;
        // Who asks comes before whether the question makes sense, so the outcome of this waits.
        let resolved = resolve_blob(verb, &resource, &arrival.query, &head.headers);
        seen.operation = resolved.as_ref().ok().copied();
        let caller = match verb {
            Verb::Options => Caller::Owner,
            _ => {
                let credentials = self.credentials(Service::Blob, head, peer, envelope, &arrival);
                credentials.verify_for_blob(self, &resource).await?
            }
        };
        let operation = resolved?;
        check_endpoint(&arrival.endpoint, operation)?;
        caller.check(operation, None)?;
        operation.check_on_blob(&resource)?;
        let Arrival { query, endpoint, .. } = arrival;
        Ok(Admitted { endpoint, operation, resource, query, caller, peer })
    }

    /// Decode, call, encode.
    async fn perform_on_blob(
        &self,
        head: &http::request::Parts,
        body: &mut Upload,
        progress: &Progress,
        admitted: Admitted<'_>,
        envelope: &Envelope,
        seen: &mut Seen<'_>,
    ) -> Result<Answer, ServiceError> {
        let Admitted { endpoint, operation, resource, query, caller, peer } = admitted;
        let call = Call {
            server: self,
            endpoint: &endpoint,
            operation,
            resource: &resource,
            query: &query,
            headers: &head.headers,
            spelled: head.extensions.get(),
            caller: &caller,
            envelope,
            peer,
            body,
            progress,
        };
        let mut answer = blob_api::dispatch(call, seen).await?;
        answer.place = self.memory.for_answer(answer.body.bytes_held()).await?;
        Ok(answer)
    }
}
