//! Whether an entity or a table exists, and the number of entities. The service has no operation for any of these.

use std::sync::Arc;

use http::Method;

use super::pages::Position;
use super::point::is_entity_missing;
use super::projection::Projection;
use super::{Query, TableClient};
use crate::entity::AsKey;
use crate::error::none_if;
use crate::pipeline::encode;
use crate::request::{Exchange, Operation};
use crate::{Entity, EntityError, Error, Request, Result};

/// The count of a query's entities.
#[derive(Debug, Clone)]
pub struct Count(Query<fn(Entity) -> Result<(), EntityError>>);

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
    pub fn exists(&self, partition_key: impl AsKey, row_key: impl AsKey) -> Request<bool> {
        let path = self.entity_path(&partition_key.as_key(), &row_key.as_key());
        let call = Projection::selected(&[]).select(self.call("QueryEntity", Method::GET, path), &[]);
        let found = Request::single(&self.pipeline, Ok(call), |_| Ok(()));
        found.map_result(|found| Ok(none_if(found, is_entity_missing)?.is_some()))
    }

    /// Whether the table exists. A shared access signature for one table does not permit it.
    pub fn table_exists(&self) -> Request<bool> {
        let path = format!("/Tables('{}')", encode(self.name()));
        let call = self.call("QueryTables", Method::GET, path);
        let found = Request::single(&self.pipeline, Ok(call), |_| Ok(()));
        found.map_result(|found| Ok(none_if(found, Error::is_not_found)?.is_some()))
    }
}

impl<R> Query<R> {
    /// Counts the entities. The service cannot count: this reads the keys of all entities, page by page, and stops at
    /// the [`limit`](Self::limit). The options hold for each page.
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
    pub fn count(self) -> Request<u64, Count> {
        let Self { table, filter, page_size, limit, .. } = self;
        let projection = Projection::selected(&[]);
        // Neither decrypted nor converted: the number does not depend on either.
        #[cfg(feature = "encryption")]
        let table = table.without_encryption();
        let resolver = Arc::new(ignore as fn(Entity) -> Result<(), EntityError>);
        Request::new(Count(Query { table, filter, projection, page_size, limit, resolver }))
    }
}

impl Operation<u64> for Count {
    async fn perform(self, exchange: &mut Exchange) -> Result<u64> {
        let mut position = Position::start(&self.0);
        let mut count = 0;
        while let Some(page) = self.0.next_page(&mut position, exchange).await? {
            count += page.items.len() as u64;
        }
        Ok(count)
    }
}

fn ignore(_: Entity) -> Result<(), EntityError> {
    Ok(())
}
