//! Transports: the interface between the client and the network. The default is hyper; tests use scripted transports.
//!
//! Without the feature `hyper` the crate has no HTTP stack: an application brings its own [`Transport`].

#[cfg(feature = "hyper")]
mod hyper;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use ::http::{Request, Response};
use bytes::Bytes;

#[cfg(feature = "hyper")]
pub use hyper::{HyperTransport, HyperTransportBuilder, Proxy};

use crate::{Endpoint, Result as ClientResult};

/// The largest response that the client reads. A page of entities has 4 MiB in the store and a few times that as JSON.
/// A larger blob is read in [ranges](crate::BlobClient::download_range).
pub const RESPONSE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A boxed future, as the traits of this crate return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Sends requests. The client handles retries, signatures and timeouts; a transport sends one complete attempt at a
/// time.
pub trait Transport: fmt::Debug + Send + Sync {
    /// Sends a request and reads its response to the end.
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>>;
}

/// Returns the transport of a client without one of its own.
#[cfg(feature = "hyper")]
pub(crate) fn default_transport(endpoint: &Endpoint) -> ClientResult<Arc<dyn Transport>> {
    if !endpoint.is_https() {
        return Ok(Arc::new(HyperTransport::without_tls()));
    }
    #[cfg(all(feature = "native-roots", any(feature = "tls-ring", feature = "tls-aws-lc")))]
    return Ok(Arc::new(HyperTransport::new()));
    #[cfg(not(all(feature = "native-roots", any(feature = "tls-ring", feature = "tls-aws-lc"))))]
    Err(crate::Error::invalid(format!(
        "{endpoint} needs TLS: enable the features native-roots and tls-ring, or set ClientOptions::transport"
    )))
}

/// Returns a transport without TLS and without a proxy.
#[cfg(feature = "hyper")]
pub(crate) fn direct_transport(_: &Endpoint) -> ClientResult<Arc<dyn Transport>> {
    Ok(Arc::new(HyperTransport::builder().proxy(Proxy::none()).build_plain()))
}

/// Returns the transport of a client without one of its own.
#[cfg(not(feature = "hyper"))]
pub(crate) fn default_transport(endpoint: &Endpoint) -> ClientResult<Arc<dyn Transport>> {
    Err(crate::Error::invalid(format!(
        "the client of {endpoint} has no transport: enable the feature hyper, or set ClientOptions::transport"
    )))
}

#[cfg(not(feature = "hyper"))]
pub(crate) use default_transport as direct_transport;

/// The error of a request without a usable response.
#[derive(Debug, Clone)]
pub struct TransportError {
    kind: Kind,
    source: Arc<dyn std::error::Error + Send + Sync>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    NotSent,
    Lost,
    ResponseTooLarge,
}

impl TransportError {
    /// The request was not sent: there was no connection.
    pub fn not_sent(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { kind: Kind::NotSent, source: source.into().into() }
    }

    /// The connection was lost: the service may have applied the request.
    pub fn lost(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { kind: Kind::Lost, source: source.into().into() }
    }

    /// The response has more than [`RESPONSE_BYTES_MAX`]. The client does not retry the request.
    pub fn response_too_large(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { kind: Kind::ResponseTooLarge, source: source.into().into() }
    }

    /// Whether the service may have applied the request.
    pub fn may_have_arrived(&self) -> bool {
        self.kind != Kind::NotSent
    }

    pub(crate) fn is_response_too_large(&self) -> bool {
        self.kind == Kind::ResponseTooLarge
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            Kind::NotSent => "cannot connect",
            Kind::Lost => "the connection was lost",
            Kind::ResponseTooLarge => "the response is too large",
        })
    }
}

impl std::error::Error for TransportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.source.as_ref())
    }
}
