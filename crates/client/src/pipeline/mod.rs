//! The road of a call: address it, date it, sign it, send it, wait and try again if that can help, and turn what comes
//! back into an answer or an error. It is the same for all services; what differs is in [`sign`].

mod answer;
mod call;
mod retry;
mod sign;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderValue, RETRY_AFTER, USER_AGENT};
use http::{Method, Request, Response, StatusCode};
use tablerock_protocol::{Service, ServiceVersion, Uuid};
use tokio::time::Instant;
use tracing::Instrument as _;

use crate::credential::TokenCache;
use crate::surroundings::{Dice, now};
use crate::transport::Transport;
use crate::{ClientOptions, Credential, Endpoint, Error, Result};

pub(crate) use answer::Answer;
pub(crate) use call::{Call, encode, key_predicate};

use retry::{Failure, Retry};

const CLIENT: &str = concat!("tablerock-client/", env!("CARGO_PKG_VERSION"));
const CLIENT_REQUEST_ID: &str = "x-ms-client-request-id";

/// All that calls to one service of one account share.
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
    dice: Dice,
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
            return Err(Error::invalid("an access token is not sent over plain http, except to this machine"));
        }
        let user_agent = match &options.application {
            Some(application) => format!("{application} {CLIENT}"),
            None => CLIENT.to_owned(),
        };
        Ok(Self {
            service,
            version,
            version_header: header(&version.to_string())?,
            transport: options.transport_for(endpoint.is_https()),
            user_agent: HeaderValue::try_from(user_agent)
                .map_err(|_| Error::invalid("the application's name cannot stand in a header"))?,
            endpoint,
            credential,
            options,
            tokens: TokenCache::default(),
            dice: Dice::from_os(),
        })
    }

    /// The same road to another place or by other means.
    pub(crate) fn with(&self, endpoint: Endpoint, credential: Credential) -> Result<Self> {
        let transport = Arc::clone(&self.transport);
        let options = ClientOptions { transport: Some(transport), ..self.options.clone() };
        Self::new(self.service, self.version, endpoint, credential, options)
    }

    /// A new random id.
    pub(crate) fn id(&self) -> Uuid {
        self.dice.id()
    }

    /// Makes a call and returns its answer if it is a success.
    pub(crate) async fn send(&self, call: &Call) -> Result<Answer> {
        let id = self.dice.id();
        let span = tracing::debug_span!(
            "storage_call",
            service = self.service.name(),
            operation = call.operation,
            path = call.path,
            client_request_id = %id,
            tries = tracing::field::Empty,
            status = tracing::field::Empty,
        );
        self.send_within(call, id).instrument(span).await
    }

    async fn send_within(&self, call: &Call, id: Uuid) -> Result<Answer> {
        let mut retry = Retry::new(&self.options, &self.dice, Instant::now());
        loop {
            let limit = retry.next_try_limit();
            let outcome = tokio::time::timeout(limit, self.try_once(call, id)).await;
            let failure = match outcome {
                Ok(Ok(response)) => {
                    record(retry.tries(), response.status());
                    if response.status() == StatusCode::UNAUTHORIZED {
                        self.tokens.forget().await;
                    }
                    match retry::classify(&response) {
                        None => return Answer::read(response, id, retry.tries(), retry.after_lost_answer()),
                        Some(failure) => failure
                            .with_error(|| Answer::failure(&response, id, retry.tries(), retry.after_lost_answer())),
                    }
                }
                Ok(Err(TryError::Transport(source))) => Failure::transport(source, retry.tries()),
                Ok(Err(TryError::Other(error))) => return Err(error),
                Err(_) => Failure::timeout(limit, retry.tries()),
            };
            let wait = retry.after(failure)?;
            tokio::time::sleep(wait).await;
        }
    }

    async fn try_once(&self, call: &Call, id: Uuid) -> Result<Response<Bytes>, TryError> {
        let request = self.request(call, id).await.map_err(TryError::Other)?;
        self.transport.send(request).await.map_err(TryError::Transport)
    }

    /// The request of one try. Each try has its own date and signature.
    async fn request(&self, call: &Call, id: Uuid) -> Result<Request<Bytes>> {
        let target = call.target(self.endpoint.path(), &self.credential);
        let mut request = Request::new(call.body.clone());
        *request.method_mut() = call.method.clone();
        *request.uri_mut() = self.endpoint.uri(&target)?;
        let headers = request.headers_mut();
        headers.clone_from(&call.headers);
        headers.insert(USER_AGENT, self.user_agent.clone());
        headers.insert(CLIENT_REQUEST_ID, header(&id.to_string())?);
        headers.insert("x-ms-version", self.version_header.clone());
        self.authorize(&mut request).await?;
        // hyper says nothing about the length of a body that is empty, and the services refuse a PUT that says nothing.
        if request.body().is_empty() && matches!(*request.method(), Method::PUT | Method::POST) {
            request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        Ok(request)
    }

    async fn authorize(&self, request: &mut Request<Bytes>) -> Result<()> {
        let now = now();
        match &self.credential {
            Credential::SharedKey(shared) => sign::sign(self.service, self.version, shared, now, request),
            Credential::Token(source) => {
                let secret = self.tokens.secret(source.as_ref(), now).await?;
                sign::bear(&secret, now, request)
            }
            Credential::Sas(_) | Credential::Anonymous => Ok(()),
        }
    }
}

enum TryError {
    /// Another try may help.
    Transport(crate::transport::TransportError),
    Other(Error),
}

fn record(tries: u32, status: StatusCode) {
    let span = tracing::Span::current();
    span.record("tries", tries);
    span.record("status", status.as_u16());
}

/// A header's value out of text that may come from the caller.
pub(crate) fn header(value: &str) -> Result<HeaderValue> {
    HeaderValue::from_str(value).map_err(|_| Error::invalid(format!("{value:?} cannot stand in a header")))
}

/// The wait that the service asks for, in seconds or as a date.
fn retry_after(response: &Response<Bytes>) -> Option<Duration> {
    let value = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    match value.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => httpdate::parse_http_date(value).ok()?.duration_since(now()).ok(),
    }
}
