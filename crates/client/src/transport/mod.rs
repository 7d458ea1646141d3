//! The seam to the network: one request out, one answer in. Whatever can do that can carry the client: hyper as a
//! rule, a script in tests, a recorder in between.

mod hyper;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use ::http::{Request, Response};
use bytes::Bytes;

pub use hyper::HyperTransport;

/// The largest answer that is read. A page of entities has 4 MiB in the store and a few times that as JSON; a blob can
/// be larger, and is then read by [ranges](crate::BlobClient::get_range) of at most so many bytes.
pub const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

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
    kind: Kind,
    source: Arc<dyn std::error::Error + Send + Sync>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    NotSent,
    Lost,
    AnswerTooLarge,
}

impl TransportError {
    /// The request never left: there was no connection.
    pub fn not_sent(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { kind: Kind::NotSent, source: source.into().into() }
    }

    /// The request may have arrived, and been carried out.
    pub fn lost(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { kind: Kind::Lost, source: source.into().into() }
    }

    /// An answer came and has more than [`ANSWER_BYTES_MAX`]. It would be no smaller the next time, so the request is
    /// not tried again.
    pub fn answer_too_large(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { kind: Kind::AnswerTooLarge, source: source.into().into() }
    }

    /// Whether the service may have carried out the request.
    pub fn may_have_arrived(&self) -> bool {
        self.kind != Kind::NotSent
    }

    pub(crate) fn is_answer_too_large(&self) -> bool {
        self.kind == Kind::AnswerTooLarge
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            Kind::NotSent => "no connection",
            Kind::Lost => "the connection was lost",
            Kind::AnswerTooLarge => "the answer is too large",
        })
    }
}

impl std::error::Error for TransportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.source.as_ref())
    }
}
