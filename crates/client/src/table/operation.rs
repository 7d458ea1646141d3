//! Operations on entities as values, for transactions and bulk writes.

use http::{HeaderValue, Method};
use tablerock_protocol::json::append_entity_body;
use tablerock_protocol::{PARTITION_KEY, ROW_KEY, TIMESTAMP};

use super::TableClient;
use crate::{Entity, EntityError, Error, Etag, Result, TableEntity};

/// An operation on an entity, for a [transaction](TableClient::transaction) or a [bulk](TableClient::bulk) write.
/// [`TableClient`] has a method for each kind that sends it alone.
///
/// Replace, merge and delete require that the stored version has the ETag of the entity, unless
/// [`any_version`](Self::any_version) or [`if_match`](Self::if_match) is set.
#[doc(alias = "TableTransactionAction")]
#[doc(alias = "TransactionAction")]
#[derive(Debug, Clone)]
pub struct TableOperation {
    kind: Kind,
    /// An error of the conversion is returned when the operation is sent.
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
    /// The version with the ETag of the entity.
    Own,
    Version(Etag),
    Any,
}

/// An operation as it is sent, alone or in a batch.
#[derive(Debug)]
pub(super) struct EncodedOperation {
    pub(super) operation: &'static str,
    pub(super) method: Method,
    /// The path below the account's root.
    pub(super) path: String,
    pub(super) if_match: Option<String>,
    pub(super) body: Vec<u8>,
    pub(super) is_insert: bool,
}

impl TableOperation {
    /// Inserts an entity; fails if it exists.
    #[doc(alias = "add")]
    #[doc(alias = "create")]
    pub fn insert(entity: &impl TableEntity) -> Self {
        Self::new(Kind::Insert, entity.to_entity())
    }

    /// Replaces an entity with all its properties.
    #[doc(alias = "update")]
    pub fn replace(entity: &impl TableEntity) -> Self {
        Self::new(Kind::Replace, entity.to_entity())
    }

    /// Sets properties of an entity and keeps its others.
    #[doc(alias = "update")]
    #[doc(alias = "patch")]
    pub fn merge(entity: &impl TableEntity) -> Self {
        Self::new(Kind::Merge, entity.to_entity())
    }

    /// Inserts an entity, or replaces any existing version.
    #[doc(alias = "upsert")]
    pub fn insert_or_replace(entity: &impl TableEntity) -> Self {
        Self::new(Kind::InsertOrReplace, entity.to_entity())
    }

    /// Inserts an entity, or merges into any existing version.
    #[doc(alias = "upsert")]
    pub fn insert_or_merge(entity: &impl TableEntity) -> Self {
        Self::new(Kind::InsertOrMerge, entity.to_entity())
    }

    /// Deletes an entity.
    pub fn delete(entity: &impl TableEntity) -> Self {
        Self::new(Kind::Delete, entity.to_entity())
    }

    /// Deletes an entity by its keys. It needs [`if_match`](Self::if_match) or [`any_version`](Self::any_version).
    pub fn delete_by_keys(partition_key: impl Into<String>, row_key: impl Into<String>) -> Self {
        Self::new(Kind::Delete, Ok(Entity::new(partition_key, row_key)))
    }

    fn new(kind: Kind, entity: Result<Entity, EntityError>) -> Self {
        Self { kind, entity, condition: Condition::Own }
    }

    /// Requires this version instead of the entity's own. Inserts ignore it.
    #[must_use]
    pub fn if_match(mut self, etag: impl Into<Etag>) -> Self {
        self.condition = Condition::Version(etag.into());
        self
    }

    /// Accepts any version, and overwrites concurrent changes.
    #[doc(alias = "ETag.All")]
    #[doc(alias = "force")]
    #[must_use]
    pub fn any_version(mut self) -> Self {
        self.condition = Condition::Any;
        self
    }

    /// Returns the entity, or the error of its conversion.
    pub fn entity(&self) -> Result<&Entity, &EntityError> {
        self.entity.as_ref()
    }

    pub(super) async fn encode(&self, table: &TableClient) -> Result<EncodedOperation> {
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
            let stored = table.encryption.encrypt(entity, is_merge).await?;
            append_entity_body(&mut body, partition_key, row_key, stored.properties());
        }
        let (operation, method) = self.kind.operation();
        let is_insert = self.kind == Kind::Insert;
        Ok(EncodedOperation { operation, method, path, if_match: self.if_match_header(entity)?, body, is_insert })
    }

    fn if_match_header(&self, entity: &Entity) -> Result<Option<String>> {
        if matches!(self.kind, Kind::Insert | Kind::InsertOrReplace | Kind::InsertOrMerge) {
            return Ok(None);
        }
        match (&self.condition, &entity.etag) {
            (Condition::Any, _) => Ok(Some("*".to_owned())),
            (Condition::Version(etag), _) | (Condition::Own, Some(etag)) => check_etag(etag).map(Some),
            (Condition::Own, None) => Err(Error::invalid(format!(
                "the entity {:?}, {:?} has no ETag: read it first, or call if_match or any_version",
                entity.partition_key, entity.row_key
            ))),
        }
    }
}

/// Checks an ETag before it is sent, alone or in a batch. A batch is text, where a line break would begin another
/// header or operation.
fn check_etag(etag: &Etag) -> Result<String> {
    if etag.as_str().trim() == "*" {
        return Err(Error::invalid("the ETag * does not name a version: call any_version to overwrite any"));
    }
    match HeaderValue::from_str(etag.as_str()) {
        Ok(_) => Ok(etag.to_string()),
        Err(_) => Err(Error::invalid(format!("the ETag {etag:?} has characters that a header cannot hold"))),
    }
}

/// Rejects names that the service does not read as properties: it would silently drop the value, or read it as the type
/// of another property. The service itself rejects other invalid names.
fn check_names(entity: &Entity) -> Result<()> {
    let is_reserved = |name: &str| {
        matches!(name, PARTITION_KEY | ROW_KEY | TIMESTAMP) || name.contains('@') || name.starts_with("odata.")
    };
    match entity.properties().iter().find(|property| is_reserved(&property.name)) {
        Some(property) => {
            Err(Error::invalid(format!("{:?} is reserved and cannot be the name of a property", property.name)))
        }
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
