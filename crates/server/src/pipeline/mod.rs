//! The server of a request: identify → resolve → authenticate → authorise → decode → call → encode.
//!
//! It is one server for all services. This file has what they share, `table.rs`, `queue.rs` and `blob.rs` the stretch on
//! which they differ: their resources, their credentials and how they take bodies in.

mod blob;
mod queue;
mod table;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, Request, header};
use hyper::body::{Body, Incoming};
use tablerock_kv::{Clock, Rng};
use tablerock_protocol::signing::SasParameter;
use tablerock_protocol::{
    Accepted, DateTime, ErrorCode, QueryString, Service, ServiceError, ServiceVersion, Uuid, limits,
};
use tablerock_services::{AccountService, Analytics, BlobService, QueueService, TableService};

use crate::accounts::Accounts;
use crate::auth::Credentials;
use crate::cors;
use crate::endpoint::Endpoint;
use crate::finished::Finished;
use crate::headers::VERSION;
use crate::listener::Handled;
use crate::memory_budget::MemoryBudget;
use crate::observe::{Metrics, Seen};
use crate::operation::Operation;
use crate::respond::{Envelope, Voice, accept};
use crate::table_api::prefer;

/// How long any request may take; what streams may take as long as it moves.
const REQUEST_TIME: Duration = Duration::from_secs(limits::REQUEST_SECONDS_MAX);
/// How long a client may take to send a body that is read as a whole.
const BODY_TIME: Duration = Duration::from_secs(20);

/// Everything that a request needs from the server.
#[derive(Debug)]
pub struct Server {
    pub accounts: Accounts,
    pub tables: TableService,
    pub queues: QueueService,
    pub blobs: BlobService,
    pub settings: AccountService,
    pub analytics: Analytics,
    pub clock: Arc<dyn Clock>,
    pub rng: Rng,
    pub metrics: Metrics,
    pub memory: MemoryBudget,
    /// Accept bearer tokens without checking who signed them, over TLS only.
    pub accept_tokens: bool,
    /// Take the account from the host name where it names one.
    pub host_style: bool,
}

/// Where a request came from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer {
    pub(crate) address: IpAddr,
    pub(crate) port: u16,
    pub(crate) is_https: bool,
}

/// A refusal, and which part of the service speaks it.
type Refusal = (Voice, ServiceError);

/// A request whose account and version are known.
struct Arrival<'a> {
    path: &'a str,
    query: QueryString<'a>,
    endpoint: Endpoint<'a>,
}

impl Server {
    /// Answers one request. Nothing that a client sends makes this fail.
    pub(crate) async fn handle(self: Arc<Self>, service: Service, request: Request<Incoming>, peer: Peer) -> Handled {
        let started = self.clock.instant();
        let (head, body) = request.into_parts();
        let request_id = uuid_from(self.rng.id());
        let mut envelope = Envelope::new(request_id, &head.headers, self.now());
        let mut seen = Seen::default();
        // The future of a request is as large as its largest branch. Tables have the smallest, and the others are worth
        // an allocation.
        let result = match service {
            Service::Table => self.travel_table(&head, body, peer, &mut envelope, &mut seen).await,
            Service::Queue => Box::pin(self.travel_queue(&head, body, peer, &mut envelope, &mut seen)).await,
            Service::Blob => Box::pin(self.travel_blob(&head, body, peer, &mut envelope, &mut seen)).await,
        };
        let mut response = match result {
            Ok(answer) => envelope.success(voice(service, seen.operation), answer),
            Err((voice, error)) => {
                seen.error = Some(error.code);
                envelope.failure(voice, &error, prefer(&head.headers).filter(|_| seen.is_insert()))
            }
        };
        if let (Some(origin), Some(account)) = (head.headers.get(header::ORIGIN), seen.account) {
            cors::decorate(&self.settings, service, account, origin, &head.method, response.headers_mut()).await;
        }
        let duration = self.clock.instant() - started;
        self.metrics.record(&seen, response.status(), duration, request_id);
        if let Some(account) = seen.account
            && let Some(watched) = self.analytics.watched(account, service)
        {
            let (head, envelope, seen, response) = (&head, &envelope, &seen, &response);
            Finished { service, account, head, peer, envelope, seen, response, duration }.tell(&self, watched);
        }
        Ok(response)
    }

