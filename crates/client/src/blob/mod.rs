//! Containers, block blobs and append blobs. A large blob is read in [ranges](BlobClient::download_range) and written in
//! [blocks](BlobClient::stage_block).
//!
//! ```
//! # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
//! # example::run(async |connection| {
//! use tablerock_client::BlobServiceClient;
//!
//! let service = BlobServiceClient::from_connection_string(connection)?;
//! let photos = service.container("photos");
//! photos.create_if_not_exists().await?;
//! let ann = photos.blob("employees/00001.jpg");
//! let etag = ann.upload("the first").if_not_exists().await?;
//! let content = ann.download().await?;
//! # assert_eq!((content.content.as_ref(), &content.etag), (b"the first".as_slice(), &etag));
//! ann.upload("the second").if_match(content.etag).await?;
//! # assert_eq!(ann.download().await?.content, "the second");
//! ann.delete().if_exists().await?;
//! # Ok(()) });
//! ```

mod access;
mod append;
mod blocks;
mod client;
mod conditions;
mod container;
mod copy;
mod delete;
mod lease;
mod listing;
mod new_blob;
mod pages;
mod properties;
mod sas;
mod service;
mod snapshots;
mod tags;

pub use access::{ContainerAccess, PublicAccess};
pub use blocks::DownloadRange;
pub use client::{BlobClient, BlobContent};
pub use conditions::{Conditional, ConditionalCall, Conditions};
pub use container::{ContainerClient, CreateContainer};
pub use copy::BlobCopy;
pub use delete::{DeleteBlob, DeleteBlobIfExists};
pub use lease::LeaseRequest;
pub use listing::{ListBlobs, ListContainers};
pub use new_blob::{AppendBlob, BlockBlob, NewBlob, PageBlob};
pub use properties::{BlobProperties, ContainerProperties};
pub use service::BlobServiceClient;
pub use tablerock_protocol::blob::BlockId;
pub use tablerock_protocol::xml::{AnsweredBlob as BlobItem, AnsweredContainer as ContainerItem};
pub use tags::{FindBlobs, FoundBlob, Pairs};

use http::HeaderName;
use tablerock_protocol::ServiceVersion;

use crate::Result;
use crate::pipeline::Call;

/// The first version with every kind of credential, which all servers support.
const VERSION: ServiceVersion = ServiceVersion::BEARER_TOKEN;

/// The HTTP headers of a blob, which a download returns. An empty one is not set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlobHttpHeaders {
    /// The media type of the content.
    pub content_type: String,
    /// The encoding of the content, such as `gzip`.
    pub content_encoding: String,
    /// The language of the content.
    pub content_language: String,
    /// The MD5 of the content in Base64. The service verifies it only in an upload of the whole content.
    pub content_md5: String,
    /// The directives for caches.
    pub cache_control: String,
    /// Whether a browser displays or saves the content.
    pub content_disposition: String,
}

impl From<&BlobItem> for BlobHttpHeaders {
    fn from(listed: &BlobItem) -> Self {
        Self {
            content_type: listed.content_type.clone(),
            content_encoding: listed.content_encoding.clone(),
            content_language: listed.content_language.clone(),
            content_md5: listed.content_md5.clone(),
            cache_control: listed.cache_control.clone(),
            content_disposition: listed.content_disposition.clone(),
        }
    }
}

impl BlobHttpHeaders {
    fn add_to(&self, call: Call) -> Result<Call> {
        let named = [
            ("x-ms-blob-content-type", &self.content_type),
            ("x-ms-blob-content-encoding", &self.content_encoding),
            ("x-ms-blob-content-language", &self.content_language),
            ("x-ms-blob-content-md5", &self.content_md5),
            ("x-ms-blob-cache-control", &self.cache_control),
            ("x-ms-blob-content-disposition", &self.content_disposition),
        ];
        let mut given = named.into_iter().filter(|(_, value)| !value.is_empty());
        given.try_fold(call, |call, (name, value)| call.header(HeaderName::from_static(name), value))
    }
}
