//! Single deletes.

use super::point::is_entity_missing;
use super::{TableClient, TableOperation};
use crate::error::none_if;
use crate::request::{Exchange, Operation};
use crate::{Etag, Request, Result, TableEntity};

/// A delete, which requires the version with the entity's ETag by default.
#[derive(Debug, Clone)]
pub struct Delete {
    table: TableClient,
    operation: TableOperation,
}

/// A delete that succeeds if the entity does not exist.
#[derive(Debug, Clone)]
pub struct DeleteIfExists(Delete);

impl TableClient {
    /// Deletes the version of an entity that was read. Fails with 412 if it has changed since.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// # use tablerock_client::Entity;
    /// # let ann: Entity = people.get("Sales", "00001").await?;
    /// people.delete(&ann).await?;
    /// let was_there = people.delete(&ann).if_exists().await?;
    /// # assert!(!was_there);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "delete_entity")]
    pub fn delete(&self, entity: &impl TableEntity) -> Request<(), Delete> {
        Request::new(Delete { table: self.clone(), operation: TableOperation::delete(entity) })
    }

    /// Deletes an entity by its keys. It needs [`if_match`](Request::if_match) or
    /// [`any_version`](Request::any_version).
    pub fn delete_by_keys(&self, partition_key: impl Into<String>, row_key: impl Into<String>) -> Request<(), Delete> {
        let operation = TableOperation::delete_by_keys(partition_key, row_key);
        Request::new(Delete { table: self.clone(), operation })
    }
}

impl Request<(), Delete> {
    /// Requires this version instead of the entity's own.
    pub fn if_match(mut self, etag: impl Into<Etag>) -> Self {
        self.kind.operation = self.kind.operation.if_match(etag);
        self
    }

    /// Accepts any version.
    #[doc(alias = "ETag.All")]
    #[doc(alias = "force")]
    pub fn any_version(mut self) -> Self {
        self.kind.operation = self.kind.operation.any_version();
        self
    }

    /// Returns whether the entity existed instead of failing with 404. After a lost response, an earlier attempt may
    /// have deleted it.
    pub fn if_exists(self) -> Request<bool, DeleteIfExists> {
        self.map_kind(DeleteIfExists)
    }
}

impl Operation<()> for Delete {
    async fn perform(self, exchange: &mut Exchange) -> Result<()> {
        self.table.send_operation(&self.operation, false, exchange).await.map(drop)
    }
}

impl Operation<bool> for DeleteIfExists {
    async fn perform(self, exchange: &mut Exchange) -> Result<bool> {
        Ok(none_if(self.0.perform(exchange).await, is_entity_missing)?.is_some())
    }
}
