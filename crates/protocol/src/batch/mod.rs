//! `$batch`: multipart in, multipart out.

mod multipart;
mod request;
mod response;

pub use request::{BatchPart, BatchRequest, parse_batch};
pub use response::{PartResponse, append_changeset_response, append_query_response};
