//! Lists of an account's containers and of a container's blobs.

use http::Method;
use tablerock_protocol::xml::{self, ANSWERED_LIST_ITEMS_MAX};

use super::{BlobItem, BlobServiceClient, ContainerClient, ContainerItem};
use crate::Result;
use crate::listing::{page, page_call, stream_pages};
use crate::pipeline::Call;
use crate::table::{BoxStream, ContinuationToken, Page};

/// A listing of containers: a builder, read as a [`stream`](Self::stream) or one [`page`](Self::page) at a time.
#[derive(Debug, Clone)]
#[must_use = "nothing is sent before it is read"]
pub struct ListContainers {
    service: BlobServiceClient,
    prefix: String,
    page_size: usize,
}

/// A listing of blobs: a builder, read as a [`stream`](Self::stream) or one [`page`](Self::page) at a time.
#[derive(Debug, Clone)]
#[must_use = "nothing is sent before it is read"]
pub struct ListBlobs {
    container: ContainerClient,
    prefix: String,
    page_size: usize,
    include_snapshots: bool,
    include_tags: bool,
}

impl BlobServiceClient {
    /// Lists the account's containers by name, with their metadata.
    pub fn list_containers(&self) -> ListContainers {
        ListContainers { service: self.clone(), prefix: String::new(), page_size: ANSWERED_LIST_ITEMS_MAX }
    }
}

impl ContainerClient {
    /// Lists the container's blobs by name, with properties and metadata.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::run(async |connection| {
    /// # use tablerock_client::{BlobServiceClient, TryStreamExt};
    /// # let photos = BlobServiceClient::from_connection_string(connection)?.container("photos");
    /// # photos.create().await?;
    /// # photos.blob("employees/00001.jpg").upload("x").await?;
    /// # let mut seen = 0;
    /// let mut blobs = photos.list_blobs().prefix("employees/").stream();
    /// while let Some(blob) = blobs.try_next().await? {
    ///     println!("{}: {} bytes", blob.name, blob.length);
    /// #   seen += 1;
    /// }
    /// # assert_eq!(seen, 1);
    /// # Ok(()) });
    /// ```
    pub fn list_blobs(&self) -> ListBlobs {
        let (prefix, page_size) = (String::new(), ANSWERED_LIST_ITEMS_MAX);
        ListBlobs { container: self.clone(), prefix, page_size, include_snapshots: false, include_tags: false }
    }
}

impl ListContainers {
    /// Lists only containers whose names begin with a prefix.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets the largest number of containers in a page; 500 by default and at most.
    pub fn page_size(mut self, containers: usize) -> Self {
        self.page_size = containers.clamp(1, ANSWERED_LIST_ITEMS_MAX);
        self
    }

    /// Reads one page: the first, or that of a continuation token.
    pub async fn page(&self, from: Option<&ContinuationToken>) -> Result<Page<ContainerItem>> {
        let call = Call::new("ListContainers", Method::GET, "/").query("include", "metadata");
        let response = self.service.pipeline.send(&page_call(call, &self.prefix, self.page_size, from)).await?;
        page(xml::parse_containers(&response.body))
    }

    /// Streams all containers. Reads a page when the stream needs it.
    pub fn stream(self) -> BoxStream<ContainerItem> {
        stream_pages(self, |listing, from| async move { listing.page(from.as_ref()).await })
    }
}

impl ListBlobs {
    /// Lists only blobs whose names begin with a prefix.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets the largest number of blobs in a page; 500 by default and at most.
    pub fn page_size(mut self, blobs: usize) -> Self {
        self.page_size = blobs.clamp(1, ANSWERED_LIST_ITEMS_MAX);
        self
    }

    /// Lists snapshots as well.
    pub fn include_snapshots(mut self) -> Self {
        self.include_snapshots = true;
        self
    }

    /// Lists index tags as well. A signature needs the permission to read them.
    pub fn include_tags(mut self) -> Self {
        self.include_tags = true;
        self
    }

    /// Reads one page: the first, or that of a continuation token.
    pub async fn page(&self, from: Option<&ContinuationToken>) -> Result<Page<BlobItem>> {
        let include = match (self.include_snapshots, self.include_tags) {
            (false, false) => "metadata",
            (true, false) => "metadata,snapshots",
            (false, true) => "metadata,tags",
            (true, true) => "metadata,snapshots,tags",
        };
        let call = self.container.call("ListBlobs", Method::GET).query("include", include);
        let response = self.container.pipeline.send(&page_call(call, &self.prefix, self.page_size, from)).await?;
        page(xml::parse_blobs(&response.body))
    }

    /// Streams all blobs. Reads a page when the stream needs it.
    pub fn stream(self) -> BoxStream<BlobItem> {
        stream_pages(self, |listing, from| async move { listing.page(from.as_ref()).await })
    }
}
