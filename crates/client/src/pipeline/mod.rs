//! The road of a call: address it, date it, sign it, send it, wait and try again if that can help, and turn what comes
//! back into an answer or an error. It is the same for all services; what differs is in [`sign`].

mod answer;
mod call;
mod refusal;
mod retry;
mod sign;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderValue, USER_AGENT};
use http::{Method, Request, Response, StatusCode};
use tablerock_protocol::{Service, ServiceVersion, Uuid};
use tokio::time::Instant;
use tracing::{Instrument as _, Span};

use crate::credential::TokenCache;
use crate::surroundings::{Rng, now};
use crate::transport::Transport;
use crate::{ClientOptions, Credential, Endpoint, Error, Result};

pub(crate) use answer::Answer;
pub(crate) use call::{Call, encode, key_predicate};

pub(crate) use retry::passing;

use retry::{Failure, Retry};

const CLIENT: &str = concat!("tablerock-client/", env!("CARGO_PKG_VERSION"));
/// How long a source of tokens may take while the last token is still good.
const TOKEN_RENEWAL_TIME_MAX: Duration = Duration::from_secs(5);
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
            rng: Rng::from_os(),
        })
    }

    /// The same road to another place or by other means.
    pub(crate) fn with(&self, endpoint: Endpoint, credential: Credential) -> Result<Self> {
        let transport = Arc::clone(&self.transport);
        let options = ClientOptions { transport: Some(transport), ..self.options.clone() };
        Self::new(self.service, self.version, endpoint, credential, options)
    }

    /// How long one try may take.
    #[cfg(feature = "encryption")]
    pub(crate) fn try_time_max(&self) -> Duration {
        self.options.try_time_max
    }

    /// A new random id.
    pub(crate) fn id(&self) -> Uuid {
        self.rng.id()
    }

    /// Makes a call and returns its answer if it is a success.
    pub(crate) async fn send(&self, call: &Call) -> Result<Answer> {
        let id = self.rng.id();
        // No path and no query: keys of entities and names of blobs may be about people.
        let span = tracing::debug_span!(
            "storage_call",
            service = self.service.name(),
            operation = call.operation,
            resource = call.resource(),
            client_request_id = %id,
            tries = tracing::field::Empty,
            status = tracing::field::Empty,
            request_id = tracing::field::Empty,
        );
        // By hand and not as the current one: if nobody wants it, the current one is the caller's.
        self.send_within(call, id, &span).instrument(span.clone()).await
    }

    async fn send_within(&self, call: &Call, id: Uuid, span: &Span) -> Result<Answer> {
        let mut retry = Retry::new(&self.options, &self.rng, Instant::now());
        loop {
            let limit = retry.next_try_limit();
            span.record("tries", retry.tries());
            match self.try_once(call, id, retry.tries(), limit, span).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => tokio::time::sleep(retry.after(failure)?).await,
            }
        }
    }

    async fn try_once(
        &self,
        call: &Call,
        id: Uuid,
        tries: u32,
        limit: Duration,
        span: &Span,
    ) -> Result<Answer, Failure> {
        let mut is_sent = false;
        let sending = async {
            let (request, token) = self.request(call, id, limit).await?;
            is_sent = true;
            Ok((self.transport.send(request).await, token))
        };
        let (response, token) = match tokio::time::timeout(limit, sending).await {
            Ok(sent) => sent.map_err(Failure::not_sent)?,
            Err(_) if is_sent => return Err(Failure::timeout(limit, tries)),
            // Only a source of tokens takes time before that.
            Err(_) => return Err(Failure::not_sent(Error::token(format!("none came within {limit:?}")))),
        };
        let response = match response {
            Ok(response) => response,
            Err(source) if source.is_answer_too_large() => return Err(Failure::answer_too_large(call.is_to_write())),
            Err(source) => return Err(Failure::transport(source, tries)),
        };
        let Some(refusal) = (call.verdict)(&response) else {
            record(span, response.status().as_u16(), &response);
            return Ok(Answer::new(response, call.is_to_write()));
        };
        record(span, refusal.status, &response);
        let is_unauthorized = refusal.status == StatusCode::UNAUTHORIZED.as_u16();
        let failure = Failure::refused(refusal, id, tries);
        Err(match token.filter(|_| is_unauthorized) {
            Some(token) => {
                self.tokens.forget(&token);
                failure.with_new_token()
            }
            None => failure,
        })
    }

    /// The request of one try, and the access token that it bears. Each try has its own date and signature.
    async fn request(&self, call: &Call, id: Uuid, limit: Duration) -> Result<(Request<Bytes>, Option<Arc<str>>)> {
        let target = call.target(self.endpoint.path(), &self.credential);
        let mut request = Request::new(call.body.clone());
        *request.method_mut() = call.method.clone();
        *request.uri_mut() = self.endpoint.uri(&target)?;
        let headers = request.headers_mut();
        headers.clone_from(&call.headers);
        headers.insert(USER_AGENT, self.user_agent.clone());
        headers.insert(CLIENT_REQUEST_ID, header(&id.to_string())?);
        headers.insert("x-ms-version", self.version_header.clone());
        let token = self.authorize(&mut request, limit).await?;
        // hyper says nothing about the length of a body that is empty, and the services refuse a PUT that says nothing.
        if request.body().is_empty() && matches!(*request.method(), Method::PUT | Method::POST) {
            request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        Ok((request, token))
    }

    async fn authorize(&self, request: &mut Request<Bytes>, limit: Duration) -> Result<Option<Arc<str>>> {
        match &self.credential {
            Credential::SharedKey(shared) => sign::sign(self.service, self.version, shared, now(), request)?,
            Credential::Token(source) => {
                // With a token that is still good, half of the time is left to use it.
                let patience = TOKEN_RENEWAL_TIME_MAX.min(limit / 2);
                let secret = self.tokens.secret(source.as_ref(), now(), patience).await?;
                sign::bear(&secret, now(), request)?;
                return Ok(Some(secret));
            }
            Credential::Sas(_) | Credential::Anonymous => {}
        }
        Ok(None)
    }
}

/// Tells the call's span of an answer: its status, or that of the operation at fault, and under which id it is logged.
fn record(span: &Span, status: u16, response: &Response<Bytes>) {
    span.record("status", status);
    span.record("request_id", refusal::request_id(response));
}

/// A header's value out of text that may come from the caller.
pub(crate) fn header(value: &str) -> Result<HeaderValue> {
    HeaderValue::from_str(value).map_err(|_| Error::invalid(format!("{value:?} cannot stand in a header")))
}
