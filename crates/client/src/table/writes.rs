//! Single writes.

use std::marker::PhantomData;

use http::header::IF_MATCH;

use super::projection::Projection;
use super::{PREFER, TableClient, TableOperation, responses};
use crate::pipeline::{Call, ServiceResponse};
use crate::request::{Exchange, Operation};
use crate::{Etag, FromEntity, Request, Result, TableEntity};

/// An insert.
#[derive(Debug, Clone)]
pub struct Insert {
    table: TableClient,
    operation: TableOperation,
}

/// An insert that returns the entity as it is stored.
#[derive(Debug, Clone)]
pub struct InsertReturningContent<T> {
    insert: Insert,
    entity: PhantomData<fn() -> T>,
}

/// A replace or a merge, which requires the version with the entity's ETag by default.
#[derive(Debug, Clone)]
pub struct ConditionalWrite {
    table: TableClient,
    operation: TableOperation,
}

/// An insert that replaces an existing version or merges into it.
#[derive(Debug, Clone)]
pub struct InsertOrUpdate {
    table: TableClient,
    operation: TableOperation,
}

impl TableClient {
    /// Inserts an entity and returns its ETag. Fails with 409 if it exists.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// # use tablerock_client::Entity;
    /// let ann = Entity::new("Sales", "00003").with("Name", "Ann");
    /// let etag = people.insert(&ann).await?;
    /// let stored: Entity = people.insert(&Entity::new("Sales", "00004")).return_content().await?;
    /// # assert!(stored.etag.is_some_and(|stored| stored != etag));
    /// # Ok(()) });
    /// ```
    #[doc(alias = "add_entity")]
    #[doc(alias = "create_entity")]
    pub fn insert(&self, entity: &impl TableEntity) -> Request<Etag, Insert> {
        Request::new(Insert { table: self.clone(), operation: TableOperation::insert(entity) })
    }

    /// Replaces the version that was read, with all its properties, and returns the new ETag. Fails with 412 if the
    /// entity has changed since, and with 404 if it does not exist.
    #[doc(alias = "update_entity")]
    pub fn replace(&self, entity: &impl TableEntity) -> Request<Etag, ConditionalWrite> {
        Request::new(ConditionalWrite { table: self.clone(), operation: TableOperation::replace(entity) })
    }

    /// Sets properties of the version that was read, keeps its others, and returns the new ETag.
    ///
    /// To change one property of an entity of any type:
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// # use tablerock_client::Entity;
    /// let change = Entity::new("Sales", "00001").with("Email", "ann@example.com");
    /// people.merge(&change).any_version().await?;
    /// # Ok(()) });
    /// ```
    #[doc(alias = "update_entity")]
    pub fn merge(&self, entity: &impl TableEntity) -> Request<Etag, ConditionalWrite> {
        Request::new(ConditionalWrite { table: self.clone(), operation: TableOperation::merge(entity) })
    }

    /// Inserts an entity or replaces any existing version, and returns its ETag.
    #[doc(alias = "upsert_entity")]
    pub fn insert_or_replace(&self, entity: &impl TableEntity) -> Request<Etag, InsertOrUpdate> {
        Request::new(InsertOrUpdate { table: self.clone(), operation: TableOperation::insert_or_replace(entity) })
    }

    /// Inserts an entity or merges into any existing version, and returns its ETag.
    #[doc(alias = "upsert_entity")]
    pub fn insert_or_merge(&self, entity: &impl TableEntity) -> Request<Etag, InsertOrUpdate> {
        Request::new(InsertOrUpdate { table: self.clone(), operation: TableOperation::insert_or_merge(entity) })
    }

    pub(super) async fn send_operation(
        &self,
        operation: &TableOperation,
        return_content: bool,
        exchange: &mut Exchange,
    ) -> Result<ServiceResponse> {
        let encoded = operation.encode(self).await?;
        let mut call: Call = self.call(encoded.operation, encoded.method, encoded.path).body(encoded.body);
        if let Some(if_match) = encoded.if_match {
            call = call.header(IF_MATCH, &if_match)?;
        }
        if encoded.is_insert {
            call = call.static_header(PREFER, if return_content { "return-content" } else { "return-no-content" });
        }
        exchange.send(&self.pipeline, &call).await
    }
}

impl Request<Etag, Insert> {
    /// Returns the entity as it is stored, with its Timestamp, instead of its ETag.
    pub fn return_content<T: FromEntity>(self) -> Request<T, InsertReturningContent<T>> {
        self.map_kind(|insert| InsertReturningContent { insert, entity: PhantomData })
    }
}

impl Operation<Etag> for Insert {
    async fn perform(self, exchange: &mut Exchange) -> Result<Etag> {
        self.table.send_operation(&self.operation, false, exchange).await?.etag()
    }
}

impl Operation<Etag> for InsertOrUpdate {
    async fn perform(self, exchange: &mut Exchange) -> Result<Etag> {
        self.table.send_operation(&self.operation, false, exchange).await?.etag()
    }
}

impl Operation<Etag> for ConditionalWrite {
    async fn perform(self, exchange: &mut Exchange) -> Result<Etag> {
        self.table.send_operation(&self.operation, false, exchange).await?.etag()
    }
}

impl<T: FromEntity> Operation<T> for InsertReturningContent<T> {
    async fn perform(self, exchange: &mut Exchange) -> Result<T> {
        let Insert { table, operation } = self.insert;
        let response = table.send_operation(&operation, true, exchange).await?;
        let names = Projection::of_type(T::SELECT).known_names();
        let entity =
            async { Ok(T::from_entity(table.encryption.decrypt(responses::entity(&response, names)?).await?)?) };
        response.confirm(entity.await)
    }
}

impl Request<Etag, ConditionalWrite> {
    /// Requires this version instead of the entity's own.
    pub fn if_match(mut self, etag: impl Into<Etag>) -> Self {
        self.kind.operation = self.kind.operation.if_match(etag);
        self
    }

    /// Accepts any version, and overwrites concurrent changes.
    #[doc(alias = "ETag.All")]
    #[doc(alias = "force")]
    pub fn any_version(mut self) -> Self {
        self.kind.operation = self.kind.operation.any_version();
        self
    }
}
