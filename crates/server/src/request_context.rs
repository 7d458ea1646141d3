//! All that is known about one request: what came in, what its response needs, and what logs and metrics record.

use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderValue, header};
use tablerock_protocol::signing::SasParameter;
use tablerock_protocol::{
    Accepted, DateTime, ErrorCode, QueryString, Service, ServiceError, ServiceVersion, Uuid, limits,
};

use crate::accounts::Accounts;
use crate::auth::{Rejection, Stage};
use crate::http::endpoint::Endpoint;
use crate::http::header_case::HeaderCase;
use crate::http::headers::{CLIENT_REQUEST_ID, Given, VERSION};
use crate::http::respond::ErrorFormat;
use crate::memory_budget::ClientBudget;
use crate::operation::Operation;
use crate::pipeline::Server;

/// The sender's end of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer {
    pub(crate) address: IpAddr,
    pub(crate) port: u16,
    pub(crate) is_https: bool,
}

/// One request, from its head to its response. Fields that are options become known on the way.
pub(crate) struct RequestContext<'a> {
    pub(crate) server: &'a Server,
    /// The accounts that were served when the request began.
    pub(crate) accounts: &'a Accounts,
    pub(crate) service: Service,
    pub(crate) head: &'a http::request::Parts,
    pub(crate) peer: Peer,
    pub(crate) request_id: Uuid,
    /// The client's own id, which the response repeats.
    pub(crate) client_request_id: Option<HeaderValue>,
    pub(crate) version: ServiceVersion,
    /// Whether the request names its version.
    is_version_given: bool,
    pub(crate) accepted: Accepted,
    pub(crate) now: DateTime,
    started: Instant,
    /// The format of an error that happens now.
    pub(crate) error_format: ErrorFormat,
    pub(crate) operation: Option<Operation>,
    /// Whether the sender may do what it asks for.
    pub(crate) is_admitted: bool,
    /// The time that the request gives the server, from its beginning.
    pub(crate) time_limit: Option<Duration>,
    pub(crate) account: Option<&'a str>,
    /// The path below the account's root, as on the wire.
    pub(crate) path_below_root: &'a str,
    pub(crate) counts: Counts,
    /// The error of the response, or of a part of a batch whose response is a success.
    pub(crate) error: Option<ErrorCode>,
    pub(crate) error_reason: Option<Box<str>>,
}

/// Shows the id alone: the head has credentials, in its URL and in its headers.
impl fmt::Debug for RequestContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestContext").field("request_id", &self.request_id).finish_non_exhaustive()
    }
}

/// The counts of a running operation.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    entities_read: AtomicU64,
    entities_returned: AtomicU64,
    group_operations: AtomicU64,
}

/// The address of a request: its account, its path and its query.
#[derive(Debug)]
pub(crate) struct Address<'a> {
    pub(crate) path: &'a str,
    pub(crate) query: QueryString<'a>,
    pub(crate) endpoint: Endpoint<'a>,
}

impl<'a> RequestContext<'a> {
    pub(crate) fn new(
        server: &'a Server,
        accounts: &'a Accounts,
        service: Service,
        head: &'a http::request::Parts,
        peer: Peer,
    ) -> Self {
        Self {
            server,
            accounts,
            service,
            head,
            peer,
            request_id: uuid::Builder::from_random_bytes(server.rng.id()).into_uuid(),
            client_request_id: head.headers.get(CLIENT_REQUEST_ID).filter(|id| is_repeated(id)).cloned(),
            version: ServiceVersion::LATEST,
            is_version_given: false,
            accepted: Accepted::negotiate(None, accept(&head.headers), ServiceVersion::LATEST),
            now: server.now(),
            started: server.clock.instant(),
            error_format: match service {
                Service::Table => ErrorFormat::FrontEnd,
                Service::Queue => ErrorFormat::Queue,
                Service::Blob => ErrorFormat::Blob,
            },
            operation: None,
            is_admitted: false,
            time_limit: None,
            account: None,
            path_below_root: "",
            counts: Counts::default(),
            error: None,
            error_reason: None,
        }
    }

