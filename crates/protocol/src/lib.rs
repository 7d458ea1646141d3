//! The wire protocol of Azure Table, Queue and Blob Storage: names, resources, EDM values, entities, ETags,
//! filters, JSON, XML, batches, continuation tokens, signatures, error codes and limits.
//!
//! Pure: no I/O, no clock, no storage. Bytes come in and become types that cannot be wrong, once; the layers
//! above never look at raw input again.
//!
//! ```
//! use tablerock_protocol::{Filter, TableResource};
//!
//! let resource = TableResource::parse("/People(PartitionKey='Sales',RowKey='00001')").unwrap();
//! assert!(matches!(resource, TableResource::Entity { row_key, .. } if row_key == "00001"));
//! assert!(Filter::parse("Age gt 30 and not (Name eq 'Ann')").unwrap().is_some());
//! ```

#![warn(missing_docs)]

pub mod analytics;
pub mod batch;
pub mod bearer;
pub mod blob;
pub mod continuation;
pub mod cors;
pub mod datetime;
pub mod entity;
mod error_answer;
pub mod error_code;
pub mod etag;
pub mod filter;
mod identifier;
pub mod json;
mod keyword;
pub mod limits;
mod masking;
pub mod media;
pub mod metadata;
pub mod name;
pub mod ordinal;
mod pop_receipt;
pub mod query_string;
pub mod resource;
pub mod select;
mod service;
mod service_error;
pub mod signing;
pub mod value;
mod value_from;
pub mod version;
pub mod xml;

pub use datetime::{DateTime, DateTimeSyntax};
pub use entity::{EntityBody, PARTITION_KEY, Property, ROW_KEY, TIMESTAMP};
pub use error_answer::ErrorAnswer;
pub use error_code::ErrorCode;
pub use etag::{EtagCondition, etag};
pub use filter::Filter;
pub use keyword::Keyword;
pub use masking::{has_signature, mask_signatures};
pub use media::{Accepted, MetadataLevel};
pub use metadata::{METADATA_PREFIX, Metadata};
pub use name::{
    AccountName, BlobName, ContainerName, MetricsPeriod, MetricsTable, QueueName, SECONDARY_SUFFIX, TableName,
    capacity_table,
};
pub use ordinal::{compare_utf16, utf16_len};
pub use pop_receipt::{PopReceipt, PopReceiptSyntax};
pub use query_string::QueryString;
pub use resource::{BlobResource, QueueResource, TableResource};
pub use select::Select;
pub use service::Service;
pub use service_error::ServiceError;
pub use uuid::Uuid;
pub use value::{EdmType, Value};
pub use version::{ServiceVersion, ServiceVersionSyntax};
