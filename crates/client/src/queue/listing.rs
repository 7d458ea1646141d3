//! Which queues an account has, page by page.

use http::Method;
use tablerock_protocol::xml::{self, ANSWERED_LIST_ITEMS_MAX};

use super::{ListedQueue, QueueServiceClient};
use crate::Result;
use crate::marked_list::{follow, page, page_call};
use crate::pipeline::Call;
use crate::table::{BoxStream, Continuation, Page};

/// A listing of queues that is being put together.
#[derive(Debug, Clone)]
#[must_use = "nothing is sent before it is read"]
pub struct QueueListing {
    service: QueueServiceClient,
    prefix: String,
    page_size: usize,
}

impl QueueServiceClient {
    /// The account's queues in the order of their names, with their metadata.
    pub fn list_queues(&self) -> QueueListing {
        QueueListing { service: self.clone(), prefix: String::new(), page_size: ANSWERED_LIST_ITEMS_MAX }
    }
}

impl QueueListing {
    /// Only queues whose names begin so.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// At most so many in a page, up to 500.
    pub fn page_size(mut self, queues: usize) -> Self {
        self.page_size = queues.clamp(1, ANSWERED_LIST_ITEMS_MAX);
        self
    }

    /// Reads one page: the first, or the one that a token names.
    pub async fn segment(&self, from: Option<&Continuation>) -> Result<Page<ListedQueue>> {
        let call = Call::new("ListQueues", Method::GET, "/").query("include", "metadata");
        let answer = self.service.pipeline.send(&page_call(call, &self.prefix, self.page_size, from)).await?;
        page(xml::parse_queues(&answer.body))
    }

    /// All queues. Pages are read as they are needed.
    pub fn stream(self) -> BoxStream<ListedQueue> {
        follow(move |from| {
            let listing = self.clone();
            async move { listing.segment(from.as_ref()).await }
        })
    }
}
