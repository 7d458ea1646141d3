//! The road of a request: identify → resolve → authenticate → authorise → decode → call → encode.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, Request, header};
use hyper::body::{Body, Incoming};
use tablerock_kv::{Clock, Dice};
use tablerock_protocol::signing::SasParameter;
use tablerock_protocol::{
    Accepted, DateTime, ErrorCode, QueryString, ServiceError, ServiceVersion, TableResource, Uuid, limits,
};
use tablerock_services::{AccountService, TableService};

use crate::accounts::Accounts;
use crate::answer::Answer;
use crate::auth::{Caller, Credentials};
use crate::endpoint::Endpoint;
use crate::headers::VERSION;
use crate::listener::Handled;
use crate::observe::{Metrics, Seen};
use crate::operation::Operation;
use crate::resolve::{Verb, resolve};
use crate::respond::{Envelope, Voice, accept};
use crate::room::Room;
use crate::table_api::{self, Call, prefer};
use crate::{body, cors};

/// Everything that a request needs from the server.
#[derive(Debug)]
pub struct Road {
    pub accounts: Accounts,
    pub tables: TableService,
    pub settings: AccountService,
    pub clock: Arc<dyn Clock>,
    pub dice: Dice,
    pub metrics: Metrics,
    pub room: Room,
    /// Accept bearer tokens without checking who signed them, over TLS only.
    pub accept_tokens: bool,
    /// Take the account from the host name where it names one.
    pub host_style: bool,
}

/// Where a request came from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer {
    pub(crate) address: IpAddr,
    pub(crate) is_https: bool,
}

/// A request that may run: known, authenticated and authorised.
struct Admitted<'a> {
    endpoint: Endpoint<'a>,
    operation: Operation,
    resource: TableResource,
    query: QueryString<'a>,
    caller: Caller,
}

impl Road {
    /// Answers one request. Nothing that a client sends makes this fail.
    pub(crate) async fn handle(self: Arc<Self>, request: Request<Incoming>, peer: Peer) -> Handled {
        let started = self.clock.instant();
        let (head, body) = request.into_parts();
        let request_id = uuid_from(self.dice.id());
        let mut envelope = Envelope::new(request_id, &head.headers, self.now());
        let mut seen = Seen::default();
        let travel = self.travel(&head, body, peer, &mut envelope, &mut seen);
        let time = Duration::from_secs(limits::REQUEST_SECONDS_MAX);
        let result = tokio::time::timeout(time, travel).await;
        let result = result.unwrap_or_else(|_| Err((voice(seen.operation), ErrorCode::OperationTimedOut.into())));
        let mut response = match result {
            Ok(answer) => envelope.success(voice(seen.operation), answer),
            Err((voice, error)) => {
                seen.error = Some(error.code);
                envelope.failure(voice, &error, prefer(&head.headers).filter(|_| seen.is_insert()))
            }
        };
        if let (Some(origin), Some(account)) = (head.headers.get(header::ORIGIN), seen.account) {
            cors::decorate(&self.settings, account, origin, &head.method, response.headers_mut()).await;
        }
        self.metrics.record(&seen, response.status(), self.clock.instant() - started, request_id);
        Ok(response)
    }

