//! The XML documents of the services: service properties, service stats, stored access policies, queues and
//! messages, containers, blobs, blocks and tags.
//!
//! Documents are small, so they are read whole into a tree of elements, within bounds, then checked and turned
//! into plain structures. Rendered documents parse to the same structure.

mod access_policies;
mod analytics_settings;
mod answered_lists;
mod answered_messages;
mod blob_lists;
mod blob_settings;
mod blob_tags;
mod block_list;
mod cors_rules;
mod found_blobs;
mod page_list;
mod queue_listing;
mod queue_messages;
pub(crate) mod reading;
mod service_properties;
mod service_stats;
pub(crate) mod writing;

pub use access_policies::{ACCESS_POLICIES_MAX, ACCESS_POLICY_ID_UNITS_MAX, StoredAccessPolicies, StoredAccessPolicy};
pub use analytics_settings::{AnalyticsVersion, Logging, Metrics, MetricsLevel, RETENTION_DAYS_MAX};
pub use answered_lists::{
    ANSWERED_LIST_ITEMS_MAX, AnsweredBlob, AnsweredContainer, AnsweredFoundBlob, AnsweredPage, AnsweredQueue,
    parse_blobs, parse_containers, parse_found_blobs, parse_queues,
};
pub use answered_messages::{AnsweredMessage, parse_messages, render_message_text};
pub use blob_lists::{ListEcho, ListedBlob, ListedContainer, render_blobs, render_containers};
pub use blob_settings::{DeleteRetention, StaticWebsite};
pub use blob_tags::{parse_tags, render_tags};
pub use block_list::{BLOCK_LIST_BYTES_MAX, BLOCKS_MAX, BlockListRequest, BlockSource, render_block_list};
pub use cors_rules::{
    CORS_BYTES_MAX, CORS_LITERAL_HEADERS_MAX, CORS_ORIGINS_MAX, CORS_PREFIXED_HEADERS_MAX, CORS_RULES_MAX,
    CORS_VALUE_CHARS_MAX,
};
pub use found_blobs::{FindEcho, FoundBlobElement, FoundTags, render_found_blobs};
pub use page_list::{ANSWERED_PAGE_RANGES_MAX, ListedPages, parse_page_list, render_page_list};
pub use queue_listing::QueueListing;
pub use queue_messages::{QueueMessageElement, parse_message_text, render_messages};
pub use service_properties::{ServiceProperties, ServicePropertiesUpdate};
pub use service_stats::{GeoReplication, ServiceStats};
pub use writing::BOM;