    /// Reads what all services read alike: version, query and account.
    fn arrive<'a>(
        &'a self,
        service: Service,
        head: &'a http::request::Parts,
        peer: Peer,
        envelope: &mut Envelope,
        seen: &mut Seen<'a>,
    ) -> Result<Arrival<'a>, ServiceError> {
        let path = head.uri.path();
        let query = QueryString::parse(head.uri.query().unwrap_or_default())?;
        envelope.version = version(&head.headers, &query)?;
        let format = query.value("$format").filter(|_| service == Service::Table);
        if format.is_some() || envelope.version < ServiceVersion::JSON {
            envelope.accepted = Accepted::negotiate(format, accept(&head.headers), envelope.version);
        }
        let host = head.uri.authority().map(|authority| authority.as_str()).or_else(|| host(&head.headers));
        let scheme = if peer.is_https { "https" } else { "http" };
        let endpoint = Endpoint::identify(&self.accounts, self.host_style, scheme, host, path)?;
        seen.account = Some(endpoint.account.name.as_str());
        seen.path_below_root = endpoint.below_root(path);
        Ok(Arrival { path, query, endpoint })
    }

    /// What a request shows of its sender.
    fn credentials<'a>(
        &'a self,
        service: Service,
        head: &'a http::request::Parts,
        peer: Peer,
        envelope: &Envelope,
        arrival: &'a Arrival<'a>,
    ) -> Credentials<'a> {
        Credentials {
            service,
            account: arrival.endpoint.account,
            method: head.method.as_str(),
            headers: &head.headers,
            path: arrival.path,
            query: &arrival.query,
            version: envelope.version,
            now: envelope.now,
            source: peer.address,
            is_https: peer.is_https,
            accept_tokens: self.accept_tokens,
        }
    }

    pub(crate) fn now(&self) -> DateTime {
        DateTime::from_ticks(self.clock.ticks())
    }
}

impl Arrival<'_> {
    /// The path below the account's root. Python's clients repeat the account behind the secondary's root, where only
    /// the query tells that from a queue or a container of this name.
    fn below_root(&self) -> &str {
        let below = self.endpoint.below_root(self.path);
        let of_service = match self.query.value("restype") {
            Some(restype) => restype == "service" || restype == "account",
            None => self.query.value("comp") == Some("list"),
        };
        if of_service && self.endpoint.is_repeated_root(below) { "/" } else { below }
    }
}

/// Which part of a service answers an operation.
fn voice(service: Service, operation: Option<Operation>) -> Voice {
    match (service, operation) {
        (Service::Queue, _) => Voice::Queue,
        (Service::Blob, _) => Voice::Blob,
        (Service::Table, None | Some(Operation::TablePreflightRequest)) => Voice::FrontEnd,
        (Service::Table, Some(operation)) if operation.is_xml() => Voice::Xml,
        (Service::Table, Some(_)) => Voice::OData,
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

/// HTTP/2 delimits bodies by itself; HTTP/1 needs a length or chunks, without which there is no body at all.
fn check_length(operation: Operation, head: &http::request::Parts, body: &Incoming) -> Result<(), ServiceError> {
    let has_length = head.version == http::Version::HTTP_2
        || head.headers.contains_key(header::CONTENT_LENGTH)
        || head.headers.contains_key(header::TRANSFER_ENCODING)
        || !body.is_end_stream();
    if operation.needs_length() && !has_length { Err(ErrorCode::MissingContentLengthHeader.into()) } else { Ok(()) }
}

/// What a secondary refuses.
fn check_endpoint(endpoint: &Endpoint<'_>, operation: Operation) -> Result<(), ServiceError> {
    if endpoint.is_secondary && operation.is_write() {
        return Err(ErrorCode::InsufficientAccountPermissions.into());
    }
    Ok(())
}

pub(crate) fn uuid_from(random: [u8; 16]) -> Uuid {
    // The form of a random UUID: version 4, variant 1.
    let mut bytes = random;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    Uuid::from_bytes(bytes)
}
