//! The outcome of an operation, before it becomes an HTTP response or a part of a batch.

use std::borrow::Cow;

use bytes::Bytes;
use tablerock_protocol::batch::PartResponse;
use tablerock_protocol::{ErrorCode, MetadataLevel};

use super::headers::ResponseHeader;
use super::response_body::{BodyStream, ResponseBody};
use crate::memory_budget::MemoryPermit;

/// The number of headers that most replies have.
const HEADERS_EXPECTED: usize = 6;

/// Spare memory of a body that stays, as returning it would copy the body.
const SPARE_BYTES_MAX: usize = 1 << 20;

/// A status, headers in the service's order, and a body.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(ResponseHeader, Cow<'static, str>)>,
    /// `x-ms-meta-` headers: name behind the prefix, and value.
    pub(crate) metadata: Vec<(String, String)>,
    pub(crate) body: ReplyBody,
    /// The memory of the body, until it is written.
    pub(crate) permit: MemoryPermit,
    /// The reason phrase, where it is not that of HTTP.
    pub(crate) reason: Option<Cow<'static, str>>,
    /// The error that a successful response carries in its body, for logs and metrics.
    pub(crate) error: Option<ErrorCode>,
}

/// The body of a reply.
#[derive(Debug)]
pub(crate) enum ReplyBody {
    /// Written for this reply.
    Written(Vec<u8>),
    /// Shared with another holder, such as the store.
    Shared(Bytes),
    Stream(BodyStream),
}

impl Default for ReplyBody {
    fn default() -> Self {
        Self::Written(Vec::new())
    }
}

impl ReplyBody {
    /// Returns spare memory of a large body, which doubled whenever it was full and may wait long for its client.
    pub(crate) fn release_spare(&mut self) {
        if let Self::Written(bytes) = self
            && bytes.capacity() - bytes.len() > SPARE_BYTES_MAX
        {
            bytes.shrink_to_fit();
        }
    }

    /// The bytes of a body that is complete, as `Content-Length` states them. The memory that it takes may be more.
    pub(crate) fn length(&self) -> usize {
        match self {
            Self::Written(bytes) => bytes.len(),
            Self::Shared(bytes) => bytes.len(),
            Self::Stream(_) => 0,
        }
    }

    /// The memory that it takes at any one time.
    pub(crate) fn bytes_held(&self) -> usize {
        match self {
            Self::Written(bytes) => bytes.capacity(),
            Self::Shared(bytes) => bytes.len(),
            Self::Stream(stream) => stream.piece_bytes,
        }
    }

    /// The body as hyper takes it. The permit is released when all of it is sent.
    pub(crate) fn into_body(self, permit: MemoryPermit) -> ResponseBody {
        match self {
            Self::Written(bytes) => ResponseBody::whole(permit.hold(Bytes::from(bytes))),
            Self::Shared(bytes) => ResponseBody::whole(permit.hold(bytes)),
            Self::Stream(mut stream) => {
                stream.permit = permit;
                ResponseBody::Stream(stream)
            }
        }
    }

    /// Returns the bytes, for a part of a batch.
    fn into_written(self) -> Vec<u8> {
        match self {
            Self::Written(bytes) => bytes,
            Self::Shared(bytes) => bytes.into(),
            Self::Stream(_) => unreachable!("no operation that a batch may hold streams its reply"),
        }
    }
}

impl Reply {
    pub(crate) fn new(status: u16, body: Vec<u8>) -> Self {
        Self {
            status,
            headers: Vec::with_capacity(HEADERS_EXPECTED),
            metadata: Vec::new(),
            body: ReplyBody::Written(body),
            permit: MemoryPermit::default(),
            reason: None,
            error: None,
        }
    }

    pub(crate) fn empty(status: u16) -> Self {
        Self::new(status, vec![])
    }

    pub(crate) fn json(status: u16, level: MetadataLevel, body: Vec<u8>) -> Self {
        Self::new(status, body).with(ResponseHeader::ContentType, level.content_type())
    }

    pub(crate) fn xml(status: u16, body: Vec<u8>) -> Self {
        Self::new(status, body).with(ResponseHeader::ContentType, "application/xml")
    }

    /// A reply whose body exists already, or is read while it is sent.
    pub(crate) fn carrying(status: u16, body: ReplyBody) -> Self {
        Self { body, ..Self::new(status, vec![]) }
    }

    pub(crate) fn with(mut self, header: ResponseHeader, value: impl Into<Cow<'static, str>>) -> Self {
        self.headers.push((header, value.into()));
        self
    }

    /// Adds a header before all others.
    pub(crate) fn with_first(mut self, header: ResponseHeader, value: impl Into<Cow<'static, str>>) -> Self {
        self.headers.insert(0, (header, value.into()));
        self
    }

    pub(crate) fn into_part(self) -> PartResponse {
        let reason = self.reason.unwrap_or_else(|| {
            let status = http::StatusCode::from_u16(self.status).ok();
            Cow::Borrowed(status.and_then(|status| status.canonical_reason()).unwrap_or_default())
        });
        let headers = self.headers.into_iter().map(|(header, value)| (header.canonical(), value)).collect();
        PartResponse { status: self.status, reason, headers, body: self.body.into_written() }
    }
}
