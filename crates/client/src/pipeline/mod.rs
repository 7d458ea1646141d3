//! The pipeline of a call: address, date, sign, send, retry, and return a response or an error. It is the same for all
//! services; the differences are in [`sign`].

mod call;
mod error_response;
mod response;
mod retry;
mod sign;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderValue, USER_AGENT};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use tablerock_protocol::{Service, ServiceVersion, Uuid};
use tokio::time::Instant;
use tracing::{Instrument as _, Span};

use crate::credential::TokenCache;
use crate::environment::{Rng, now};
use crate::request::{Exchange, ResponseHead};
use crate::transport::Transport;
use crate::{ClientOptions, Credential, Endpoint, Error, Result};

pub(crate) use call::{Call, encode, key_predicate};
pub(crate) use response::{ServiceResponse, date};
pub(crate) use retry::transient;

use retry::{Failure, Retry};

const CLIENT: &str = concat!("tablerock-client/", env!("CARGO_PKG_VERSION"));
/// The longest wait for a new token while the last one is still valid.
const TOKEN_RENEWAL_TIMEOUT: Duration = Duration::from_secs(5);
const CLIENT_REQUEST_ID: &str = "x-ms-client-request-id";

/// The state that all calls to one service of one account share.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) endpoint: Endpoint,
    pub(crate) credential: Credential,
    service: Service,
    version: ServiceVersion,
    transport: Arc<dyn Transport>,
    options: ClientOptions,
    user_agent: HeaderValue,
    version_header: HeaderValue,
    tokens: TokenCache,
    rng: Rng,
}

impl Pipeline {
    pub(crate) fn new(
        service: Service,
        version: ServiceVersion,
        endpoint: Endpoint,
        credential: Credential,
        options: ClientOptions,
    ) -> Result<Self> {
        if matches!(credential, Credential::Token(_)) && !endpoint.is_https() && !endpoint.is_loopback() {
            return Err(Error::invalid(format!(
                "an access token is not sent over plain http to {endpoint}: use https"
            )));
        }
        let user_agent = match &options.application_id {
            Some(id) => format!("{id} {CLIENT}"),
            None => CLIENT.to_owned(),
        };
        Ok(Self {
            service,
            version,
            version_header: header(&version.to_string())?,
            transport: options.transport_for(endpoint.is_https()),
            user_agent: HeaderValue::try_from(user_agent)
                .map_err(|_| Error::invalid("application_id has characters that a header cannot hold"))?,
            endpoint,
            credential,
            options,
            tokens: TokenCache::default(),
            rng: Rng::from_os(),
        })
    }

    /// Returns a pipeline to another endpoint or with another credential, over the same connections.
    pub(crate) fn with(&self, endpoint: Endpoint, credential: Credential) -> Result<Self> {
        let transport = Arc::clone(&self.transport);
        let options = ClientOptions { transport: Some(transport), ..self.options.clone() };
        Self::new(self.service, self.version, endpoint, credential, options)
    }

    /// The longest time of one attempt.
    #[cfg(feature = "encryption")]
    pub(crate) fn attempt_timeout(&self) -> Duration {
        self.options.attempt_timeout
    }

    /// Returns a random id.
    pub(crate) fn id(&self) -> Uuid {
        self.rng.id()
    }

    /// Makes a call without options and returns its response if it is a success.
    pub(crate) async fn send(&self, call: &Call) -> Result<ServiceResponse> {
        self.send_with(call, &mut Exchange::default()).await
    }

    /// Makes a call with its options and returns its response if it is a success.
    pub(crate) async fn send_with(&self, call: &Call, exchange: &mut Exchange) -> Result<ServiceResponse> {
        exchange.options.check()?;
        let id = match exchange.options.given_request_id() {
            Some(id) => id.clone(),
            None => request_id_header(self.rng.id()),
        };
        // No path and no query: keys of entities and names of blobs may be personal data.
        let span = tracing::debug_span!(
            "storage_call",
            service = self.service.name(),
            operation = call.operation,
            resource = call.resource(),
            client_request_id = text(&id),
            attempts = tracing::field::Empty,
            status = tracing::field::Empty,
            request_id = tracing::field::Empty,
        );
        // Passed by reference: if the span is disabled, the current span is the caller's.
        self.send_within(call, exchange, &id, &span).instrument(span.clone()).await
    }

    async fn send_within(
        &self,
        call: &Call,
        exchange: &mut Exchange,
        id: &HeaderValue,
        span: &Span,
    ) -> Result<ServiceResponse> {
        let timeout = exchange.options.timeout_or(self.options.timeout);
        let mut retry = Retry::new(&self.options, timeout, &self.rng, Instant::now());
        loop {
            let timeout = retry.next_attempt();
            span.record("attempts", retry.attempts());
            match self.attempt(call, exchange, id, retry.attempts(), timeout, span).await {
                Ok(response) => return Ok(response),
                Err(failure) => tokio::time::sleep(retry.after(failure)?).await,
            }
        }
    }

