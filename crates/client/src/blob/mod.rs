//! Block blobs: containers, and contents that are put, got and deleted whole, with conditions.
//!
//! ```no_run
//! use tablerock_client::BlobServiceClient;
//!
//! # async fn example() -> tablerock_client::Result<()> {
//! let service = BlobServiceClient::from_connection_string("UseDevelopmentStorage=true")?;
//! let photos = service.container("photos");
//! photos.create_if_not_exists().await?;
//! let ann = photos.blob("employees/00001.jpg");
//! let etag = ann.put("the first").if_absent().await?;
//! let content = ann.get().await?;
//! ann.put("the second").if_match(content.etag).await?;
//! ann.delete().if_exists().await?;
//! # Ok(()) }
//! ```

mod client;
mod container;
mod requests;
mod service;

pub use client::{BlobClient, BlobContent};
pub use container::ContainerClient;
pub use requests::{DeleteBlob, DeleteBlobIfExists, PutBlob};
pub use service::BlobServiceClient;

use tablerock_protocol::ServiceVersion;

/// The first version that takes every kind of credential, and one that all servers know.
const VERSION: ServiceVersion = ServiceVersion::BEARER_TOKEN;
