//! The resource that a request's path addresses, for each service. Paths are as they were on the wire, below the account's
//! root; names come out decoded.

mod blob;
mod queue;
mod table;

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

pub use blob::BlobResource;
pub use queue::QueueResource;
pub use table::{TableResource, key_count_error};

use crate::{ErrorCode, ServiceError};

/// A piece of a path with its escapes read, once.
fn decode(raw: &str) -> Result<Cow<'_, str>, ServiceError> {
    percent_decode_str(raw).decode_utf8().map_err(|_| ErrorCode::RequestUrlFailedToParse.into())
}
