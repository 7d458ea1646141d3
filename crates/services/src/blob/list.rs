//! Listing containers.

use tablerock_kv::ScanLimits;
use tablerock_protocol::{ContainerName, limits};

use super::BlobService;
use super::record::Container;
use crate::Result;

/// The containers that the service writes itself. `$root` and `$web` belong to the account's owner.
const HIDDEN: [&str; 2] = [ContainerName::LOGS, ContainerName::CHANGE_FEED];

/// The parameters of List Containers.
#[derive(Debug, Clone, Default)]
pub struct ContainerQuery {
    pub prefix: String,
    /// The name of the first container to return.
    pub from: Option<String>,
    pub items_max: usize,
    /// Whether the containers that the service writes itself are listed too.
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
        let from = query.from.as_deref().unwrap_or_default();
        let scan_limits =
            ScanLimits { records_max: query.items_max + 1, bytes_max: limits::PAGE_BYTES_MAX, deadline: None };
        let mut rows = self.directory.rows(account, &query.prefix, from, scan_limits);
        let mut page = ContainerPage::default();
        while let Some(row) = rows.next().await? {
            let name = String::from_utf8_lossy(&row.key).into_owned();
            if HIDDEN.contains(&name.as_str()) && !query.with_system {
                continue;
            }
            if page.containers.len() == query.items_max {
                page.next = Some(name);
                break;
            }
            page.containers.push(ListedContainer { name, container: Container::decode(&row.value)? });
        }
        Ok(page)
    }
}
