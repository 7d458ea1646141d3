//! The list of an account's queues.

use http::Method;
use tablerock_protocol::xml::{self, ANSWERED_LIST_ITEMS_MAX};

use super::{QueueItem, QueueServiceClient};
use crate::Result;
use crate::listing::{page, page_call, stream_pages};
use crate::pipeline::Call;
use crate::table::{BoxStream, ContinuationToken, Page};

/// A listing of queues: a builder, read as a [`stream`](Self::stream) or one [`page`](Self::page) at a time.
#[derive(Debug, Clone)]
#[must_use = "nothing is sent before it is read"]
pub struct ListQueues {
    service: QueueServiceClient,
    prefix: String,
    page_size: usize,
}

impl QueueServiceClient {
    /// Lists the account's queues by name, with their metadata.
    pub fn list_queues(&self) -> ListQueues {
        ListQueues { service: self.clone(), prefix: String::new(), page_size: ANSWERED_LIST_ITEMS_MAX }
    }
}

impl ListQueues {
    /// Lists only queues whose names begin with a prefix.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets the largest number of queues in a page; 500 by default and at most.
    pub fn page_size(mut self, queues: usize) -> Self {
        self.page_size = queues.clamp(1, ANSWERED_LIST_ITEMS_MAX);
        self
    }

    /// Reads one page: the first, or that of a continuation token.
    pub async fn page(&self, from: Option<&ContinuationToken>) -> Result<Page<QueueItem>> {
        let call = Call::new("ListQueues", Method::GET, "/").query("include", "metadata");
        let response = self.service.pipeline.send(&page_call(call, &self.prefix, self.page_size, from)).await?;
        page(xml::parse_queues(&response.body))
    }

    /// Streams all queues. Reads a page when the stream needs it.
    pub fn stream(self) -> BoxStream<QueueItem> {
        stream_pages(self, |listing, from| async move { listing.page(from.as_ref()).await })
    }
}
