//! Properties of blobs and containers: what a HEAD and a download return besides content.

use http::{HeaderName, Method};
use tablerock_protocol::DateTime;

use super::conditions::ConditionalCall;
use super::{BlobClient, BlobHttpHeaders, ContainerClient, PublicAccess};
use crate::pipeline::{ServiceResponse, date};
use crate::{Error, ErrorCode, Etag, Request, Result};

const ACCESS_TIER: HeaderName = HeaderName::from_static("x-ms-access-tier");
const REHYDRATE_PRIORITY: HeaderName = HeaderName::from_static("x-ms-rehydrate-priority");

/// The properties of a blob. Fields that the service omits are empty.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlobProperties {
    /// The ETag of the version that was read.
    pub etag: Etag,
    /// The time of the last change, in whole seconds.
    pub last_modified: Option<DateTime>,
    /// The time of the creation, in whole seconds.
    pub created_on: Option<DateTime>,
    /// The length of the whole blob in bytes.
    #[doc(alias = "size")]
    pub length: u64,
    /// `BlockBlob`, `AppendBlob` or `PageBlob`.
    pub blob_type: String,
    /// The HTTP headers.
    pub headers: BlobHttpHeaders,
    /// The metadata, by names in lower case.
    pub metadata: Vec<(String, String)>,
    /// The access tier of a block blob, which a download does not return.
    pub access_tier: String,
    /// Whether the tier is the account's, because the blob has none of its own.
    pub is_tier_inferred: bool,
    /// The number of index tags.
    pub tag_count: u64,
    /// Whether an append blob is sealed.
    pub is_sealed: bool,
    /// The number of blocks of an append blob.
    pub committed_block_count: u64,
    /// The sequence number of a page blob.
    pub sequence_number: u64,
    /// The lease: `available`, `leased`, `expired`, `breaking` or `broken`.
    pub lease_state: String,
    /// The status of the last copy to this blob: `pending`, `success`, `aborted` or `failed`; empty without a copy.
    pub copy_status: String,
    /// The id of the last copy to this blob.
    pub copy_id: String,
    /// The bytes that the last copy has copied, and those of its source, such as `7/7`.
    pub copy_progress: String,
}

/// The properties of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContainerProperties {
    /// The ETag.
    pub etag: Etag,
    /// The time of the last change of the container itself, in whole seconds.
    pub last_modified: Option<DateTime>,
    /// The metadata, by names in lower case.
    pub metadata: Vec<(String, String)>,
    /// The public access.
    pub public_access: PublicAccess,
    /// The lease: `available`, `leased`, `expired`, `breaking` or `broken`.
    pub lease_state: String,
}

impl BlobProperties {
    pub(super) fn read(response: &ServiceResponse) -> Result<Self> {
        let text = |name: &str| response.header(name).unwrap_or_default().to_owned();
        let number = |name: &str| response.header(name).and_then(|value| value.parse().ok()).unwrap_or_default();
        // The Content-Length of a range is that of the range.
        let whole = response.header("content-range").and_then(|range| range.rsplit_once('/')?.1.parse().ok());
        Ok(Self {
            etag: response.etag()?,
            last_modified: response.header("last-modified").and_then(date),
            created_on: response.header("x-ms-creation-time").and_then(date),
            length: whole.unwrap_or_else(|| number("content-length")),
            blob_type: text("x-ms-blob-type"),
            headers: BlobHttpHeaders {
                content_type: text("content-type"),
                content_encoding: text("content-encoding"),
                content_language: text("content-language"),
                content_md5: text("content-md5"),
                cache_control: text("cache-control"),
                content_disposition: text("content-disposition"),
            },
            metadata: response.metadata(),
            access_tier: text(ACCESS_TIER.as_str()),
            is_tier_inferred: text("x-ms-access-tier-inferred") == "true",
            tag_count: number("x-ms-tag-count"),
            is_sealed: text("x-ms-blob-sealed") == "true",
            committed_block_count: number("x-ms-blob-committed-block-count"),
            sequence_number: number("x-ms-blob-sequence-number"),
            lease_state: text("x-ms-lease-state"),
            copy_status: text("x-ms-copy-status"),
            copy_id: text("x-ms-copy-id"),
            copy_progress: text("x-ms-copy-progress"),
        })
    }
}

