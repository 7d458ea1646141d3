//! Block blobs: containers, and contents that are put, got and deleted whole, with conditions. What is too large for that
//! is read by [ranges](BlobClient::get_range) and written by [blocks](BlobClient::put_block).
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
//! let etag = ann.put("the first").if_absent().await?;
//! let content = ann.get().await?;
//! # assert_eq!((content.content.as_ref(), &content.etag), (b"the first".as_slice(), &etag));
//! ann.put("the second").if_match(content.etag).await?;
//! # assert_eq!(ann.get().await?.content, "the second");
//! ann.delete().if_exists().await?;
//! # Ok(()) });
//! ```

mod access;
mod blocks;
mod client;
mod container;
mod listing;
mod requests;
mod sas;
mod service;

pub use access::{ContainerAccess, PublicAccess};
pub use blocks::PutBlockList;
pub use client::{BlobClient, BlobContent};
pub use container::ContainerClient;
pub use listing::{BlobListing, ContainerListing};
pub use requests::{DeleteBlob, DeleteBlobIfExists, PutBlob};
pub use service::BlobServiceClient;
pub use tablerock_protocol::blob::BlockId;
pub use tablerock_protocol::xml::{AnsweredBlob as ListedBlob, AnsweredContainer as ListedContainer};

use http::HeaderName;
use tablerock_protocol::ServiceVersion;

use crate::Result;
use crate::pipeline::Call;

/// The first version that takes every kind of credential, and one that all servers know.
const VERSION: ServiceVersion = ServiceVersion::BEARER_TOKEN;

/// What goes with a blob's content: headers that come back with it. What is empty is not set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlobHeaders {
    /// What kind of bytes they are.
    pub content_type: String,
    /// How they are packed.
    pub content_encoding: String,
    /// Which language they are in.
    pub content_language: String,
    /// The MD5 of all of them, in Base64. Nobody but a put of the whole content compares it.
    pub content_md5: String,
    /// How long others may keep them.
    pub cache_control: String,
    /// Whether they are shown or saved.
    pub content_disposition: String,
}

impl From<&ListedBlob> for BlobHeaders {
    fn from(listed: &ListedBlob) -> Self {
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

impl BlobHeaders {
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
