//! Listing queues: by prefix, in pages.

use tablerock_kv::ScanLimits;
use tablerock_protocol::{Metadata, limits};

use super::QueueService;
use super::record::QueueRecord;
use crate::{Result, namespace};

/// The parameters of List Queues.
#[derive(Debug, Clone, Default)]
pub struct QueueQuery {
    pub prefix: String,
    /// The first name to return.
    pub from: String,
    /// At most this many, and never more than a page holds.
    pub count_max: Option<usize>,
}

/// A queue in a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedQueue {
    pub name: String,
    pub metadata: Metadata,
}

/// Queues in the order of their names, and the name that the next page starts with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueuePage {
    pub queues: Vec<ListedQueue>,
    pub next: Option<String>,
}

impl QueueService {
    pub async fn list_queues(&self, account: &str, query: &QueueQuery) -> Result<QueuePage> {
        let count_max = query.count_max.map_or(limits::QUEUES_PAGE_MAX, |count| count.min(limits::QUEUES_PAGE_MAX));
        let mut page = QueuePage::default();
        let deadline = self.clock.instant() + std::time::Duration::from_secs(limits::QUERY_SECONDS_MAX);
        // One more than a page, which shows whether there is another.
        let records_max = count_max.saturating_add(1);
        let scan_limits = ScanLimits { records_max, bytes_max: limits::PAGE_BYTES_MAX, deadline: Some(deadline) };
        let mut rows = self.directory.rows(account, &query.prefix, &query.from, scan_limits);
        while let Some(row) = rows.next().await? {
            let name = namespace::name_of_row(&row.key)?;
            if page.queues.len() == count_max || self.clock.instant() >= deadline {
                page.next = Some(name);
                break;
            }
            page.queues.push(ListedQueue { name, metadata: QueueRecord::decode(&row.value)?.metadata });
        }
        Ok(page)
    }
}
