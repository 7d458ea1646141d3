//! Tables: the service, one table, reads, writes, groups and queries.

mod administration;
mod answers;
mod bulk;
mod client;
mod continuation;
mod delete;
mod listing;
mod pages;
mod point;
mod query;
mod resolver;
mod sas;
mod sealing;
mod service;
mod transaction;
mod write;
mod write_requests;

pub use bulk::{Bulk, BulkProgress, BulkReport};
pub use client::TableClient;
pub use continuation::Continuation;
pub use delete::{Delete, DeleteIfExists};
pub use listing::TableListing;
pub use pages::{BoxStream, Page};
pub use query::Query;
pub use resolver::{As, Resolver};
pub use service::TableServiceClient;
pub use tablerock_protocol::cors::{CorsMethod, CorsRule};
pub use tablerock_protocol::xml::{
    GeoReplication, Logging, Metrics, MetricsLevel, ServiceProperties, ServicePropertiesUpdate, ServiceStats,
    StoredAccessPolicies, StoredAccessPolicy,
};
pub use transaction::Transaction;
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
