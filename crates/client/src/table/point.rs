//! Point reads: one entity by PartitionKey and RowKey.

use std::marker::PhantomData;

use http::Method;

use super::projection::Projection;
use super::{TableClient, responses};
use crate::entity::AsKey;
use crate::error::none_if;
use crate::request::{Exchange, Operation};
use crate::{Entity, Error, ErrorCode, FromEntity, Request, Result};

/// Whether the entity does not exist, and its table does.
pub(super) fn is_entity_missing(error: &Error) -> bool {
    error.is_not_found() && !error.has_code(ErrorCode::TableNotFound)
}

/// A point read.
#[derive(Debug, Clone)]
pub struct Get<T> {
    table: TableClient,
    path: String,
    projection: Projection,
    entity: PhantomData<fn() -> T>,
}

/// A point read that returns `None` if the entity does not exist.
#[derive(Debug, Clone)]
pub struct GetIfExists<T>(Get<T>);

impl TableClient {
    /// Reads an entity by its keys. Fails with 404 if it does not exist. Only the properties that the type has are read;
    /// see [`whole`](Request::whole).
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// # use tablerock_client::Entity;
    /// let ann: Entity = people.get("Sales", "00001").await?;
    /// # Ok(()) });
    /// ```
    #[doc(alias = "get_entity")]
    pub fn get<T: FromEntity>(&self, partition_key: impl AsKey, row_key: impl AsKey) -> Request<T, Get<T>> {
        self.point(&partition_key.as_key(), &row_key.as_key(), Projection::of_type(T::SELECT))
    }

    /// Reads an entity by its keys; `None` if it does not exist. Fails if the table does not exist.
    #[doc(alias = "get_entity_if_exists")]
    pub fn get_if_exists<T: FromEntity>(
        &self,
        partition_key: impl AsKey,
        row_key: impl AsKey,
    ) -> Request<Option<T>, GetIfExists<T>> {
        self.get(partition_key, row_key).map_kind(GetIfExists)
    }

    /// Reads only the properties of an entity that the type has, as [`get`](Self::get) does.
    pub fn get_selected<T: FromEntity>(&self, partition_key: impl AsKey, row_key: impl AsKey) -> Request<T, Get<T>> {
        self.get(partition_key, row_key)
    }

    /// Reads only the named properties of an entity, with keys, Timestamp and ETag.
    pub fn get_selected_properties(
        &self,
        partition_key: impl AsKey,
        row_key: impl AsKey,
        names: &[&str],
    ) -> Request<Entity, Get<Entity>> {
        self.point(&partition_key.as_key(), &row_key.as_key(), Projection::selected(names))
    }

    fn point<T: FromEntity>(&self, partition_key: &str, row_key: &str, projection: Projection) -> Request<T, Get<T>> {
        let path = self.entity_path(partition_key, row_key);
        Request::new(Get { table: self.clone(), path, projection, entity: PhantomData })
    }
}

impl<T: FromEntity> Request<T, Get<T>> {
    /// Reads all properties, also those that the type does not have.
    pub fn whole(mut self) -> Self {
        self.kind.projection = Projection::Whole;
        self
    }
}

impl<T: FromEntity> Operation<T> for Get<T> {
    async fn perform(self, exchange: &mut Exchange) -> Result<T> {
        let Self { table, path, projection, .. } = self;
        let call = projection.select(table.call("QueryEntity", Method::GET, path), table.encryption.selection());
        let response = exchange.send(&table.pipeline, &call).await?;
        let parse = || responses::entity(&response, projection.known_names());
        let entity = table.encryption.decrypt(parse()?).await?;
        // The keys of an error are parsed again, because hardly any read needs them.
        T::from_entity(entity).map_err(|error| match parse() {
            Ok(Entity { partition_key, row_key, .. }) => Error::Entity(error.with_keys(&partition_key, &row_key)),
            Err(error) => error,
        })
    }
}

impl<T: FromEntity> Operation<Option<T>> for GetIfExists<T> {
    async fn perform(self, exchange: &mut Exchange) -> Result<Option<T>> {
        none_if(self.0.perform(exchange).await, is_entity_missing)
    }
}
