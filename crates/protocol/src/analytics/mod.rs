//! The records of Storage Analytics about requests: the entries of logs, the names of the blobs that hold them, and how a
//! request counts.

mod log_blob;
mod log_entry;
mod request;

pub use log_blob::{hour_of_log_blob, log_blob_name, log_blob_prefix};
pub use log_entry::LogEntry;
pub use request::{Authentication, RequestKind, RequestStatus};
