//! Point reads: one entity by both its keys.

use http::Method;

use super::resolver::{As, resolve};
use super::{TableClient, answers};
use crate::{Entity, ErrorCode, FromEntity, Result};

impl TableClient {
    /// Reads an entity by its keys.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// # use tablerock_client::Entity;
    /// let ann: Entity = people.get("Sales", "00001").await?;
    /// # Ok(()) });
    /// ```
    pub async fn get<T: FromEntity>(&self, partition_key: &str, row_key: &str) -> Result<T> {
        self.read_point(partition_key, row_key, None).await
    }

    /// Reads an entity by its keys; `None` if it does not exist. That its table does not exist is still an error.
    pub async fn get_if_exists<T: FromEntity>(&self, partition_key: &str, row_key: &str) -> Result<Option<T>> {
        match self.get(partition_key, row_key).await {
            Ok(entity) => Ok(Some(entity)),
            Err(error) if error.is_not_found() && error.code() != Some(ErrorCode::TableNotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads of an entity what a type needs, and has the service leave out the rest.
    pub async fn get_selected<T: FromEntity>(&self, partition_key: &str, row_key: &str) -> Result<T> {
        self.read_point(partition_key, row_key, T::SELECT).await
    }

    /// Reads these properties of an entity, its keys, Timestamp and ETag.
    pub async fn get_properties(&self, partition_key: &str, row_key: &str, names: &[&str]) -> Result<Entity> {
        self.read_point(partition_key, row_key, Some(names)).await
    }

    async fn read_point<T: FromEntity>(
        &self,
        partition_key: &str,
        row_key: &str,
        select: Option<&[&str]>,
    ) -> Result<T> {
        let path = self.entity_path(partition_key, row_key);
        let mut call = self.call("QueryEntity", Method::GET, path);
        if let Some(names) = select {
            call = call.query("$select", &self.sealing.selection(&super::select(names)));
        }
        let entity = self.sealing.open(answers::entity(&self.pipeline.send(&call).await?)?).await?;
        resolve(&As::NEW, entity)
    }
}