    /// Reads what all services read alike: version, query and account.
    pub(crate) fn read_address(&mut self) -> Result<Address<'a>, ServiceError> {
        let head = self.head;
        let path = head.uri.path();
        let query = QueryString::parse(head.uri.query().unwrap_or_default())?;
        let version = version(&head.headers, &query)?;
        self.is_version_given = version.is_some();
        self.version = version.unwrap_or(ServiceVersion::LATEST);
        let format = query.value("$format").filter(|_| self.service == Service::Table);
        if format.is_some() || self.version < ServiceVersion::JSON {
            self.accepted = Accepted::negotiate(format, accept(&head.headers), self.version);
        }
        let host = head.uri.authority().map(|authority| authority.as_str()).or_else(|| host(&head.headers));
        let scheme = if self.peer.is_https { "https" } else { "http" };
        let endpoint = Endpoint::identify(self.accounts, self.server.host_style, scheme, host, path)?;
        self.account = Some(endpoint.account.name.as_str());
        self.path_below_root = endpoint.below_root(path);
        Ok(Address { path, query, endpoint })
    }

    /// The case of the metadata names in the head, if the connection noted it.
    pub(crate) fn header_case(&self) -> Option<&'a HeaderCase> {
        self.head.extensions.get()
    }

    /// The operation is admitted: from here on, its own format applies to errors.
    pub(crate) fn set_admitted(&mut self) {
        self.is_admitted = true;
        self.error_format = ErrorFormat::of(self.service, self.operation);
    }

    /// Turns a rejection into its error, in the format of the stage that it comes from.
    pub(crate) fn reject(&mut self, rejection: Rejection) -> ServiceError {
        self.error_format = match (self.service, rejection.stage) {
            (Service::Table, Stage::Request) if self.head.method != http::Method::OPTIONS => ErrorFormat::OData,
            (_, Stage::Authorization) => ErrorFormat::of(self.service, self.operation),
            (_, Stage::Authentication | Stage::Request) => self.error_format,
        };
        rejection.error
    }

    /// The error for a request without credentials to what is not public. Versions whose clients can get a token are asked
    /// for one. For older versions, and for requests without a version, such as a browser's, it does not exist.
    pub(crate) fn no_credentials(&self) -> ServiceError {
        let challenged_since = match self.service {
            Service::Table => ServiceVersion::BEARER_TOKEN,
            Service::Queue | Service::Blob => ServiceVersion::CHALLENGE,
        };
        let is_challenged = self.is_version_given && self.version >= challenged_since;
        let code = if is_challenged { ErrorCode::NoAuthenticationInformation } else { ErrorCode::ResourceNotFound };
        ServiceError::new(code).because("the request has no credentials")
    }

    /// The memory budget as the sender of this request sees it. An account counts only for a sender that may use it.
    pub(crate) fn memory(&self) -> ClientBudget<'a> {
        self.server.memory.of(self.peer.address, self.account.filter(|_| self.is_admitted))
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.server.clock.instant() - self.started
    }

    /// Whether an error names the preference that a client asked for, as the service does for inserts.
    pub(crate) fn is_insert(&self) -> bool {
        matches!(self.operation, Some(Operation::InsertEntity | Operation::CreateTable))
    }

    pub(crate) fn operation_name(&self) -> &'static str {
        self.operation.map_or("Unknown", Operation::name)
    }
}

impl Address<'_> {
    /// The path below the account's root. Python's clients repeat the account behind the secondary's root, where only
    /// the query distinguishes that from a queue or a container of this name.
    pub(crate) fn below_root(&self) -> &str {
        let below = self.endpoint.below_root(self.path);
        let of_service = match self.query.keyword("restype").as_deref() {
            Some(restype) => restype == "service" || restype == "account",
            None => self.query.keyword("comp").as_deref() == Some("list"),
        };
        if of_service && self.endpoint.is_repeated_root(below) { "/" } else { below }
    }
}

impl Counts {
    /// Adds the stored entities that a query looked at.
    pub(crate) fn add_read(&self, entities: u64) {
        self.entities_read.fetch_add(entities, Ordering::Relaxed);
    }

    pub(crate) fn add_returned(&self, entities: u64) {
        self.entities_returned.fetch_add(entities, Ordering::Relaxed);
    }

    pub(crate) fn add_group_operations(&self, operations: u64) {
        self.group_operations.fetch_add(operations, Ordering::Relaxed);
    }

    pub(crate) fn entities_read(&self) -> u64 {
        self.entities_read.load(Ordering::Relaxed)
    }

    pub(crate) fn entities_returned(&self) -> u64 {
        self.entities_returned.load(Ordering::Relaxed)
    }

    pub(crate) fn group_operations(&self) -> u64 {
        self.group_operations.load(Ordering::Relaxed)
    }
}

/// The version that a request is written for, if it names one: `api-version` if it came with a SAS, else the header, else
/// the SAS' own. Any well-formed date is accepted, so that a newer SDK is never rejected.
fn version(headers: &HeaderMap, query: &QueryString<'_>) -> Result<Option<ServiceVersion>, ServiceError> {
    let header = match headers.given(&VERSION) {
        Some(value) => Some(value.to_str().map_err(|_| ErrorCode::InvalidHeaderValue)?),
        None => None,
    };
    let signed = query.value(SasParameter::Signature.name()).and(query.value(SasParameter::Version.name()));
    let parse = |text: &str, code: ErrorCode| text.parse::<ServiceVersion>().map_err(|_| ServiceError::new(code));
    match (query.value("api-version"), header) {
        (Some(text), _) => parse(text, ErrorCode::InvalidQueryParameterValue).map(Some),
        (None, Some(text)) => parse(text, ErrorCode::InvalidHeaderValue).map(Some),
        // A malformed `sv` is the business of authentication.
        (None, None) => Ok(signed.and_then(|text| text.parse::<ServiceVersion>().ok())),
    }
}

fn accept(headers: &HeaderMap) -> Option<&str> {
    headers.given_text(&header::ACCEPT)
}

fn host(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::HOST).and_then(|value| value.to_str().ok())
}

/// A client's own id is repeated if it is visible ASCII of reasonable length.
fn is_repeated(id: &HeaderValue) -> bool {
    let visible = id.as_bytes().iter().all(|byte| (0x20..0x7f).contains(byte));
    visible && (1..=limits::CLIENT_REQUEST_ID_BYTES_MAX).contains(&id.len())
}
