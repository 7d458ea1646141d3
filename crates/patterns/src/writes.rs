//! Writes of all patterns that store entities. Each is a builder that runs when it is awaited, with the conditions of
//! the client's own writes.

use std::fmt;

use tablerock_client::transport::BoxFuture;
use tablerock_client::{Entity, EntityError, Error, ErrorCode, Etag, Result, TableClient, TableEntity};

use crate::optimistic::is_missing_resource;

/// The version that the stored entity has to have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expected {
    /// There is none.
    Absent,
    /// The version with an ETag.
    Version(Etag),
    /// Any version.
    Existing,
    /// Any version, or none.
    Any,
}

impl Expected {
    /// Whether the write overwrites a concurrent one: a conflict is then retried instead of returned.
    pub(crate) fn overwrites(&self) -> bool {
        matches!(self, Self::Existing | Self::Any)
    }
}

#[derive(Debug)]
enum Condition {
    /// The version with the ETag of the entity.
    Own,
    Version(Etag),
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Put,
    Replace,
    Delete,
}

type Action<'a, T> = Box<dyn FnOnce(Entity, Expected) -> BoxFuture<'a, Result<T>> + Send + 'a>;

/// A put or a replace of a pattern, which runs when it is awaited and returns the new ETag. It requires the version
/// that was read, by the ETag of the entity.
#[must_use = "nothing is sent before it is awaited"]
pub struct EntityWrite<'a> {
    kind: Kind,
    entity: Result<Entity, EntityError>,
    condition: Condition,
    send: Action<'a, Etag>,
}

/// A delete of a pattern, which runs when it is awaited. It requires the version that was read, by the ETag of the
/// entity.
#[must_use = "nothing is sent before it is awaited"]
pub struct EntityDelete<'a> {
    entity: Result<Entity, EntityError>,
    condition: Condition,
    send: Action<'a, ()>,
}

/// A delete that succeeds if the entity does not exist.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct EntityDeleteIfExists<'a>(EntityDelete<'a>);

impl<'a> EntityWrite<'a> {
    pub(crate) fn put(
        entity: &impl TableEntity,
        send: impl FnOnce(Entity, Expected) -> BoxFuture<'a, Result<Etag>> + Send + 'a,
    ) -> Self {
        Self { kind: Kind::Put, entity: entity.to_entity(), condition: Condition::Own, send: Box::new(send) }
    }

    pub(crate) fn replace(
        entity: &impl TableEntity,
        send: impl FnOnce(Entity, Expected) -> BoxFuture<'a, Result<Etag>> + Send + 'a,
    ) -> Self {
        Self { kind: Kind::Replace, ..Self::put(entity, send) }
    }

    /// Requires this version instead of the entity's own.
    pub fn if_match(mut self, etag: impl Into<Etag>) -> Self {
        self.condition = Condition::Version(etag.into());
        self
    }

    /// Accepts any version, and overwrites concurrent changes. A put then also inserts.
    #[doc(alias = "ETag.All")]
    #[doc(alias = "force")]
    #[doc(alias = "upsert")]
    pub fn any_version(mut self) -> Self {
        self.condition = Condition::Any;
        self
    }
}

impl<'a> EntityDelete<'a> {
    pub(crate) fn new(
        entity: Result<Entity, EntityError>,
        send: impl FnOnce(Entity, Expected) -> BoxFuture<'a, Result<()>> + Send + 'a,
    ) -> Self {
        Self { entity, condition: Condition::Own, send: Box::new(send) }
    }

    /// Requires this version instead of the entity's own.
    pub fn if_match(mut self, etag: impl Into<Etag>) -> Self {
        self.condition = Condition::Version(etag.into());
        self
    }

    /// Accepts any version.
    #[doc(alias = "ETag.All")]
    #[doc(alias = "force")]
    pub fn any_version(mut self) -> Self {
        self.condition = Condition::Any;
        self
    }

    /// Returns whether the entity existed instead of failing with 404.
    pub fn if_exists(self) -> EntityDeleteIfExists<'a> {
        EntityDeleteIfExists(self)
    }
}

impl<'a> IntoFuture for EntityWrite<'a> {
    type Output = Result<Etag>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let entity = self.entity?;
            let expected = expected(self.kind, &entity, self.condition)?;
            (self.send)(entity, expected).await
        })
    }
}

