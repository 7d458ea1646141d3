//! Listing queues: by prefix, in pages.

use tablerock_kv::ScanLimits;
use tablerock_protocol::{Metadata, limits};

use super::record::QueueRecord;
use super::{QueueService, keys};
use crate::Result;

/// What List Queues asks for.
#[derive(Debug, Clone, Default)]
pub struct QueueQuery {
    pub prefix: String,
    /// The first name to return.
    pub from: String,
    /// At most this many, and never more than a page holds.
    pub count_max: Option<usize>,
}

/// A queue of such a page.
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
        let mut range = keys::directory_queues(account, &query.prefix, &query.from);
        let deadline = self.clock.instant() + std::time::Duration::from_secs(limits::QUERY_SECONDS_MAX);
        let scan_limits = ScanLimits {
            // One more than a page, which says whether there is another.
            records_max: count_max.saturating_add(1),
            bytes_max: limits::PAGE_BYTES_MAX,
            deadline: Some(deadline),
        };
        while !range.is_empty() {
            let found = self.store.scan(&range, scan_limits).await?;
            for record in &found.records {
                let name = name_of(&record.key)?;
                if page.queues.len() == count_max || self.clock.instant() >= deadline {
                    page.next = Some(name);
                    return Ok(page);
                }
                let metadata = QueueRecord::decode(&record.value)?.metadata;
                page.queues.push(ListedQueue { name, metadata });
            }
            let Some(next) = found.next else { break };
            range.start = next;
        }
        Ok(page)
    }
}

fn name_of(key: &[u8]) -> Result<String> {
    let name = String::from_utf8(key.to_vec());
    Ok(name.map_err(|_| tablerock_kv::Error::corrupt("a queue's name is no text"))?)
}
