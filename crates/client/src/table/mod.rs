//! Tables: the service, one table, point reads, queries, writes, transactions and bulk writes.

mod administration;
mod bulk;
mod bulk_stream;
mod call_options;
mod client;
mod continuation;
mod count;
mod delete;
mod encryption;
mod listing;
mod many;
mod operation;
mod pages;
mod point;
mod projection;
mod query;
mod resolver;
mod responses;
mod sas;
mod service;
mod transaction;
mod writes;

pub use bulk::{Bulk, BulkProgress, BulkReport};
pub use bulk_stream::{BulkResult, BulkStream};
pub use client::TableClient;
pub use continuation::ContinuationToken;
pub use count::Count;
pub use delete::{Delete, DeleteIfExists};
pub use listing::ListTables;
pub use many::GetMany;
pub use operation::TableOperation;
pub use pages::{BoxStream, Page, QueryAll, QueryFirst, QueryPage};
pub use point::{Get, GetIfExists};
pub use query::Query;
pub use resolver::{ItemResults, Resolver, Typed};
pub use service::TableServiceClient;
pub use tablerock_protocol::cors::{CorsMethod, CorsRule};
pub use tablerock_protocol::xml::{
    GeoReplication, Logging, Metrics, MetricsLevel, ServiceProperties, ServicePropertiesUpdate, ServiceStats,
};
pub use transaction::{Commit, Transaction};
pub use writes::{ConditionalWrite, Insert, InsertOrUpdate, InsertReturningContent};

use http::HeaderName;
use tablerock_protocol::ServiceVersion;

/// The first version with every kind of credential, which all servers support.
pub(crate) const VERSION: ServiceVersion = ServiceVersion::BEARER_TOKEN;

const JSON: &str = "application/json;odata=minimalmetadata";
const DATA_SERVICE_VERSION: HeaderName = HeaderName::from_static("dataserviceversion");
const PREFER: HeaderName = HeaderName::from_static("prefer");
