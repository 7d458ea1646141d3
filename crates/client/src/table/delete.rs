//! Deletes that go alone.

use super::{TableClient, Write};
use crate::transport::BoxFuture;
use crate::{ErrorCode, Etag, Result, TableEntity};

/// A delete that waits to be awaited. It holds against the version that the entity was read in, unless it is told
/// otherwise.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct Delete {
    table: TableClient,
    write: Write,
}

/// A delete to which an entity that is not there is as good as deleted.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct DeleteIfExists(Delete);

impl TableClient {
    /// Deletes an entity in the version that was read.
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
    pub fn delete(&self, entity: &impl TableEntity) -> Delete {
        Delete { table: self.clone(), write: Write::delete(entity) }
    }

    /// Deletes an entity by its keys. There is no version at hand, so [`Delete::if_match`] or [`Delete::any_version`]
    /// has to say which.
    pub fn delete_at(&self, partition_key: impl Into<String>, row_key: impl Into<String>) -> Delete {
        Delete { table: self.clone(), write: Write::delete_at(partition_key, row_key) }
    }
}

impl Delete {
    /// Holds against this version, whichever the entity was read in.
    pub fn if_match(mut self, etag: impl Into<Etag>) -> Self {
        self.write = self.write.if_match(etag);
        self
    }

    /// Holds against any version.
    pub fn any_version(mut self) -> Self {
        self.write = self.write.any_version();
        self
    }

    /// Returns whether the entity was there in the place of failing when it was not. After a lost answer, an earlier
    /// try may have deleted it.
    pub fn if_exists(self) -> DeleteIfExists {
        DeleteIfExists(self)
    }
}

impl IntoFuture for Delete {
    type Output = Result<()>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.table.send_write(&self.write, false).await.map(drop) })
    }
}

impl IntoFuture for DeleteIfExists {
    type Output = Result<bool>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let delete = self.0.into_future();
        Box::pin(async move {
            match delete.await {
                Ok(()) => Ok(true),
                Err(error) if error.is_not_found() && error.code() != Some(ErrorCode::TableNotFound) => Ok(false),
                Err(error) => Err(error),
            }
        })
    }
}
