//! Listing tables: a filter on their names, pages of at most a thousand.

use std::borrow::Cow;

use tablerock_kv::{Position, ScanLimits};
use tablerock_protocol::filter::Row;
use tablerock_protocol::{ErrorCode, Filter, ServiceError, TableName, Value, limits};

use super::TableService;
use super::record::TableRecord;
use crate::{Result, keys};

/// What Query Tables asks for.
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
        if let Some(filter) = &query.filter {
            check_names_only(filter)?;
        }
        let items_max = query.top.unwrap_or(limits::PAGE_ITEMS_MAX);
        let mut page = TablePage::default();
        let mut range = keys::directory_tables(account);
        if let Some(from) = &query.from {
            range.start.key = keys::directory_key(from);
        }
        let deadline = self.clock.instant() + std::time::Duration::from_secs(limits::QUERY_SECONDS_MAX);
        let scan_limits = ScanLimits {
            records_max: limits::PAGE_ITEMS_MAX + 1,
            bytes_max: limits::PAGE_BYTES_MAX,
            deadline: Some(deadline),
        };
        // Nothing to return means nothing to continue either.
        if items_max == 0 {
            return Ok(page);
        }
        loop {
            let found = self.store.scan(&range, scan_limits).await?;
            for record in &found.records {
                let name = TableRecord::decode(&record.value)?.name;
                if TableName::is_of_analytics(&name)
                    || !query.filter.as_ref().is_none_or(|filter| filter.matches(&TableRow(&name)))
                {
                    continue;
                }
                if page.names.len() == items_max {
                    page.next = Some(folded(&record.key)?);
                    return Ok(page);
                }
                page.names.push(name);
            }
            let Some(next) = found.next else { break };
            if self.clock.instant() >= deadline {
                page.next = Some(folded(&next.key)?);
                break;
            }
            range.start = Position::new(next.partition, next.key);
        }
        Ok(page)
    }
}

fn folded(key: &[u8]) -> Result<String> {
    // A position right after a name ends in a zero byte; names themselves are letters and digits.
    let text =
        String::from_utf8(key.to_vec()).map_err(|_| tablerock_kv::Error::corrupt("a table's name is no text"))?;
    Ok(text)
}

struct TableRow<'a>(&'a str);

impl Row for TableRow<'_> {
    fn value(&self, property: &str) -> Option<Value<'_>> {
        (property == "TableName").then_some(Value::String(Cow::Borrowed(self.0)))
    }
}

/// A table has one property. The live service answers a filter on another with an internal error; a client is
/// better served by one that says whose fault it is.
fn check_names_only(filter: &Filter) -> Result<(), ServiceError> {
    let name = match filter {
        Filter::And(parts) | Filter::Or(parts) => return parts.iter().try_for_each(check_names_only),
        Filter::Not(inner) => return check_names_only(inner),
        Filter::Compare(comparison) => &comparison.property,
        Filter::IsTrue(name) => name,
    };
    if name == "TableName" { Ok(()) } else { Err(ErrorCode::InvalidInput.into()) }
}
