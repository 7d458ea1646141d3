//! Tables: the service, one table, reads, writes, groups and queries.

mod answers;
mod client;
mod delete;
mod point;
mod service;
mod write;
mod write_requests;

pub use client::TableClient;
pub use delete::{Delete, DeleteIfExists};
pub use service::TableServiceClient;
pub use write::Write;
pub use write_requests::{ConditionalWrite, Insert, InsertEcho};

use http::HeaderName;
use tablerock_protocol::ServiceVersion;

/// The first version that takes every kind of credential, and one that all servers know.
pub(crate) const VERSION: ServiceVersion = ServiceVersion::BEARER_TOKEN;

const JSON: &str = "application/json;odata=minimalmetadata";
const DATA_SERVICE_VERSION: HeaderName = HeaderName::from_static("dataserviceversion");
const PREFER: HeaderName = HeaderName::from_static("prefer");

/// A projection that keeps keys and Timestamp at hand; the ETag comes anyway.
fn select(names: &[&str]) -> String {
    let system = [tablerock_protocol::PARTITION_KEY, tablerock_protocol::ROW_KEY, tablerock_protocol::TIMESTAMP];
    [&system, names].concat().join(",")
}
