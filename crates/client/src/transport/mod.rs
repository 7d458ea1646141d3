//! The seam to the network: one request out, one answer in. Whatever can do that can carry the client: hyper as a
//! rule, a script in tests, a recorder in between.

mod hyper;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use ::http::{Request, Response};
use bytes::Bytes;

pub use hyper::HyperTransport;

/// A future on the heap, as the traits of this crate return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Carries requests. Retries, signatures and time-outs are not its business: it sees one try at a time, complete.
pub trait Transport: fmt::Debug + Send + Sync {
    /// Sends a request and reads its answer to the end.
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>>;
}

/// Why a request got no answer.
#[derive(Debug, Clone)]
pub struct TransportError {
    may_have_arrived: bool,
    source: Arc<dyn std::error::Error + Send + Sync>,
}

impl TransportError {
    /// The request never left: there was no connection.
    pub fn not_sent(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { may_have_arrived: false, source: source.into().into() }
    }

    /// The request may have arrived, and been carried out.
    pub fn lost(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { may_have_arrived: true, source: source.into().into() }
    }

    /// Whether the service may have carried out the request.
    pub fn may_have_arrived(&self) -> bool {
        self.may_have_arrived
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.may_have_arrived { "the connection was lost" } else { "no connection" })
    }
}

impl std::error::Error for TransportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.source.as_ref())
    }
}
