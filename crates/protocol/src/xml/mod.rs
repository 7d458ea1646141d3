//! The XML documents of the service: service properties, service stats and stored access policies.
//!
//! Documents are small, so they are read whole into a tree of elements, within bounds, then checked and turned
//! into plain structures. What is rendered here reads back to the same structure.

mod access_policies;
mod analytics_settings;
mod blob_settings;
mod cors_rules;
pub(crate) mod reading;
mod service_properties;
mod service_stats;
pub(crate) mod writing;

pub use access_policies::{ACCESS_POLICIES_MAX, ACCESS_POLICY_ID_UNITS_MAX, StoredAccessPolicies, StoredAccessPolicy};
pub use analytics_settings::{AnalyticsVersion, Logging, Metrics, MetricsLevel, RETENTION_DAYS_MAX};
pub use blob_settings::{DeleteRetention, StaticWebsite};
pub use cors_rules::{
    CORS_BYTES_MAX, CORS_LITERAL_HEADERS_MAX, CORS_ORIGINS_MAX, CORS_PREFIXED_HEADERS_MAX, CORS_RULES_MAX,
    CORS_VALUE_CHARS_MAX,
};
pub use service_properties::{ServiceProperties, ServicePropertiesUpdate};
pub use service_stats::{GeoReplication, ServiceStats};
pub use writing::BOM;
