//! Single writes. Each is a builder that sends its request when it is awaited.

use std::marker::PhantomData;

use http::header::IF_MATCH;

use super::{PREFER, TableClient, TableOperation, responses};
use crate::pipeline::{Call, ServiceResponse};
use crate::transport::{BoxFuture, send_when_awaited};
use crate::{Etag, FromEntity, Result, TableEntity};

/// An insert, which is sent when it is awaited.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct Insert {
    table: TableClient,
    operation: TableOperation,
}

/// An insert that returns the entity as it is stored.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct InsertReturningContent<T> {
    insert: Insert,
    entity: PhantomData<fn() -> T>,
}

/// A replace or a merge, which is sent when it is awaited. It requires the version with the entity's ETag by default.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct ConditionalWrite {
    table: TableClient,
    operation: TableOperation,
}

send_when_awaited! {
    Insert => Result<Etag>;
    ConditionalWrite => Result<Etag>;
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
    pub fn insert(&self, entity: &impl TableEntity) -> Insert {
        Insert { table: self.clone(), operation: TableOperation::insert(entity) }
    }

    /// Replaces the version that was read, with all its properties, and returns the new ETag. Fails with 412 if the
    /// entity has changed since, and with 404 if it does not exist.
    #[doc(alias = "update_entity")]
    pub fn replace(&self, entity: &impl TableEntity) -> ConditionalWrite {
        ConditionalWrite { table: self.clone(), operation: TableOperation::replace(entity) }
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
    pub fn merge(&self, entity: &impl TableEntity) -> ConditionalWrite {
        ConditionalWrite { table: self.clone(), operation: TableOperation::merge(entity) }
    }

    /// Inserts an entity or replaces any existing version, and returns its ETag.
    #[doc(alias = "upsert_entity")]
    pub async fn insert_or_replace(&self, entity: &impl TableEntity) -> Result<Etag> {
        self.send_operation(&TableOperation::insert_or_replace(entity), false).await?.etag()
    }

    /// Inserts an entity or merges into any existing version, and returns its ETag.
    #[doc(alias = "upsert_entity")]
    pub async fn insert_or_merge(&self, entity: &impl TableEntity) -> Result<Etag> {
        self.send_operation(&TableOperation::insert_or_merge(entity), false).await?.etag()
    }

    pub(super) async fn send_operation(
        &self,
        operation: &TableOperation,
        return_content: bool,
    ) -> Result<ServiceResponse> {
        let encoded = operation.encode(self).await?;
        let mut call: Call = self.call(encoded.operation, encoded.method, encoded.path).body(encoded.body);
        if let Some(if_match) = encoded.if_match {
            call = call.header(IF_MATCH, &if_match)?;
        }
        if encoded.is_insert {
            call = call.static_header(PREFER, if return_content { "return-content" } else { "return-no-content" });
        }
        self.pipeline.send(&call).await
    }
}

impl Insert {
    /// Returns the entity as it is stored, with its Timestamp, instead of its ETag.
    pub fn return_content<T: FromEntity>(self) -> InsertReturningContent<T> {
        InsertReturningContent { insert: self, entity: PhantomData }
    }

    async fn send(self) -> Result<Etag> {
        self.table.send_operation(&self.operation, false).await?.etag()
    }
}

impl<T: FromEntity> IntoFuture for InsertReturningContent<T> {
    type Output = Result<T>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let Insert { table, operation } = self.insert;
        Box::pin(async move {
            let response = table.send_operation(&operation, true).await?;
            let entity = async { Ok(T::from_entity(table.encryption.decrypt(responses::entity(&response)?).await?)?) };
            response.confirm(entity.await)
        })
    }
}

impl ConditionalWrite {
    /// Requires this version instead of the entity's own.
    pub fn if_match(mut self, etag: impl Into<Etag>) -> Self {
        self.operation = self.operation.if_match(etag);
        self
    }

    /// Accepts any version, and overwrites concurrent changes.
    #[doc(alias = "ETag.All")]
    #[doc(alias = "force")]
    pub fn any_version(mut self) -> Self {
        self.operation = self.operation.any_version();
        self
    }

    async fn send(self) -> Result<Etag> {
        self.table.send_operation(&self.operation, false).await?.etag()
    }
}
