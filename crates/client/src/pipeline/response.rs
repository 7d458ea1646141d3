//! Successful responses.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use tablerock_protocol::{DateTime, METADATA_PREFIX};

use crate::{Error, Etag, Result};

/// The ETags of the parts of a batch response, in order; `None` if the response is not a batch response.
pub(crate) type PartEtags = Option<Vec<Option<Etag>>>;

/// A successful response of the service.
#[derive(Debug)]
pub(crate) struct ServiceResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) part_etags: PartEtags,
    /// The request was a write.
    is_write: bool,
}

impl ServiceResponse {
    pub(super) fn new(response: Response<Bytes>, part_etags: PartEtags, is_write: bool) -> Self {
        let (head, body) = response.into_parts();
        Self { status: head.status, headers: head.headers, body, part_etags, is_write }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the metadata headers, without their prefix.
    pub(crate) fn metadata(&self) -> Vec<(String, String)> {
        let pairs = self.headers.iter().filter_map(|(name, value)| {
            // The name of metadata is everything behind the prefix.
            Some((name.as_str().strip_prefix(METADATA_PREFIX)?.to_owned(), value.to_str().ok()?.to_owned()))
        });
        pairs.collect()
    }

    /// Returns the ETag of the resource that was read or written.
    pub(crate) fn etag(&self) -> Result<Etag> {
        let etag = self.header("etag").map(Etag::from);
        self.confirm(etag.ok_or_else(|| Error::InvalidResponse("it has no ETag".to_owned())))
    }

    /// Marks an error as [`Error::Unconfirmed`] if the request was a write: the service may have applied it.
    pub(crate) fn confirm<T>(&self, parsed: Result<T>) -> Result<T> {
        parsed.map_err(|error| if self.is_write { Error::Unconfirmed(Arc::new(error)) } else { error })
    }
}

/// Parses an HTTP date.
pub(crate) fn date(text: &str) -> Option<DateTime> {
    httpdate::parse_http_date(text).ok().map(DateTime::from)
}
