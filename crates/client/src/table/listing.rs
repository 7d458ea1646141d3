//! The list of an account's tables.

use http::Method;
use http::header::ACCEPT;
use tablerock_protocol::{json, limits};

use super::pages::{Page, continuation_token};
use super::{ContinuationToken, DATA_SERVICE_VERSION, JSON, TableServiceClient};
use crate::listing::Listing;
use crate::pipeline::Call;
use crate::request::{Exchange, Operation};
use crate::{Column, Error, Filter, Request, Result};

/// A listing of tables, read as a [`stream`](Request::stream) or one [`page`](Request::page) at a time.
#[derive(Debug, Clone)]
pub struct ListTables {
    service: TableServiceClient,
    filter: Option<Filter>,
    page_size: usize,
    from: Option<ContinuationToken>,
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
    pub fn list_tables(&self) -> Request<Page<String>, ListTables> {
        let page_size = limits::PAGE_ITEMS_MAX;
        Request::new(ListTables { service: self.clone(), filter: None, page_size, from: None })
    }
}

impl Request<Page<String>, ListTables> {
    /// Lists only tables whose names begin with a prefix.
    pub fn prefix(mut self, prefix: impl AsRef<str>) -> Self {
        self.kind.filter = Some(Column::new("TableName").starts_with(prefix));
        self
    }

    /// Sets the largest number of names in a page; 1,000 by default and at most.
    pub fn page_size(mut self, names: usize) -> Self {
        self.kind.page_size = names.clamp(1, limits::PAGE_ITEMS_MAX);
        self
    }
}

impl Operation<Page<String>> for ListTables {
    async fn perform(self, exchange: &mut Exchange) -> Result<Page<String>> {
        let call = Call::new("QueryTables", Method::GET, "/Tables");
        let mut call = call.static_header(ACCEPT, JSON).static_header(DATA_SERVICE_VERSION, "3.0");
        if let Some(filter) = &self.filter {
            call = call.query("$filter", &filter.to_text()?);
        }
        call = call.query("$top", &self.page_size.to_string());
        if let Some(from) = &self.from {
            call = call.query("NextTableName", &from.first);
        }
        let response = exchange.send(&self.service.pipeline, &call).await?;
        let items = json::parse_answered_tables(&response.body).map_err(|error| Error::invalid_response(&error))?;
        Ok(Page { items, continuation_token: continuation_token(&response, "NextTableName", None) })
    }
}

impl Listing<String> for ListTables {
    fn set_from(&mut self, from: Option<ContinuationToken>) {
        self.from = from;
    }
}
