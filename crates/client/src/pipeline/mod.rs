//! The pipeline of a call: address, date, sign, send, retry, and return a response or an error. It is the same for all
//! services; the differences are in [`sign`].

mod attempt;
mod call;
mod error_response;
mod response;
mod retry;
mod sign;
mod span;

use std::sync::Arc;
use std::time::Duration;

use http::header::{HeaderName, HeaderValue};
use tablerock_protocol::{Service, ServiceVersion, Uuid};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tracing::{Instrument as _, Span};

use crate::credential::TokenCache;
use crate::environment::Rng;
use crate::policy::CallHead;
use crate::request::Exchange;
use crate::transport::Transport;
use crate::{CallOptions, ClientOptions, Credential, Endpoint, Error, Result};

pub(crate) use call::{Call, append_encoded, append_key_predicate, encode};
pub(crate) use response::{ServiceResponse, date};
pub(crate) use retry::transient;

use attempt::Attempt;
use retry::Retry;

const CLIENT: &str = concat!("tablerock-client/", env!("CARGO_PKG_VERSION"));
/// The longest wait for a new token while the last one is still valid.
const TOKEN_RENEWAL_TIMEOUT: Duration = Duration::from_secs(5);
const CLIENT_REQUEST_ID: HeaderName = HeaderName::from_static("x-ms-client-request-id");
/// Room for the headers of most requests, so that the map does not grow.
const HEADERS_EXPECTED: usize = 12;
/// A call that needs a newer version than the others of its service has this header itself.
pub(crate) const VERSION_HEADER: HeaderName = HeaderName::from_static("x-ms-version");

/// The state that all calls to one service of one account share.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) endpoint: Endpoint,
    pub(crate) credential: Credential,
    service: Service,
    version: ServiceVersion,
    transport: Arc<dyn Transport>,
    /// One for each connection that the client may have.
    permits: Arc<Semaphore>,
    options: ClientOptions,
    user_agent: HeaderValue,
    version_header: HeaderValue,
    tokens: Arc<TokenCache>,
    rng: Rng,
    /// The options of calls without their own.
    call_options: CallOptions,
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
            transport: options.transport_for(&endpoint)?,
            permits: Arc::new(Semaphore::new(options.connections_max)),
            user_agent: HeaderValue::try_from(user_agent)
                .map_err(|_| Error::invalid("application_id has characters that a header cannot hold"))?,
            endpoint,
            credential,
            options,
            tokens: Arc::default(),
            rng: Rng::from_os(),
            call_options: CallOptions::new(),
        })
    }

    /// Returns a pipeline to another endpoint or with another credential, over the same connections.
    pub(crate) fn with(&self, endpoint: Endpoint, credential: Credential) -> Result<Self> {
        let transport = Arc::clone(&self.transport);
        let options = ClientOptions { transport: Some(transport), ..self.options.clone() };
        let pipeline = Self::new(self.service, self.version, endpoint, credential, options)?;
        Ok(Self { permits: Arc::clone(&self.permits), ..pipeline })
    }

    /// Returns a pipeline whose calls have these options, unless they have their own.
    pub(crate) fn with_call_options(&self, call_options: CallOptions) -> Self {
        Self {
            endpoint: self.endpoint.clone(),
            credential: self.credential.clone(),
            service: self.service,
            version: self.version,
            transport: Arc::clone(&self.transport),
            permits: Arc::clone(&self.permits),
            options: self.options.clone(),
            user_agent: self.user_agent.clone(),
            version_header: self.version_header.clone(),
            tokens: Arc::clone(&self.tokens),
            rng: Rng::from_os(),
            call_options: call_options.or(&self.call_options),
        }
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

    /// Makes a call with its options and returns its response if it is a success.
    pub(crate) async fn send_with(&self, call: &Call, exchange: &mut Exchange) -> Result<ServiceResponse> {
        exchange.options.check()?;
        self.call_options.check()?;
        let given = exchange.options.given_request_id().or_else(|| self.call_options.given_request_id());
        let id = given.cloned().unwrap_or_else(|| request_id_header(self.rng.id()));
        let span = span::of_call(self, call, &id);
        // Passed by reference: if the span is disabled, the current span is the caller's.
        let outcome = self.send_within(call, exchange, &id, &span).instrument(span.clone()).await;
        span::record_outcome(&span, &outcome);
        outcome
    }

    async fn send_within(
        &self,
        call: &Call,
        exchange: &mut Exchange,
        id: &HeaderValue,
        span: &Span,
    ) -> Result<ServiceResponse> {
        let mut extra = self.call_options.headers().clone();
        extra.extend(exchange.options.headers().clone());
        for policy in &self.options.call_policies {
            policy.prepare(&mut CallHead {
                operation: call.operation,
                resource: call.resource(),
                method: &call.method,
                headers: &mut extra,
            })?;
        }
        let timeout = exchange.options.timeout_or(self.call_options.timeout_or(self.options.timeout));
        let mut retry = Retry::new(&self.options, timeout, &self.rng, Instant::now());
        loop {
            let timeout = retry.next_attempt();
            let number = retry.attempts();
            span::record_attempt(span, number);
            let attempt = Attempt { pipeline: self, call, extra: &extra, id, number, timeout };
            match attempt.send(exchange, span).await {
                Ok(response) => return Ok(response),
                Err(failure) => tokio::time::sleep(retry.after(failure)?).await,
            }
        }
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

/// Parses a header value that may come from the caller.
pub(crate) fn header(value: &str) -> Result<HeaderValue> {
    HeaderValue::from_str(value)
        .map_err(|_| Error::invalid(format!("{value:?} has characters that a header cannot hold")))
}
