//! What a request's path points at, for each service. Paths come in as they stood on the wire, below the account's
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
