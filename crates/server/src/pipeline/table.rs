//! The Table service's stretch of the server.

use http::header;
use hyper::body::Incoming;
use tablerock_protocol::{ErrorCode, QueryString, Service, ServiceError, TableResource, limits};

use super::{Arrival, BODY_TIME, Peer, REQUEST_TIME, Refusal, Server, check_endpoint, check_length, check_url_length};
use crate::answer::Answer;
use crate::auth::Caller;
use crate::body::{self, DISCARD_BYTES_MAX};
use crate::endpoint::Endpoint;
use crate::observe::Seen;
use crate::operation::Operation;
use crate::resolve::{Verb, resolve};
use crate::respond::{Envelope, Voice};
use crate::table_api::{self, Call};

/// A request that may run: known, authenticated and authorised.
struct Admitted<'a> {
    endpoint: Endpoint<'a>,
    operation: Operation,
    resource: TableResource,
    query: QueryString<'a>,
    caller: Caller,
}

fn voice(operation: Option<Operation>) -> Voice {
    super::voice(Service::Table, operation)
}

impl Server {
    pub(super) async fn travel_table<'a>(
        &'a self,
        head: &'a http::request::Parts,
        body: Incoming,
        peer: Peer,
        envelope: &mut Envelope,
        seen: &mut Seen<'a>,
    ) -> Result<Answer, Refusal> {
        let travel = async {
            let admitted = match self.admit_to_table(head, peer, envelope, seen).await {
                Ok(admitted) => admitted,
                Err(refusal) => {
                    body::discard(body, DISCARD_BYTES_MAX, BODY_TIME).await;
                    return Err(refusal);
                }
            };
            let voice = voice(seen.operation);
            self.perform_on_table(head, body, admitted, envelope, seen).await.map_err(|error| (voice, error))
        };
        match tokio::time::timeout(REQUEST_TIME, travel).await {
            Ok(result) => result,
            Err(_) => Err((voice(seen.operation), ErrorCode::OperationTimedOut.into())),
        }
    }

    /// Identify, resolve, authenticate, authorise.
    async fn admit_to_table<'a>(
        &'a self,
        head: &'a http::request::Parts,
        peer: Peer,
        envelope: &mut Envelope,
        seen: &mut Seen<'a>,
    ) -> Result<Admitted<'a>, Refusal> {
        let front = |error: ServiceError| (Voice::FrontEnd, error);
        check_url_length(&head.uri).map_err(front)?;
        let verb = Verb::of(&head.method, &head.headers).map_err(front)?;
        let arrival = self.arrive(Service::Table, head, peer, envelope, seen).map_err(front)?;
        let account = arrival.endpoint.account.name.as_str();

        // Who asks comes before whether the question makes sense, so the outcome of this waits.
        let below = arrival.endpoint.below_root(arrival.path);
        let is_root = arrival.query.value("restype") == Some("service") && arrival.endpoint.is_repeated_root(below);
        let resource = if is_root { Ok(TableResource::Service) } else { TableResource::parse(below) };
        let has_if_match = head.headers.contains_key(header::IF_MATCH);
        let resolved = resource.and_then(|resource| {
            let operation = resolve(verb, &resource, &arrival.query, has_if_match, envelope.version, account)?;
            Ok((operation, resource))
        });
        if let Ok((operation, _)) = &resolved {
            seen.operation = Some(*operation);
        }
        let caller = match verb {
            Verb::Options => Caller::Owner,
            _ => {
                let credentials = self.credentials(Service::Table, head, peer, envelope, &arrival);
                credentials.verify_for_table(&self.tables).await.map_err(front)?
            }
        };
        let speaker = if verb == Verb::Options { Voice::FrontEnd } else { Voice::OData };
        let (operation, resource) = resolved.map_err(|error| (speaker, error))?;
        let refuse = |error: ServiceError| (voice(Some(operation)), error);
        check_endpoint(&arrival.endpoint, operation).map_err(refuse)?;
        caller.check(operation, table_of(&resource)).map_err(refuse)?;
        table_of(&resource).map_or(Ok(()), |table| operation.check_on_table(table)).map_err(refuse)?;
        let Arrival { query, endpoint, .. } = arrival;
        Ok(Admitted { endpoint, operation, resource, query, caller })
    }

    /// Decode, call, encode.
    async fn perform_on_table(
        &self,
        head: &http::request::Parts,
        body: Incoming,
        admitted: Admitted<'_>,
        envelope: &Envelope,
        seen: &mut Seen<'_>,
    ) -> Result<Answer, ServiceError> {
        let Admitted { endpoint, operation, resource, query, caller } = admitted;
        check_length(operation, head, &body)?;
        let bytes_max = if operation.is_xml() { limits::XML_BODY_BYTES_MAX } else { limits::BODY_BYTES_MAX };
        let body = body::read(body, bytes_max, BODY_TIME, &self.memory).await?;
        let call = Call {
            server: self,
            endpoint: &endpoint,
            operation,
            resource: &resource,
            query: &query,
            headers: &head.headers,
            caller: &caller,
            accepted: envelope.accepted,
            envelope,
            body,
        };
        let _turn = match operation {
            Operation::QueryEntities => Some(self.memory.query_slot().await),
            _ => None,
        };
        let mut answer = table_api::dispatch(call, seen).await?;
        answer.place = self.memory.for_answer(answer.body.bytes_held()).await?;
        Ok(answer)
    }
}

fn table_of(resource: &TableResource) -> Option<&str> {
    match resource {
        TableResource::Entities { table } | TableResource::Entity { table, .. } => Some(table),
        _ => None,
    }
}
