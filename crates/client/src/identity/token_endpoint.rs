//! Requests for tokens, and their responses.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

use crate::credential::AccessToken;
use crate::environment::now;
use crate::transport::Transport;
use crate::{Endpoint, Error, Result};

/// The largest response of a token endpoint, and the largest file with a token.
pub(super) const TOKEN_BYTES_MAX: usize = 64 * 1024;
/// The longest text of an error that is shown.
const DESCRIPTION_CHARS_MAX: usize = 512;

pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The address that issues tokens, and the transport to it.
#[derive(Clone)]
pub(super) struct TokenEndpoint {
    endpoint: Endpoint,
    transport: OnceLock<Arc<dyn Transport>>,
    default_transport: fn(&Endpoint) -> Result<Arc<dyn Transport>>,
}

/// A response with a token. The lifetime is a number, or a number as text.
#[derive(Deserialize)]
struct TokenResponse {
    access_token: String,
    expires_in: Option<serde_json::Value>,
    expires_on: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct ErrorResponse {
    error: Option<serde_json::Value>,
    #[serde(default)]
    error_description: String,
}

impl TokenEndpoint {
    /// Returns the endpoint of an authority, to which secrets are sent.
    pub(super) fn authority(url: &str) -> Result<Self> {
        let endpoint = Endpoint::parse(url)?;
        if !endpoint.is_https() && !endpoint.is_loopback() {
            return Err(Error::invalid(format!("credentials are not sent over plain http to {endpoint}: use https")));
        }
        Ok(Self { endpoint, transport: OnceLock::new(), default_transport: crate::transport::default_transport })
    }

    /// Returns an endpoint on this machine or its host, which is never behind a proxy.
    pub(super) fn local(url: &str) -> Result<Self> {
        let default_transport = crate::transport::direct_transport;
        Ok(Self { endpoint: Endpoint::parse(url)?, transport: OnceLock::new(), default_transport })
    }

    pub(super) fn with_transport(self, transport: Arc<dyn Transport>) -> Self {
        Self { transport: OnceLock::from(transport), ..self }
    }

    /// Posts a form and returns the token of the response.
    pub(super) async fn post(&self, path: &str, form: &[(&str, &str)]) -> Result<AccessToken, BoxError> {
        let mut request = Request::new(Bytes::from(encode(form)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.endpoint.uri(&format!("{}{path}", self.endpoint.path()))?;
        let form_type = HeaderValue::from_static("application/x-www-form-urlencoded");
        request.headers_mut().insert(CONTENT_TYPE, form_type);
        self.send(request).await
    }

    /// Reads the token of a query.
    pub(super) async fn get(&self, query: &[(&str, &str)], headers: HeaderMap) -> Result<AccessToken, BoxError> {
        let mut request = Request::new(Bytes::new());
        *request.uri_mut() = self.endpoint.uri(&format!("{}?{}", self.endpoint.path(), encode(query)))?;
        *request.headers_mut() = headers;
        self.send(request).await
    }

    async fn send(&self, mut request: Request<Bytes>) -> Result<AccessToken, BoxError> {
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
        let asked_at = now();
        let response = self.transport()?.send(request).await?;
        let body = response.body();
        if body.len() > TOKEN_BYTES_MAX {
            return Err(format!("the response of {} has more than {TOKEN_BYTES_MAX} bytes", self.endpoint).into());
        }
        if !response.status().is_success() {
            let status = response.status().as_u16();
            return Err(format!("{} returned the status {status}{}", self.endpoint, describe(body)).into());
        }
        let token: TokenResponse = serde_json::from_slice(body)
            // The text of the error may quote the token.
            .map_err(|_| format!("the response of {} has no access_token", self.endpoint))?;
        let expires_on = token.expires_on(asked_at);
        Ok(AccessToken { token: token.access_token, expires_on })
    }

    fn transport(&self) -> Result<&Arc<dyn Transport>> {
        if let Some(transport) = self.transport.get() {
            return Ok(transport);
        }
        let transport = (self.default_transport)(&self.endpoint)?;
        Ok(self.transport.get_or_init(|| transport))
    }
}

impl fmt::Debug for TokenEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.endpoint)
    }
}

impl TokenResponse {
    fn expires_on(&self, asked_at: SystemTime) -> Option<SystemTime> {
        let seconds = |value: &Option<serde_json::Value>| match value.as_ref()? {
            serde_json::Value::Number(number) => number.as_u64(),
            serde_json::Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        match seconds(&self.expires_in) {
            Some(lifetime) => asked_at.checked_add(Duration::from_secs(lifetime)),
            None => SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds(&self.expires_on)?)),
        }
    }
}

/// Returns the error of a response as text, if it has one.
fn describe(body: &Bytes) -> String {
    let Ok(ErrorResponse { error, error_description }) = serde_json::from_slice(body) else { return String::new() };
    let code = match &error {
        Some(serde_json::Value::String(code)) => code.as_str(),
        _ => "",
    };
    let text: String = format!(": {code} {error_description}").chars().take(DESCRIPTION_CHARS_MAX).collect();
    text.trim_end().trim_end_matches(':').to_owned()
}

fn encode(pairs: &[(&str, &str)]) -> String {
    let encoded = pairs.iter().map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)));
    encoded.collect::<Vec<_>>().join("&")
}
