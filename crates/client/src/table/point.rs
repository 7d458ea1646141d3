//! Point reads: one entity by PartitionKey and RowKey.

use http::Method;

use super::projection::{Projection, select};
use super::resolver::{Typed, resolve};
use super::{TableClient, responses};
use crate::entity::AsKey;
use crate::error::none_if;
use crate::{Entity, Error, ErrorCode, FromEntity, Result};

/// Whether the entity does not exist, and its table does.
pub(super) fn is_entity_missing(error: &Error) -> bool {
    error.is_not_found() && !error.has_code(ErrorCode::TableNotFound)
}

impl TableClient {
    /// Reads an entity by its keys. Fails with 404 if it does not exist. Only the properties that the type has are read.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// # use tablerock_client::Entity;
    /// let ann: Entity = people.get("Sales", "00001").await?;
    /// # Ok(()) });
    /// ```
    #[doc(alias = "get_entity")]
    pub async fn get<T: FromEntity>(&self, partition_key: impl AsKey, row_key: impl AsKey) -> Result<T> {
        self.read_point(&partition_key.as_key(), &row_key.as_key(), Projection::of_type(T::SELECT)).await
    }

    /// Reads an entity by its keys; `None` if it does not exist. Fails if the table does not exist.
    #[doc(alias = "get_entity_if_exists")]
    pub async fn get_if_exists<T: FromEntity>(
        &self,
        partition_key: impl AsKey,
        row_key: impl AsKey,
    ) -> Result<Option<T>> {
        none_if(self.get(partition_key, row_key).await, is_entity_missing)
    }

    /// Reads only the properties of an entity that the type has, as [`get`](Self::get) does.
    pub async fn get_selected<T: FromEntity>(&self, partition_key: impl AsKey, row_key: impl AsKey) -> Result<T> {
        self.read_point(&partition_key.as_key(), &row_key.as_key(), Projection::of_type(T::SELECT)).await
    }

    /// Reads only the named properties of an entity, with keys, Timestamp and ETag.
    pub async fn get_selected_properties(
        &self,
        partition_key: impl AsKey,
        row_key: impl AsKey,
        names: &[&str],
    ) -> Result<Entity> {
        self.read_point(&partition_key.as_key(), &row_key.as_key(), Projection::Selected(select(names))).await
    }

    async fn read_point<T: FromEntity>(&self, partition_key: &str, row_key: &str, projection: Projection) -> Result<T> {
        let path = self.entity_path(partition_key, row_key);
        let mut call = self.call("QueryEntity", Method::GET, path);
        if let Some(select) = projection.select() {
            call = call.query("$select", &self.encryption.selection(select));
        }
        let entity = self.encryption.decrypt(responses::entity(&self.pipeline.send(&call).await?)?).await?;
        resolve(&Typed::NEW, entity)
    }
}
