//! Writes that go alone. Each is a request that is sent when it is awaited, and that can be told more before.

use std::marker::PhantomData;

use http::header::IF_MATCH;

use super::{PREFER, TableClient, Write, answers};
use crate::pipeline::{Answer, Call};
use crate::transport::BoxFuture;
use crate::{Etag, FromEntity, Result, TableEntity};

/// An insert that waits to be awaited.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct Insert {
    table: TableClient,
    write: Write,
}

/// An insert whose entity comes back as the service has stored it.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct InsertEcho<T> {
    insert: Insert,
    entity: PhantomData<fn() -> T>,
}

/// A replace or a merge that waits to be awaited. It holds against the version that the entity was read in, unless it
/// is told otherwise.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct ConditionalWrite {
    table: TableClient,
    write: Write,
}

impl TableClient {
    /// Adds an entity and returns its ETag; fails if it exists.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// # use tablerock_client::Entity;
    /// let ann = Entity::new("Sales", "00003").with("Name", "Ann");
    /// let etag = people.insert(&ann).await?;
    /// let stored: Entity = people.insert(&Entity::new("Sales", "00004")).echo().await?;
    /// # assert!(stored.etag.is_some_and(|stored| stored != etag));
    /// # Ok(()) });
    /// ```
    pub fn insert(&self, entity: &impl TableEntity) -> Insert {
        Insert { table: self.clone(), write: Write::insert(entity) }
    }

    /// Puts an entity in the place of the version that was read, and returns its new ETag. Properties that it leaves
    /// out are gone. Fails with 412 if it has changed since, and with 404 if it is not there.
    pub fn replace(&self, entity: &impl TableEntity) -> ConditionalWrite {
        ConditionalWrite { table: self.clone(), write: Write::replace(entity) }
    }

    /// Sets properties of the version that was read, leaves the others alone, and returns the new ETag.
    ///
    /// One property of an entity of any type is changed so:
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// # use tablerock_client::Entity;
    /// let change = Entity::new("Sales", "00001").with("Email", "ann@example.com");
    /// people.merge(&change).any_version().await?;
    /// # Ok(()) });
    /// ```
    pub fn merge(&self, entity: &impl TableEntity) -> ConditionalWrite {
        ConditionalWrite { table: self.clone(), write: Write::merge(entity) }
    }

    /// Adds an entity or replaces whatever version there is, and returns its ETag.
    pub async fn insert_or_replace(&self, entity: &impl TableEntity) -> Result<Etag> {
        answers::etag(&self.send_write(&Write::insert_or_replace(entity), false).await?)
    }

    /// Adds an entity or merges into whatever version there is, and returns its ETag.
    pub async fn insert_or_merge(&self, entity: &impl TableEntity) -> Result<Etag> {
        answers::etag(&self.send_write(&Write::insert_or_merge(entity), false).await?)
    }

    pub(super) async fn send_write(&self, write: &Write, echo: bool) -> Result<Answer> {
        let encoded = write.encode(self).await?;
        let mut call: Call = self.call(encoded.operation, encoded.method, encoded.path).body(encoded.body);
        if let Some(if_match) = encoded.if_match {
            call = call.header(IF_MATCH, &if_match)?;
        }
        if encoded.is_insert {
            call = call.own_header(PREFER, if echo { "return-content" } else { "return-no-content" });
        }
        self.pipeline.send(&call).await
    }
}

impl Insert {
    /// Has the entity come back as it was stored, with its Timestamp.
    pub fn echo<T: FromEntity>(self) -> InsertEcho<T> {
        InsertEcho { insert: self, entity: PhantomData }
    }
}

impl IntoFuture for Insert {
    type Output = Result<Etag>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { answers::etag(&self.table.send_write(&self.write, false).await?) })
    }
}

impl<T: FromEntity> IntoFuture for InsertEcho<T> {
    type Output = Result<T>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let Insert { table, write } = self.insert;
        Box::pin(async move {
            let answer = table.send_write(&write, true).await?;
            let read = async { Ok(T::from_entity(table.sealing.open(answers::entity(&answer)?).await?)?) };
            answer.reading(read.await)
        })
    }
}

impl ConditionalWrite {
    /// Holds against this version, whichever the entity was read in.
    pub fn if_match(mut self, etag: impl Into<Etag>) -> Self {
        self.write = self.write.if_match(etag);
        self
    }

    /// Holds against any version: what somebody else has written meanwhile is overwritten.
    pub fn any_version(mut self) -> Self {
        self.write = self.write.any_version();
        self
    }
}

impl IntoFuture for ConditionalWrite {
    type Output = Result<Etag>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { answers::etag(&self.table.send_write(&self.write, false).await?) })
    }
}
