//! Which containers an account has, and which blobs a container, page by page.

use http::Method;
use tablerock_protocol::xml::{self, ANSWERED_LIST_ITEMS_MAX};

use super::{BlobServiceClient, ContainerClient, ListedBlob, ListedContainer};
use crate::Result;
use crate::marked_list::{follow, page, page_call};
use crate::pipeline::Call;
use crate::table::{BoxStream, Continuation, Page};

/// A listing of containers that is being put together.
#[derive(Debug, Clone)]
#[must_use = "nothing is sent before it is read"]
pub struct ContainerListing {
    service: BlobServiceClient,
    prefix: String,
    page_size: usize,
}

/// A listing of blobs that is being put together.
#[derive(Debug, Clone)]
#[must_use = "nothing is sent before it is read"]
pub struct BlobListing {
    container: ContainerClient,
    prefix: String,
    page_size: usize,
    with_snapshots: bool,
}

impl BlobServiceClient {
    /// The account's containers in the order of their names, with their metadata.
    pub fn list_containers(&self) -> ContainerListing {
        ContainerListing { service: self.clone(), prefix: String::new(), page_size: ANSWERED_LIST_ITEMS_MAX }
    }
}

impl ContainerClient {
    /// The container's blobs in the order of their names, with properties and metadata.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::run(async |connection| {
    /// # use tablerock_client::{BlobServiceClient, TryStreamExt};
    /// # let photos = BlobServiceClient::from_connection_string(connection)?.container("photos");
    /// # photos.create().await?;
    /// # photos.blob("employees/00001.jpg").put("x").await?;
    /// # let mut seen = 0;
    /// let mut blobs = photos.list_blobs().prefix("employees/").stream();
    /// while let Some(blob) = blobs.try_next().await? {
    ///     println!("{}: {} bytes", blob.name, blob.length);
    /// #   seen += 1;
    /// }
    /// # assert_eq!(seen, 1);
    /// # Ok(()) });
    /// ```
    pub fn list_blobs(&self) -> BlobListing {
        let (prefix, page_size) = (String::new(), ANSWERED_LIST_ITEMS_MAX);
        BlobListing { container: self.clone(), prefix, page_size, with_snapshots: false }
    }
}

impl ContainerListing {
    /// Only containers whose names begin so.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// At most so many in a page, up to 500.
    pub fn page_size(mut self, containers: usize) -> Self {
        self.page_size = containers.clamp(1, ANSWERED_LIST_ITEMS_MAX);
        self
    }

    /// Reads one page: the first, or the one that a token names.
    pub async fn segment(&self, from: Option<&Continuation>) -> Result<Page<ListedContainer>> {
        let call = Call::new("ListContainers", Method::GET, "/").query("include", "metadata");
        let answer = self.service.pipeline.send(&page_call(call, &self.prefix, self.page_size, from)).await?;
        page(xml::parse_containers(&answer.body))
    }

    /// All containers. Pages are read as they are needed.
    pub fn stream(self) -> BoxStream<ListedContainer> {
        follow(move |from| {
            let listing = self.clone();
            async move { listing.segment(from.as_ref()).await }
        })
    }
}

impl BlobListing {
    /// Only blobs whose names begin so.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// At most so many in a page, up to 500.
    pub fn page_size(mut self, blobs: usize) -> Self {
        self.page_size = blobs.clamp(1, ANSWERED_LIST_ITEMS_MAX);
        self
    }

    /// Snapshots as well.
    pub fn with_snapshots(mut self) -> Self {
        self.with_snapshots = true;
        self
    }

    /// Reads one page: the first, or the one that a token names.
    pub async fn segment(&self, from: Option<&Continuation>) -> Result<Page<ListedBlob>> {
        let include = if self.with_snapshots { "metadata,snapshots" } else { "metadata" };
        let call = self.container.call("ListBlobs", Method::GET).query("include", include);
        let answer = self.container.pipeline.send(&page_call(call, &self.prefix, self.page_size, from)).await?;
        page(xml::parse_blobs(&answer.body))
    }

    /// All blobs. Pages are read as they are needed.
    pub fn stream(self) -> BoxStream<ListedBlob> {
        follow(move |from| {
            let listing = self.clone();
            async move { listing.segment(from.as_ref()).await }
        })
    }
}