impl<'a> IntoFuture for EntityDelete<'a> {
    type Output = Result<()>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let entity = self.entity?;
            let expected = expected(Kind::Delete, &entity, self.condition)?;
            (self.send)(entity, expected).await
        })
    }
}

impl<'a> IntoFuture for EntityDeleteIfExists<'a> {
    type Output = Result<bool>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            match self.0.await {
                Ok(()) => Ok(true),
                Err(error) if error.is_not_found() && !is_missing_resource(&error) => Ok(false),
                Err(error) => Err(error),
            }
        })
    }
}

fn expected(kind: Kind, entity: &Entity, condition: Condition) -> Result<Expected> {
    Ok(match (condition, &entity.etag) {
        (Condition::Any, _) if kind == Kind::Put => Expected::Any,
        (Condition::Any, _) => Expected::Existing,
        (Condition::Version(etag), _) => Expected::Version(etag),
        (Condition::Own, Some(etag)) => Expected::Version(etag.clone()),
        (Condition::Own, None) if kind == Kind::Put => Expected::Absent,
        (Condition::Own, None) => {
            return Err(Error::Invalid(format!(
                "the entity {:?}, {:?} has no ETag: read it first, or call if_match or any_version",
                entity.partition_key, entity.row_key
            )));
        }
    })
}

/// Whether a stored entity is as expected. Fails with the service's error if it is another version.
pub(crate) async fn is_expected(
    table: &TableClient,
    keys: (&str, &str),
    stored: Option<&Entity>,
    expected: &Expected,
) -> Result<bool> {
    match expected {
        Expected::Version(etag) if stored.and_then(|stored| stored.etag.as_ref()) != Some(etag) => {
            fail_on_version(table, keys, etag).await.map(|()| false)
        }
        Expected::Existing if stored.is_none() => fail_on_absence(table, keys).await.map(|()| false),
        Expected::Version(_) | Expected::Existing | Expected::Absent | Expected::Any => Ok(true),
    }
}

/// Fails with the service's own error, because the stored entity does not have the required version. It merges nothing
/// into that version, which does no harm if it exists after all.
pub(crate) async fn fail_on_version(table: &TableClient, keys: (&str, &str), etag: &Etag) -> Result<()> {
    table.merge(&Entity::new(keys.0, keys.1)).if_match(etag.clone()).await.map(drop)
}

/// Fails with the service's own 404, because the entity does not exist.
pub(crate) async fn fail_on_absence(table: &TableClient, (partition_key, row_key): (&str, &str)) -> Result<()> {
    table.get_selected_properties(partition_key, row_key, &["Timestamp"]).await.map(drop)
}

/// Returns keys, ETag and the named properties of an entity; `None` if it does not exist.
pub(crate) async fn read_properties(
    table: &TableClient,
    (partition_key, row_key): (&str, &str),
    names: &[&str],
) -> Result<Option<Entity>> {
    match table.get_selected_properties(partition_key, row_key, names).await {
        Ok(entity) => Ok(Some(entity)),
        Err(error) if error.code() == Some(ErrorCode::ResourceNotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

impl fmt::Debug for EntityWrite<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, entity, condition, .. } = self;
        let mut shown = f.debug_struct("EntityWrite");
        shown.field("kind", kind).field("entity", entity).field("condition", condition).finish_non_exhaustive()
    }
}

impl fmt::Debug for EntityDelete<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entity, condition, .. } = self;
        f.debug_struct("EntityDelete").field("entity", entity).field("condition", condition).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_expects_the_version_that_was_read_unless_any_is_accepted() {
        let new = Entity::new("p", "r");
        let mut read = new.clone();
        read.etag = Some(Etag::from("1"));
        let version = || Expected::Version(Etag::from("1"));
        assert_eq!(expected(Kind::Put, &new, Condition::Own).unwrap(), Expected::Absent);
        for kind in [Kind::Put, Kind::Replace, Kind::Delete] {
            assert_eq!(expected(kind, &read, Condition::Own).unwrap(), version());
            assert_eq!(expected(kind, &new, Condition::Version(Etag::from("1"))).unwrap(), version());
        }
        assert_eq!(expected(Kind::Put, &read, Condition::Any).unwrap(), Expected::Any);
        for kind in [Kind::Replace, Kind::Delete] {
            assert_eq!(expected(kind, &new, Condition::Any).unwrap(), Expected::Existing);
            let error = expected(kind, &new, Condition::Own).unwrap_err().to_string();
            assert!(error.contains("has no ETag") && error.contains("any_version"), "{error}");
        }
    }
}
