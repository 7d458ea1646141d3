//! The list of an account's tables.

use http::Method;
use http::header::ACCEPT;
use tablerock_protocol::{json, limits};

use super::pages::{BoxStream, Page, continuation_token};
use super::{ContinuationToken, DATA_SERVICE_VERSION, JSON, TableServiceClient};
use crate::listing::stream_pages;
use crate::pipeline::Call;
use crate::{Column, Error, Filter, Result};

/// A listing of tables: a builder, read as a [`stream`](Self::stream) or one [`page`](Self::page) at a time.
#[derive(Debug, Clone)]
#[must_use = "nothing is sent before it is read"]
pub struct ListTables {
    service: TableServiceClient,
    filter: Option<Filter>,
    page_size: usize,
}

impl TableServiceClient {
    /// Lists the names of the account's tables in order.
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
    #[doc(alias = "query_tables")]
    pub fn list_tables(&self) -> ListTables {
        ListTables { service: self.clone(), filter: None, page_size: limits::PAGE_ITEMS_MAX }
    }
}

impl ListTables {
    /// Lists only tables whose names begin with a prefix.
    pub fn prefix(mut self, prefix: impl AsRef<str>) -> Self {
        self.filter = Some(Column::new("TableName").starts_with(prefix));
        self
    }

    /// Sets the largest number of names in a page; 1,000 by default and at most.
    pub fn page_size(mut self, names: usize) -> Self {
        self.page_size = names.clamp(1, limits::PAGE_ITEMS_MAX);
        self
    }

    /// Reads one page: the first, or that of a continuation token.
    pub async fn page(&self, from: Option<&ContinuationToken>) -> Result<Page<String>> {
        let call = Call::new("QueryTables", Method::GET, "/Tables");
        let mut call = call.static_header(ACCEPT, JSON).static_header(DATA_SERVICE_VERSION, "3.0");
        if let Some(filter) = &self.filter {
            call = call.query("$filter", &filter.to_text()?);
        }
        call = call.query("$top", &self.page_size.to_string());
        if let Some(from) = from {
            call = call.query("NextTableName", &from.first);
        }
        let response = self.service.pipeline.send(&call).await?;
        let items = json::parse_answered_tables(&response.body).map_err(|error| Error::invalid_response(&error))?;
        Ok(Page { items, continuation_token: continuation_token(&response, "NextTableName", None) })
    }

    /// Streams all names. Reads a page when the stream needs it.
    pub fn stream(self) -> BoxStream<String> {
        stream_pages(self, |listing, from| async move { listing.page(from.as_ref()).await })
    }
}
