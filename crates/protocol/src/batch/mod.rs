//! `$batch` of tables and the batches of blobs: multipart in, multipart out, for either side.

mod answer;
mod blob;
mod multipart;
mod request;
mod response;
mod write;

pub use answer::{PartAnswer, parse_changeset_answer};
pub use blob::{BLOB_BATCH_PARTS_MAX, append_blob_batch_response, parse_blob_batch};
pub use request::{BatchPart, BatchRequest, parse_batch};
pub use response::{PartResponse, append_changeset_response, append_query_response};
pub use write::{BATCH_FRAME_BYTES, PartRequest, append_changeset, batch_content_type};
