//! What came back, if it is a success.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Response};

use crate::{Error, Result};

/// A successful answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The call that it answers has changed something.
    is_to_write: bool,
}

impl Answer {
    pub(super) fn new(response: Response<Bytes>, is_to_write: bool) -> Self {
        let (head, body) = response.into_parts();
        Self { headers: head.headers, body, is_to_write }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// What was read from the answer. If it could not be read, a write may have happened all the same.
    pub(crate) fn reading<T>(&self, read: Result<T>) -> Result<T> {
        read.map_err(|error| if self.is_to_write { Error::Unconfirmed(Arc::new(error)) } else { error })
    }
}
