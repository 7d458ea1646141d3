//! What an operation answers, before it becomes an HTTP response or a part of a batch.

use std::borrow::Cow;

use tablerock_protocol::MetadataLevel;
use tablerock_protocol::batch::PartResponse;

use crate::headers::AnswerHeader;
use crate::room::Place;

/// Room for the headers that most answers have.
const HEADERS_EXPECTED: usize = 6;

/// A status, headers in the service's order, and a body.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(AnswerHeader, Cow<'static, str>)>,
    pub(crate) body: Vec<u8>,
    /// What the body takes up until it is written.
    pub(crate) place: Place,
}

impl Answer {
    pub(crate) fn new(status: u16, body: Vec<u8>) -> Self {
        Self { status, headers: Vec::with_capacity(HEADERS_EXPECTED), body, place: Place::default() }
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
        PartResponse { status: self.status, reason: reason.unwrap_or(""), headers, body: self.body }
    }
}