    async fn attempt(
        &self,
        call: &Call,
        exchange: &mut Exchange,
        id: &HeaderValue,
        attempts: u32,
        timeout: Duration,
        span: &Span,
    ) -> Result<ServiceResponse, Failure> {
        let mut is_sent = false;
        let sending = async {
            let (request, token) = self.request(call, exchange.options.headers(), id, timeout).await?;
            is_sent = true;
            Ok((self.transport.send(request).await, token))
        };
        let (response, token) = match tokio::time::timeout(timeout, sending).await {
            Ok(sent) => sent.map_err(Failure::not_sent)?,
            Err(_) if is_sent => return Err(Failure::timeout(timeout, attempts)),
            // Only a token credential takes time before that.
            Err(_) => return Err(Failure::not_sent(Error::token(format!("none arrived within {timeout:?}")))),
        };
        let response = match response {
            Ok(response) => response,
            Err(source) if source.is_response_too_large() => return Err(Failure::response_too_large(call.is_write())),
            Err(source) => return Err(Failure::transport(source, attempts)),
        };
        if exchange.keeps_head {
            exchange.head = Some(ResponseHead { status: response.status(), headers: response.headers().clone() });
        }
        let error = match (call.check)(&response) {
            Ok(part_etags) => {
                record(span, response.status().as_u16(), &response);
                return Ok(ServiceResponse::new(response, part_etags, call.is_write()));
            }
            Err(error) => error,
        };
        record(span, error.status, &response);
        let is_unauthorized = error.status == StatusCode::UNAUTHORIZED.as_u16();
        let failure = Failure::response(error, text(id), attempts);
        Err(match token.filter(|_| is_unauthorized) {
            Some(token) => {
                self.tokens.forget(&token);
                failure.with_new_token()
            }
            None => failure,
        })
    }

    /// Builds the request of one attempt, with its own date and signature, and returns the access token in it.
    async fn request(
        &self,
        call: &Call,
        extra: &HeaderMap,
        id: &HeaderValue,
        timeout: Duration,
    ) -> Result<(Request<Bytes>, Option<Arc<str>>)> {
        let target = call.target(self.endpoint.path(), &self.credential);
        let mut request = Request::new(call.body.clone());
        *request.method_mut() = call.method.clone();
        *request.uri_mut() = self.endpoint.uri(&target)?;
        let headers = request.headers_mut();
        headers.clone_from(&call.headers);
        headers.extend(extra.iter().map(|(name, value)| (name.clone(), value.clone())));
        headers.insert(USER_AGENT, self.user_agent.clone());
        headers.insert(CLIENT_REQUEST_ID, id.clone());
        headers.insert("x-ms-version", self.version_header.clone());
        let token = self.authorize(&mut request, timeout).await?;
        // hyper omits Content-Length if the body is empty, and the services reject a PUT without it.
        if request.body().is_empty() && matches!(*request.method(), Method::PUT | Method::POST) {
            request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        Ok((request, token))
    }

    async fn authorize(&self, request: &mut Request<Bytes>, timeout: Duration) -> Result<Option<Arc<str>>> {
        match &self.credential {
            Credential::SharedKey(shared) => sign::sign(self.service, self.version, shared, now(), request)?,
            Credential::Token(credential) => {
                // Renewing a token that is still valid leaves half of the time for the request.
                let renewal_timeout = TOKEN_RENEWAL_TIMEOUT.min(timeout / 2);
                let token = self.tokens.token(credential.as_ref(), now(), renewal_timeout).await?;
                sign::set_bearer(&token, now(), request)?;
                return Ok(Some(token));
            }
            Credential::Sas(_) | Credential::Anonymous => {}
        }
        Ok(None)
    }
}

/// Returns an id as the value of a header.
fn request_id_header(id: Uuid) -> HeaderValue {
    let mut buffer = Uuid::encode_buffer();
    HeaderValue::from_str(id.hyphenated().encode_lower(&mut buffer)).expect("a UUID is visible ASCII")
}

/// Returns the id of a request as text. [`CallOptions`](crate::CallOptions) accepts visible ASCII only.
fn text(id: &HeaderValue) -> &str {
    id.to_str().unwrap_or_default()
}

/// Records the status of a response, or that of its failed part, and its request id in the call's span.
fn record(span: &Span, status: u16, response: &Response<Bytes>) {
    span.record("status", status);
    span.record("request_id", error_response::request_id(response));
}

/// Parses a header value that may come from the caller.
pub(crate) fn header(value: &str) -> Result<HeaderValue> {
    HeaderValue::from_str(value)
        .map_err(|_| Error::invalid(format!("{value:?} has characters that a header cannot hold")))
}
