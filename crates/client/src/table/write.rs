//! A write as a value: what is to happen to which entity, if it is still the one that was read.

use http::{HeaderValue, Method};
use tablerock_protocol::json::append_entity_body;
use tablerock_protocol::{PARTITION_KEY, ROW_KEY, TIMESTAMP};

use super::TableClient;
use crate::{Entity, EntityError, Error, Etag, Result, TableEntity};

/// One write, for a group transaction or a bulk. [`TableClient`] has a method for each kind that sends it alone.
///
/// Replace, merge and delete hold only against the version whose ETag the entity carries, unless
/// [`any_version`](Self::any_version) says otherwise.
#[derive(Debug, Clone)]
pub struct Write {
    kind: Kind,
    /// An entity that could not be made is told when the write is used.
    entity: Result<Entity, EntityError>,
    condition: Condition,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Insert,
    Replace,
    Merge,
    InsertOrReplace,
    InsertOrMerge,
    Delete,
}

#[derive(Debug, Clone)]
enum Condition {
    /// The version that the entity was read in.
    Own,
    Version(Etag),
    Any,
}

/// A write as it goes onto the wire, alone or in a batch.
#[derive(Debug)]
pub(super) struct EncodedWrite {
    pub(super) operation: &'static str,
    pub(super) method: Method,
    /// Below the account's root.
    pub(super) path: String,
    pub(super) if_match: Option<String>,
    pub(super) body: Vec<u8>,
    pub(super) is_insert: bool,
}

impl Write {
    /// Adds an entity; fails if it exists.
    pub fn insert(entity: &impl TableEntity) -> Self {
        Self::new(Kind::Insert, entity.to_entity())
    }

    /// Puts an entity in the place of its earlier version: properties that it leaves out are gone.
    pub fn replace(entity: &impl TableEntity) -> Self {
        Self::new(Kind::Replace, entity.to_entity())
    }

    /// Sets the entity's properties and leaves the others alone.
    pub fn merge(entity: &impl TableEntity) -> Self {
        Self::new(Kind::Merge, entity.to_entity())
    }

    /// Adds an entity or replaces it, whatever its version.
    pub fn insert_or_replace(entity: &impl TableEntity) -> Self {
        Self::new(Kind::InsertOrReplace, entity.to_entity())
    }

    /// Adds an entity or merges into it, whatever its version.
    pub fn insert_or_merge(entity: &impl TableEntity) -> Self {
        Self::new(Kind::InsertOrMerge, entity.to_entity())
    }

    /// Deletes an entity.
    pub fn delete(entity: &impl TableEntity) -> Self {
        Self::new(Kind::Delete, entity.to_entity())
    }

    /// Deletes an entity by its keys. Without the entity there is no version to hold against, so
    /// [`if_match`](Self::if_match) or [`any_version`](Self::any_version) has to say which.
    pub fn delete_at(partition_key: impl Into<String>, row_key: impl Into<String>) -> Self {
        Self::new(Kind::Delete, Ok(Entity::new(partition_key, row_key)))
    }

    fn new(kind: Kind, entity: Result<Entity, EntityError>) -> Self {
        Self { kind, entity, condition: Condition::Own }
    }

    /// Holds against this version, whichever the entity was read in. It means nothing to inserts.
    #[must_use]
    pub fn if_match(mut self, etag: impl Into<Etag>) -> Self {
        self.condition = Condition::Version(etag.into());
        self
    }

    /// Holds against any version: what somebody else has written meanwhile is overwritten.
    #[must_use]
    pub fn any_version(mut self) -> Self {
        self.condition = Condition::Any;
        self
    }

    /// The entity that is written, or why there is none.
    pub fn entity(&self) -> Result<&Entity, &EntityError> {
        self.entity.as_ref()
    }

    /// Whether an ETag comes back.
    pub(super) fn has_etag(&self) -> bool {
        self.kind != Kind::Delete
    }

    pub(super) async fn encode(&self, table: &TableClient) -> Result<EncodedWrite> {
        let entity = self.entity.as_ref().map_err(|error| Error::Entity(error.clone()))?;
        let (partition_key, row_key) = (&entity.partition_key, &entity.row_key);
        let path = match self.kind {
            Kind::Insert => table.path(),
            _ => table.entity_path(partition_key, row_key),
        };
        let mut body = Vec::new();
        if self.kind != Kind::Delete {
            check_names(entity)?;
            let is_merge = matches!(self.kind, Kind::Merge | Kind::InsertOrMerge);
            let stored = table.sealing.seal(entity, is_merge).await?;
            append_entity_body(&mut body, partition_key, row_key, stored.properties());
        }
        let (operation, method) = self.kind.operation();
        let is_insert = self.kind == Kind::Insert;
        Ok(EncodedWrite { operation, method, path, if_match: self.if_match_header(entity)?, body, is_insert })
    }

    fn if_match_header(&self, entity: &Entity) -> Result<Option<String>> {
        if matches!(self.kind, Kind::Insert | Kind::InsertOrReplace | Kind::InsertOrMerge) {
            return Ok(None);
        }
        match (&self.condition, &entity.etag) {
            (Condition::Any, _) => Ok(Some("*".to_owned())),
            (Condition::Version(etag), _) | (Condition::Own, Some(etag)) => check_etag(etag).map(Some),
            (Condition::Own, None) => Err(Error::invalid(format!(
                "the entity {:?}, {:?} has no ETag: read it first, or say if_match or any_version",
                entity.partition_key, entity.row_key
            ))),
        }
    }
}

/// The one place that ETags pass on their way out, alone and in groups. A group is text in which a line break would begin
/// another header, or another write.
fn check_etag(etag: &Etag) -> Result<String> {
    if etag.as_str().trim() == "*" {
        return Err(Error::invalid("the ETag * is no version; to overwrite whatever is there, say any_version"));
    }
    match HeaderValue::from_str(etag.as_str()) {
        Ok(_) => Ok(etag.to_string()),
        Err(_) => Err(Error::invalid(format!("{etag:?} is no ETag: it cannot stand in a header"))),
    }
}

/// Refuses names that the service takes for something else than a property: it would drop the value without a word, or
/// take it for the type of another. Whatever else is wrong with a name, the service tells.
fn check_names(entity: &Entity) -> Result<()> {
    let is_taken = |name: &str| {
        matches!(name, PARTITION_KEY | ROW_KEY | TIMESTAMP) || name.contains('@') || name.starts_with("odata.")
    };
    match entity.properties().iter().find(|property| is_taken(&property.name)) {
        Some(property) => Err(Error::invalid(format!("{:?} cannot be the name of a property", property.name))),
        None => Ok(()),
    }
}

impl Kind {
    fn operation(self) -> (&'static str, Method) {
        match self {
            Self::Insert => ("InsertEntity", Method::POST),
            Self::Replace => ("UpdateEntity", Method::PUT),
            Self::Merge => ("MergeEntity", Method::PATCH),
            Self::InsertOrReplace => ("InsertOrReplaceEntity", Method::PUT),
            Self::InsertOrMerge => ("InsertOrMergeEntity", Method::PATCH),
            Self::Delete => ("DeleteEntity", Method::DELETE),
        }
    }
}
