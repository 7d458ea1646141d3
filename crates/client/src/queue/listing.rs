//! The list of an account's queues.

use http::Method;
use tablerock_protocol::xml::{self, ANSWERED_LIST_ITEMS_MAX};

use super::{QueueItem, QueueServiceClient};
use crate::listing::{Listing, page, page_call};
use crate::pipeline::Call;
use crate::request::{Exchange, Operation};
use crate::table::{ContinuationToken, Page};
use crate::{Request, Result};

/// A listing of queues, read as a [`stream`](Request::stream) or one [`page`](Request::page) at a time.
#[derive(Debug, Clone)]
pub struct ListQueues {
    service: QueueServiceClient,
    prefix: String,
    page_size: usize,
    from: Option<ContinuationToken>,
}

impl QueueServiceClient {
    /// Lists the account's queues by name, with their metadata.
    pub fn list_queues(&self) -> Request<Page<QueueItem>, ListQueues> {
        let (prefix, page_size) = (String::new(), ANSWERED_LIST_ITEMS_MAX);
        Request::new(ListQueues { service: self.clone(), prefix, page_size, from: None })
    }
}

impl Request<Page<QueueItem>, ListQueues> {
    /// Lists only queues whose names begin with a prefix.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.kind.prefix = prefix.into();
        self
    }

    /// Sets the largest number of queues in a page; 500 by default and at most.
    pub fn page_size(mut self, queues: usize) -> Self {
        self.kind.page_size = queues.clamp(1, ANSWERED_LIST_ITEMS_MAX);
        self
    }
}

impl Operation<Page<QueueItem>> for ListQueues {
    async fn perform(self, exchange: &mut Exchange) -> Result<Page<QueueItem>> {
        let call = Call::new("ListQueues", Method::GET, "/").query("include", "metadata");
        let call = page_call(call, &self.prefix, self.page_size, self.from.as_ref());
        let response = exchange.send(&self.service.pipeline, &call).await?;
        page(xml::parse_queues(&response.body))
    }
}

impl Listing<QueueItem> for ListQueues {
    fn set_from(&mut self, from: Option<ContinuationToken>) {
        self.from = from;
    }
}
