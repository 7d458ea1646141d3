//! What an operation answers, before it becomes an HTTP response or a part of a batch.

use std::borrow::Cow;

use bytes::Bytes;
use tablerock_protocol::MetadataLevel;
use tablerock_protocol::batch::PartResponse;

use crate::content::{Content, Stream};
use crate::headers::AnswerHeader;
use crate::memory_budget::MemoryPermit;

/// MemoryBudget for the headers that most answers have.
const HEADERS_EXPECTED: usize = 6;

/// A status, headers in the service's order, and a body.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(AnswerHeader, Cow<'static, str>)>,
    /// `x-ms-meta-` headers: name behind the prefix, and value.
    pub(crate) metadata: Vec<(String, String)>,
    pub(crate) body: AnswerBody,
    /// What the body takes up until it is written.
    pub(crate) place: MemoryPermit,
}

/// What an answer carries.
#[derive(Debug)]
pub(crate) enum AnswerBody {
    /// Written for this answer.
    Written(Vec<u8>),
    /// Shared with whoever else holds it, such as the store.
    Shared(Bytes),
    Stream(Stream),
}

impl Default for AnswerBody {
    fn default() -> Self {
        Self::Written(Vec::new())
    }
}

impl AnswerBody {
    /// What it takes up in memory at any one time.
    pub(crate) fn bytes_held(&self) -> usize {
        match self {
            Self::Written(bytes) => bytes.len(),
            Self::Shared(bytes) => bytes.len(),
            Self::Stream(stream) => stream.piece_bytes,
        }
    }

    /// As hyper takes it; the room is free when all of it is sent.
    pub(crate) fn into_content(self, place: MemoryPermit) -> Content {
        match self {
            Self::Written(bytes) => Content::whole(place.hold(Bytes::from(bytes))),
            Self::Shared(bytes) => Content::whole(place.hold(bytes)),
            Self::Stream(mut stream) => {
                stream.place = place;
                Content::Stream(stream)
            }
        }
    }

    /// The bytes, for a batch that holds the answer as a part.
    fn into_written(self) -> Vec<u8> {
        match self {
            Self::Written(bytes) => bytes,
            Self::Shared(bytes) => bytes.into(),
            Self::Stream(_) => unreachable!("no operation that a batch may hold streams its answer"),
        }
    }
}

impl Answer {
    pub(crate) fn new(status: u16, body: Vec<u8>) -> Self {
        Self {
            status,
            headers: Vec::with_capacity(HEADERS_EXPECTED),
            metadata: Vec::new(),
            body: AnswerBody::Written(body),
            place: MemoryPermit::default(),
        }
    }

    pub(crate) fn empty(status: u16) -> Self {
        Self::new(status, vec![])
    }

    pub(crate) fn json(status: u16, level: MetadataLevel, body: Vec<u8>) -> Self {
        Self::new(status, body).with(AnswerHeader::ContentType, level.content_type())
    }

    pub(crate) fn xml(status: u16, body: Vec<u8>) -> Self {
        Self::new(status, body).with(AnswerHeader::ContentType, "application/xml")
    }

    /// An answer whose body is somebody's already, or is read while it is sent.
    pub(crate) fn carrying(status: u16, body: AnswerBody) -> Self {
        Self { body, ..Self::new(status, vec![]) }
    }

    pub(crate) fn with(mut self, header: AnswerHeader, value: impl Into<Cow<'static, str>>) -> Self {
        self.headers.push((header, value.into()));
        self
    }

    /// Adds a header before all others.
    pub(crate) fn with_first(mut self, header: AnswerHeader, value: impl Into<Cow<'static, str>>) -> Self {
        self.headers.insert(0, (header, value.into()));
        self
    }

    pub(crate) fn into_part(self) -> PartResponse {
        let reason = http::StatusCode::from_u16(self.status).ok().and_then(|status| status.canonical_reason());
        let headers = self.headers.into_iter().map(|(header, value)| (header.spelling(), value)).collect();
        PartResponse { status: self.status, reason: reason.unwrap_or(""), headers, body: self.body.into_written() }
    }
}