    async fn travel<'a>(
        &'a self,
        head: &'a http::request::Parts,
        body: Incoming,
        peer: Peer,
        envelope: &mut Envelope,
        seen: &mut Seen<'a>,
    ) -> Result<Answer, (Voice, ServiceError)> {
        let admitted = match self.admit(head, peer, envelope, seen).await {
            Ok(admitted) => admitted,
            Err(refusal) => {
                body::discard(body, BODY_TIME).await;
                return Err(refusal);
            }
        };
        let voice = voice(seen.operation);
        self.perform(head, body, admitted, envelope, seen).await.map_err(|error| (voice, error))
    }

    /// Identify, resolve, authenticate, authorise.
    async fn admit<'a>(
        &'a self,
        head: &'a http::request::Parts,
        peer: Peer,
        envelope: &mut Envelope,
        seen: &mut Seen<'a>,
    ) -> Result<Admitted<'a>, (Voice, ServiceError)> {
        let front = |error: ServiceError| (Voice::FrontEnd, error);
        check_url_length(&head.uri).map_err(front)?;
        let verb = Verb::of(&head.method, &head.headers).map_err(front)?;
        let path = head.uri.path();
        let query = QueryString::parse(head.uri.query().unwrap_or_default()).map_err(front)?;
        envelope.version = version(&head.headers, &query).map_err(front)?;
        let format = query.value("$format");
        if format.is_some() || envelope.version < ServiceVersion::JSON {
            envelope.accepted = Accepted::negotiate(format, accept(&head.headers), envelope.version);
        }

        let host = head.uri.authority().map(|authority| authority.as_str()).or_else(|| host(&head.headers));
        let scheme = if peer.is_https { "https" } else { "http" };
        let endpoint = Endpoint::identify(&self.accounts, self.host_style, scheme, host, path).map_err(front)?;
        let account = endpoint.account.name.as_str();
        seen.account = Some(account);

        // Who asks comes before whether the question makes sense, so the outcome of this waits.
        let below = endpoint.below_root(path);
        let is_root = query.value("restype") == Some("service") && endpoint.is_repeated_root(below);
        let resource = if is_root { Ok(TableResource::Service) } else { TableResource::parse(below) };
        let has_if_match = head.headers.contains_key(header::IF_MATCH);
        let resolved = resource.and_then(|resource| {
            let operation = resolve(verb, &resource, &query, has_if_match, envelope.version, account)?;
            Ok((operation, resource))
        });
        if let Ok((operation, _)) = &resolved {
            seen.operation = Some(*operation);
        }
        if verb == Verb::Options {
            let (operation, resource) = resolved.map_err(front)?;
            return Ok(Admitted { endpoint, operation, resource, query, caller: Caller::Owner });
        }
        let credentials = Credentials {
            account: endpoint.account,
            method: head.method.as_str(),
            headers: &head.headers,
            path,
            query: &query,
            version: envelope.version,
            now: envelope.now,
            source: peer.address,
            is_https: peer.is_https,
            accept_tokens: self.accept_tokens,
        };
        let caller = credentials.verify(&self.tables).await.map_err(front)?;
        let (operation, resource) = resolved.map_err(|error| (Voice::OData, error))?;
        let refuse = |error: ServiceError| (voice(Some(operation)), error);
        if endpoint.is_secondary && operation.is_write() {
            return Err(refuse(ErrorCode::InsufficientAccountPermissions.into()));
        }
        caller.check(operation, table_of(&resource)).map_err(refuse)?;
        Ok(Admitted { endpoint, operation, resource, query, caller })
    }

    /// Decode, call, encode.
    async fn perform(
        &self,
        head: &http::request::Parts,
        body: Incoming,
        admitted: Admitted<'_>,
        envelope: &Envelope,
        seen: &mut Seen<'_>,
    ) -> Result<Answer, ServiceError> {
        let Admitted { endpoint, operation, resource, query, caller } = admitted;
        if needs_length(operation) && !has_length(head, &body) {
            return Err(ErrorCode::MissingContentLengthHeader.into());
        }
        let bytes_max = if operation.is_xml() { limits::XML_BODY_BYTES_MAX } else { limits::BODY_BYTES_MAX };
        let body = body::read(body, bytes_max, BODY_TIME, &self.room).await?;
        let call = Call {
            road: self,
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
            Operation::QueryEntities => Some(self.room.turn().await),
            _ => None,
        };
        let mut answer = table_api::dispatch(call, seen).await?;
        answer.place = self.room.for_answer(answer.body.len()).await?;
        Ok(answer)
    }

    fn now(&self) -> DateTime {
        DateTime::from_ticks(self.clock.ticks())
    }
}

/// How long a client may take to send a body.
const BODY_TIME: Duration = Duration::from_secs(20);

fn voice(operation: Option<Operation>) -> Voice {
    match operation {
        None | Some(Operation::TablePreflightRequest) => Voice::FrontEnd,
        Some(operation) if operation.is_xml() => Voice::Xml,
        Some(_) => Voice::OData,
    }
}

/// The version that a request speaks: `api-version` if it came with a SAS, else the header, else the SAS' own.
/// Any well-formed date will do, so that a newer SDK is never turned away.
fn version(headers: &HeaderMap, query: &QueryString<'_>) -> Result<ServiceVersion, ServiceError> {
    let header = match headers.get(VERSION) {
        Some(value) => Some(value.to_str().map_err(|_| ErrorCode::InvalidHeaderValue)?),
        None => None,
    };
    let signed = query.value(SasParameter::Signature.name()).and(query.value(SasParameter::Version.name()));
    let parse = |text: &str, code: ErrorCode| text.parse::<ServiceVersion>().map_err(|_| ServiceError::new(code));
    match (query.value("api-version"), header) {
        (Some(text), _) => parse(text, ErrorCode::InvalidQueryParameterValue),
        (None, Some(text)) => parse(text, ErrorCode::InvalidHeaderValue),
        // A malformed `sv` is the business of authentication.
        (None, None) => {
            Ok(signed.and_then(|text| text.parse::<ServiceVersion>().ok()).unwrap_or(ServiceVersion::LATEST))
        }
    }
}

fn check_url_length(uri: &http::Uri) -> Result<(), ServiceError> {
    let length = uri.path_and_query().map_or(0, |target| target.as_str().len());
    if length > limits::URL_BYTES_MAX { Err(ServiceError::new(ErrorCode::InvalidUri).status(414)) } else { Ok(()) }
}

fn host(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::HOST).and_then(|value| value.to_str().ok())
}

fn table_of(resource: &TableResource) -> Option<&str> {
    match resource {
        TableResource::Entities { table } | TableResource::Entity { table, .. } => Some(table),
        _ => None,
    }
}

fn needs_length(operation: Operation) -> bool {
    use Operation::*;
    operation.is_write() && !matches!(operation, DeleteEntity | DeleteTable)
}

/// HTTP/2 delimits bodies by itself; HTTP/1 needs a length or chunks, without which there is no body at all.
fn has_length(head: &http::request::Parts, body: &Incoming) -> bool {
    head.version == http::Version::HTTP_2
        || head.headers.contains_key(header::CONTENT_LENGTH)
        || head.headers.contains_key(header::TRANSFER_ENCODING)
        || !body.is_end_stream()
}

pub(crate) fn uuid_from(random: [u8; 16]) -> Uuid {
    // The form of a random UUID: version 4, variant 1.
    let mut bytes = random;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    Uuid::from_bytes(bytes)
}
