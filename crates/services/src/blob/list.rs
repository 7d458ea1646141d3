//! Listing containers.

use tablerock_kv::{Position, ScanLimits};
use tablerock_protocol::limits;

use super::container_record::Container;
use super::{BlobService, keys};
use crate::Result;

/// What List Containers asks for.
#[derive(Debug, Clone, Default)]
pub struct ContainerQuery {
    pub prefix: String,
    /// The name of the first container to return.
    pub from: Option<String>,
    pub items_max: usize,
    /// Whether the service's own containers, whose names begin with `$`, are listed too.
    pub with_system: bool,
}

/// A container in a list.
#[derive(Debug, Clone)]
pub struct ListedContainer {
    pub name: String,
    pub container: Container,
}

/// A page of containers, and the name that the next one starts with.
#[derive(Debug, Clone, Default)]
pub struct ContainerPage {
    pub containers: Vec<ListedContainer>,
    pub next: Option<String>,
}

impl BlobService {
    pub async fn list_containers(&self, account: &str, query: &ContainerQuery) -> Result<ContainerPage> {
        let mut range = keys::directory_containers(account);
        let start = query.from.as_deref().unwrap_or_default().max(&query.prefix);
        if !start.is_empty() {
            range.start = Position::new(keys::directory_partition(account), keys::directory_key(start));
        }
        let scan = ScanLimits { records_max: query.items_max + 1, bytes_max: limits::PAGE_BYTES_MAX, deadline: None };
        let mut page = ContainerPage::default();
        loop {
            let found = self.store.scan(&range, scan).await?;
            for record in found.records {
                let name = String::from_utf8_lossy(&record.key).into_owned();
                if !name.starts_with(&query.prefix) {
                    return Ok(page);
                }
                if name.starts_with('$') && !query.with_system {
                    continue;
                }
                if page.containers.len() == query.items_max {
                    page.next = Some(name);
                    return Ok(page);
                }
                page.containers.push(ListedContainer { name, container: Container::decode(&record.value)? });
            }
            let Some(next) = found.next else { return Ok(page) };
            range.start = next;
        }
    }
}