impl BlobClient {
    /// Returns the blob's properties and metadata, without its content.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::run(async |connection| {
    /// # let photos = tablerock_client::BlobServiceClient::from_connection_string(connection)?.container("photos");
    /// # photos.create().await?;
    /// let ann = photos.blob("ann.jpg");
    /// ann.upload("...").metadata(vec![("camera".to_owned(), "old".to_owned())]).await?;
    /// let properties = ann.get_properties().await?;
    /// println!("{} bytes, last changed {:?}", properties.length, properties.last_modified);
    /// # assert_eq!((properties.length, properties.metadata[0].1.as_str()), (3, "old"));
    /// # Ok(()) });
    /// ```
    #[doc(alias = "get_blob_properties")]
    #[doc(alias = "head")]
    pub fn get_properties(&self) -> Request<BlobProperties, ConditionalCall<BlobProperties>> {
        let call = self.call("GetBlobProperties", Method::HEAD);
        Request::conditional(&self.pipeline, Ok(call), |response| BlobProperties::read(&response))
    }

    /// Whether the blob exists. Fails if the container does not exist.
    pub fn exists(&self) -> Request<bool, ConditionalCall<bool>> {
        let is_missing = |error: &Error| error.has_code(ErrorCode::BlobNotFound);
        self.get_properties().found(is_missing).convert(|found| Ok(found?.is_some()))
    }

    /// Replaces the blob's HTTP headers and returns the new ETag. An empty one is removed.
    #[doc(alias = "set_blob_properties")]
    pub fn set_headers(&self, headers: &BlobHttpHeaders) -> Request<Etag, ConditionalCall<Etag>> {
        let call = headers.add_to(self.call("SetBlobProperties", Method::PUT).query("comp", "properties"));
        Request::conditional(&self.pipeline, call, |response| response.etag())
    }

    /// Replaces the blob's metadata and returns the new ETag.
    #[doc(alias = "set_blob_metadata")]
    pub fn set_metadata(&self, pairs: &[(String, String)]) -> Request<Etag, ConditionalCall<Etag>> {
        let call = self.call("SetBlobMetadata", Method::PUT).query("comp", "metadata").metadata(pairs);
        Request::conditional(&self.pipeline, call, |response| response.etag())
    }

    /// Sets the access tier of a block blob, such as `Cool`.
    #[doc(alias = "set_blob_tier")]
    pub fn set_access_tier(&self, tier: &str) -> Request<(), ConditionalCall<()>> {
        let call = self.call("SetBlobTier", Method::PUT).query("comp", "tier").header(ACCESS_TIER, tier);
        Request::conditional(&self.pipeline, call, |_| Ok(()))
    }

    /// Moves an archived blob to an online tier with a priority, `Standard` or `High`.
    #[doc(alias = "set_blob_tier")]
    pub fn rehydrate(&self, tier: &str, priority: &str) -> Request<(), ConditionalCall<()>> {
        self.set_access_tier(tier).with_header(REHYDRATE_PRIORITY, priority)
    }
}

impl ContainerClient {
    /// Returns the container's properties and metadata.
    #[doc(alias = "get_container_properties")]
    pub fn get_properties(&self) -> Request<ContainerProperties, ConditionalCall<ContainerProperties>> {
        let call = self.call("GetContainerProperties", Method::HEAD);
        Request::conditional(&self.pipeline, Ok(call), |response| {
            Ok(ContainerProperties {
                etag: response.etag()?,
                last_modified: response.header("last-modified").and_then(date),
                metadata: response.metadata(),
                public_access: PublicAccess::read(&response),
                lease_state: response.header("x-ms-lease-state").unwrap_or_default().to_owned(),
            })
        })
    }

    /// Whether the container exists.
    pub fn exists(&self) -> Request<bool, ConditionalCall<bool>> {
        self.get_properties().found(Error::is_not_found).convert(|found| Ok(found?.is_some()))
    }
}
