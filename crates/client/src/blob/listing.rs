//! Lists of an account's containers and of a container's blobs.

use http::Method;
use tablerock_protocol::xml::{self, ANSWERED_LIST_ITEMS_MAX};

use super::{BlobItem, BlobServiceClient, ContainerClient, ContainerItem};
use crate::listing::{Listing, page, page_call};
use crate::pipeline::Call;
use crate::request::{Exchange, Operation};
use crate::table::{ContinuationToken, Page};
use crate::{Request, Result};

/// A listing of containers, read as a [`stream`](Request::stream) or one [`page`](Request::page) at a time.
#[derive(Debug, Clone)]
pub struct ListContainers {
    service: BlobServiceClient,
    prefix: String,
    page_size: usize,
    from: Option<ContinuationToken>,
}

/// A listing of blobs, read as a [`stream`](Request::stream) or one [`page`](Request::page) at a time.
#[derive(Debug, Clone)]
pub struct ListBlobs {
    container: ContainerClient,
    prefix: String,
    page_size: usize,
    include_snapshots: bool,
    include_tags: bool,
    from: Option<ContinuationToken>,
}

impl BlobServiceClient {
    /// Lists the account's containers by name, with their metadata.
    pub fn list_containers(&self) -> Request<Page<ContainerItem>, ListContainers> {
        let (prefix, page_size) = (String::new(), ANSWERED_LIST_ITEMS_MAX);
        Request::new(ListContainers { service: self.clone(), prefix, page_size, from: None })
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
    pub fn list_blobs(&self) -> Request<Page<BlobItem>, ListBlobs> {
        Request::new(ListBlobs {
            container: self.clone(),
            prefix: String::new(),
            page_size: ANSWERED_LIST_ITEMS_MAX,
            include_snapshots: false,
            include_tags: false,
            from: None,
        })
    }
}

impl Request<Page<ContainerItem>, ListContainers> {
    /// Lists only containers whose names begin with a prefix.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.kind.prefix = prefix.into();
        self
    }

    /// Sets the largest number of containers in a page; 500 by default and at most.
    pub fn page_size(mut self, containers: usize) -> Self {
        self.kind.page_size = containers.clamp(1, ANSWERED_LIST_ITEMS_MAX);
        self
    }
}

impl Operation<Page<ContainerItem>> for ListContainers {
    async fn perform(self, exchange: &mut Exchange) -> Result<Page<ContainerItem>> {
        let call = Call::new("ListContainers", Method::GET, "/").query("include", "metadata");
        let call = page_call(call, &self.prefix, self.page_size, self.from.as_ref());
        let response = exchange.send(&self.service.pipeline, &call).await?;
        page(xml::parse_containers(&response.body))
    }
}

impl Listing<ContainerItem> for ListContainers {
    fn set_from(&mut self, from: Option<ContinuationToken>) {
        self.from = from;
    }
}

impl Request<Page<BlobItem>, ListBlobs> {
    /// Lists only blobs whose names begin with a prefix.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.kind.prefix = prefix.into();
        self
    }

    /// Sets the largest number of blobs in a page; 500 by default and at most.
    pub fn page_size(mut self, blobs: usize) -> Self {
        self.kind.page_size = blobs.clamp(1, ANSWERED_LIST_ITEMS_MAX);
        self
    }

    /// Lists snapshots as well.
    pub fn include_snapshots(mut self) -> Self {
        self.kind.include_snapshots = true;
        self
    }

    /// Lists index tags as well. A signature needs the permission to read them.
    pub fn include_tags(mut self) -> Self {
        self.kind.include_tags = true;
        self
    }
}

impl Operation<Page<BlobItem>> for ListBlobs {
    async fn perform(self, exchange: &mut Exchange) -> Result<Page<BlobItem>> {
        let include = match (self.include_snapshots, self.include_tags) {
            (false, false) => "metadata",
            (true, false) => "metadata,snapshots",
            (false, true) => "metadata,tags",
            (true, true) => "metadata,snapshots,tags",
        };
        let call = self.container.call("ListBlobs", Method::GET).query("include", include);
        let call = page_call(call, &self.prefix, self.page_size, self.from.as_ref());
        let response = exchange.send(&self.container.pipeline, &call).await?;
        page(xml::parse_blobs(&response.body))
    }
}

impl Listing<BlobItem> for ListBlobs {
    fn set_from(&mut self, from: Option<ContinuationToken>) {
        self.from = from;
    }
}
