//! The tables of an account, by name.

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use http::Method;
use http::header::ACCEPT;
use tablerock_protocol::{json, limits};

use super::pages::{BoxStream, Page, next};
use super::{Continuation, DATA_SERVICE_VERSION, JSON, TableServiceClient};
use crate::pipeline::Call;
use crate::{Column, Error, Filter, Result};

/// A listing of tables that is being put together.
#[derive(Debug, Clone)]
#[must_use = "nothing is sent before it is read"]
pub struct TableListing {
    service: TableServiceClient,
    filter: Option<Filter>,
    page_size: usize,
}

impl TableServiceClient {
    /// The names of the account's tables, in their order.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// # use tablerock_client::TryStreamExt;
    /// # let service = people.service();
    /// # service.table("Log2026").create().await?;
    /// let logs: Vec<String> = service.list_tables().prefix("Log").stream().try_collect().await?;
    /// # assert_eq!(logs, ["Log2026"]);
    /// # Ok(()) });
    /// ```
    pub fn list_tables(&self) -> TableListing {
        TableListing { service: self.clone(), filter: None, page_size: limits::PAGE_ITEMS_MAX }
    }
}

impl TableListing {
    /// Only tables whose names begin so.
    pub fn prefix(mut self, prefix: impl AsRef<str>) -> Self {
        self.filter = Some(Column::new("TableName").prefix(prefix));
        self
    }

    /// At most so many names in a page, up to 1,000.
    pub fn page_size(mut self, names: usize) -> Self {
        self.page_size = names.clamp(1, limits::PAGE_ITEMS_MAX);
        self
    }

    /// Reads one page: the first, or the one that a token names.
    pub async fn segment(&self, from: Option<&Continuation>) -> Result<Page<String>> {
        let call = Call::new("QueryTables", Method::GET, "/Tables");
        let mut call = call.own_header(ACCEPT, JSON).own_header(DATA_SERVICE_VERSION, "3.0");
        if let Some(filter) = &self.filter {
            call = call.query("$filter", &filter.to_text()?);
        }
        call = call.query("$top", &self.page_size.to_string());
        if let Some(from) = from {
            call = call.query("NextTableName", &from.first);
        }
        let answer = self.service.pipeline.send(&call).await?;
        let items = json::parse_answered_tables(&answer.body).map_err(|error| Error::unreadable(&error))?;
        Ok(Page { items, next: next(&answer, "NextTableName", None) })
    }

    /// All names. Pages are read as they are needed.
    pub fn stream(self) -> BoxStream<String> {
        let pages = stream::try_unfold((self, Some(None)), |(listing, from)| async move {
            let Some(from) = from else { return Ok(None) };
            let page = listing.segment(Option::as_ref(&from)).await?;
            let next = page.next.clone().map(Some);
            Ok::<_, Error>(Some((page, (listing, next))))
        });
        pages.map_ok(|page| stream::iter(page.items).map(Ok)).try_flatten().boxed()
    }
}
