//! What an operation answers, before it becomes an HTTP response or a part of a batch.

use tablerock_protocol::MetadataLevel;
use tablerock_protocol::batch::PartResponse;

/// A status, headers in the service's order and spelling, and a body.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn empty(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    pub(crate) fn json(status: u16, level: MetadataLevel, body: Vec<u8>) -> Self {
        Self { status, headers: vec![], body }.with("Content-Type", level.content_type())
    }

    pub(crate) fn xml(status: u16, body: Vec<u8>) -> Self {
        Self { status, headers: vec![], body }.with("Content-Type", "application/xml")
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Adds a header before all others.
    pub(crate) fn with_first(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.insert(0, (name, value.into()));
        self
    }

    pub(crate) fn into_part(self) -> PartResponse {
        let reason = http::StatusCode::from_u16(self.status).ok().and_then(|status| status.canonical_reason());
        PartResponse { status: self.status, reason: reason.unwrap_or(""), headers: self.headers, body: self.body }
    }
}
