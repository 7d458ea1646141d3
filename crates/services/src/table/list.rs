//! Listing tables: a filter on their names, pages of at most a thousand.

use std::borrow::Cow;
use std::time::Duration;

use tablerock_kv::ScanLimits;
use tablerock_protocol::filter::{Comparison, Row, TABLE_NAME};
use tablerock_protocol::{ErrorCode, Filter, ServiceError, TableName, Value, limits};

use super::TableService;
use super::record::TableRecord;
use crate::{Result, namespace};

/// The parameters of Query Tables.
#[derive(Debug, Clone, Default)]
pub struct TableQuery {
    pub filter: Option<Filter>,
    /// At most this many; `None` is as many as a page holds.
    pub top: Option<usize>,
    /// The folded name of the first table to return.
    pub from: Option<String>,
}

/// A page of names as they were created, and the folded name that the next page starts with.
#[derive(Debug, Clone, Default)]
pub struct TablePage {
    pub names: Vec<String>,
    pub next: Option<String>,
}

impl TableService {
    pub async fn query_tables(&self, account: &str, query: &TableQuery) -> Result<TablePage> {
        self.throttle.check_account(account)?;
        let filter = query.filter.as_ref().map(folded).transpose()?;
        let items_max = query.top.unwrap_or(limits::PAGE_ITEMS_MAX);
        let mut page = TablePage::default();
        // Nothing to return means nothing to continue either.
        if items_max == 0 {
            return Ok(page);
        }
        let deadline = self.clock.instant() + Duration::from_secs(limits::QUERY_SECONDS_MAX);
        let scan_limits = ScanLimits { deadline: Some(deadline), ..ScanLimits::PAGE };
        let from = query.from.as_deref().unwrap_or_default();
        let mut rows = self.directory.rows(account, "", from, scan_limits);
        let mut is_first = true;
        while let Some(row) = rows.next().await? {
            // A page makes progress even if the deadline passes before its first row.
            let is_late = !std::mem::take(&mut is_first) && self.clock.instant() >= deadline;
            let name = TableRecord::decode(&row.value)?.name;
            let is_listed = !TableName::is_of_analytics(&name)
                && filter.as_ref().is_none_or(|filter| filter.matches(&TableRow(&name)));
            if is_late || (is_listed && page.names.len() == items_max) {
                page.next = Some(namespace::name_of_row(&row.key)?);
                break;
            }
            if is_listed {
                page.names.push(name);
            }
        }
        Ok(page)
    }
}

struct TableRow<'a>(&'a str);

impl Row for TableRow<'_> {
    fn value(&self, property: &str) -> Option<Value<'_>> {
        (property == TABLE_NAME).then(|| Value::String(Cow::Owned(self.0.to_ascii_lowercase())))
    }
}

/// The filter with its names in lower case, as names of tables compare without case. A filter on anything but the one
/// property that a table has is rejected. The live service returns an internal error; a client is better served by one
/// that names the cause.
fn folded(filter: &Filter) -> Result<Filter, ServiceError> {
    let all = |parts: &[Filter]| parts.iter().map(folded).collect::<Result<Vec<_>, _>>();
    Ok(match filter {
        Filter::And(parts) => Filter::And(all(parts)?),
        Filter::Or(parts) => Filter::Or(all(parts)?),
        Filter::Not(inner) => Filter::Not(Box::new(folded(inner)?)),
        Filter::Compare(Comparison { property, operator, literal: Value::String(text) }) if property == TABLE_NAME => {
            let literal = Value::String(Cow::Owned(text.to_ascii_lowercase()));
            Filter::Compare(Comparison { property: property.clone(), operator: *operator, literal })
        }
        Filter::Compare(_) | Filter::IsTrue(_) => return Err(ErrorCode::InvalidInput.into()),
    })
}
