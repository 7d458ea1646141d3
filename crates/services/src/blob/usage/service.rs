//! The calls of Storage Analytics.

use tablerock_kv::ScanLimits;
use tablerock_protocol::ContainerName;

use super::super::BlobService;
use super::{ContainerUsage, Recount, Usage};
use crate::Result;
use crate::namespace::id_of_row;

impl BlobService {
    /// Returns the containers of an account.
    pub async fn containers_in_use(&self, account: &str) -> Result<Vec<ContainerUsage>> {
        let mut rows = self.directory.rows(account, "", "", ScanLimits::PAGE);
        let mut found = Vec::new();
        while let Some(row) = rows.next().await? {
            let is_analytics = row.key == ContainerName::LOGS.as_bytes();
            found.push(ContainerUsage { id: id_of_row(&row.value)?, is_analytics });
        }
        Ok(found)
    }

    /// Returns the usage of a container; `None` if its blobs have to be counted. `was_counted` says that they just were.
    pub async fn usage_of(&self, container: ContainerUsage, was_counted: bool) -> Result<Option<Usage>> {
        Ok(self.usages.of(container.id, was_counted).await?)
    }

    /// Begins to count the blobs of a container.
    pub async fn begin_recount(&self, container: ContainerUsage) -> Result<Recount> {
        Ok(self.usages.begin_recount(container.id).await?)
    }

    /// Counts the next page of blobs; returns whether it was the last.
    pub async fn recount_page(&self, recount: &mut Recount) -> Result<bool> {
        Ok(self.usages.recount_page(recount).await?)
    }

    /// Stores what this server has counted, now and then.
    pub async fn store_usage_if_due(&self) -> Result<()> {
        Ok(self.usages.store_if_due().await?)
    }
}
