//! Whether an entity or a table exists, and the number of entities. The service has no operation for any of these.

use futures_util::TryStreamExt as _;
use http::Method;

use super::point::is_entity_missing;
use super::projection::{self, Projection};
use super::{Query, TableClient};
use crate::entity::AsKey;
use crate::error::none_if;
use crate::pipeline::encode;
use crate::{Entity, EntityError, Error, Result};

impl TableClient {
    /// Whether an entity exists. Reads its keys only. Fails if the table does not exist.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// assert!(people.exists("Sales", "00001").await?);
    /// assert!(!people.exists("Sales", "99999").await?);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "contains")]
    pub async fn exists(&self, partition_key: impl AsKey, row_key: impl AsKey) -> Result<bool> {
        let path = self.entity_path(&partition_key.as_key(), &row_key.as_key());
        let call = self.call("QueryEntity", Method::GET, path).query("$select", &projection::select(&[]));
        Ok(none_if(self.pipeline.send(&call).await, is_entity_missing)?.is_some())
    }

    /// Whether the table exists. A shared access signature for one table does not permit it.
    pub async fn table_exists(&self) -> Result<bool> {
        let path = format!("/Tables('{}')", encode(self.name()));
        let found = self.pipeline.send(&self.call("QueryTables", Method::GET, path)).await;
        Ok(none_if(found, Error::is_not_found)?.is_some())
    }
}

impl<R> Query<R> {
    /// Counts the entities. The service cannot count: this reads the keys of all entities, page by page, and stops at
    /// the [`limit`](Self::limit).
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// # use tablerock_client::{Entity, column};
    /// let count = people.query::<Entity>().partition("Sales").filter(column("Age").gt(30)).count().await?;
    /// assert_eq!(count, 1);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "len")]
    #[doc(alias = "aggregate")]
    pub async fn count(self) -> Result<u64> {
        let Self { table, filter, page_size, limit, .. } = self;
        let projection = Projection::Selected(projection::select(&[]));
        // Neither decrypted nor converted: the number does not depend on either.
        #[cfg(feature = "encryption")]
        let table = table.without_encryption();
        let keys = Query { table, filter, projection, page_size, limit, resolver: ignore };
        keys.pages().try_fold(0, async |count, page| Ok(count + page.items.len() as u64)).await
    }
}

fn ignore(_: Entity) -> Result<(), EntityError> {
    Ok(())
}
