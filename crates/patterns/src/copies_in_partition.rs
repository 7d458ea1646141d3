//! The intra-partition secondary index: copies of an entity under other RowKeys of its partition, written in one group
//! transaction.

use std::fmt;

use tablerock_client::{Entity, Error, Etag, Property, Result, TableClient, TableEntity, TableOperation};

use crate::copies;
use crate::copy_etag::{of_copy, split_etag};
use crate::indexes::{IndexValue, Indexes};
use crate::keys::{check_length, compound, compound_prefix};
use crate::optimistic::{Attempts, is_conflict};
use crate::verbs::entity_verbs;
use crate::writes::{EntityDelete, EntityWrite, Expected, fail_on_version, is_expected};

/// A table with copies of each entity in its partition. A lookup by another property is a point read instead of a scan
/// of the partition.
///
/// Every change requires the version that was read, under the entity's own RowKey or under that of a copy. One group
/// transaction writes all of them, so they are always equal. An index is unique within a partition: an entity with the
/// value of another one is rejected with 409.
///
/// The copy for the value `v` of the index `i` has the RowKey `i_v`, and the additional property `CopyRowKey`. The
/// entity's own RowKey must not begin with the name of an index and `_`.
///
/// ```no_run
/// # use tablerock_client::{Etag, TableClient, TableEntity};
/// use tablerock_patterns::CopiesInPartition;
///
/// #[derive(TableEntity)]
/// struct Employee {
///     #[entity(partition_key)]
///     department: String,
///     #[entity(row_key)]
///     id: String,
///     email: Option<String>,
///     #[entity(etag)]
///     etag: Option<Etag>,
/// }
///
/// # async fn example(people: TableClient, jones: Employee) -> tablerock_client::Result<()> {
/// let people = CopiesInPartition::new(people).index("email", |employee: &Employee| employee.email.clone());
/// people.insert(&jones).await?;
/// if let Some(mut jones) = people.find_by("Sales", "email", "jonesj@contoso.com").await? {
///     assert_eq!(jones.id, "000123");
///     jones.email = Some("jun@contoso.com".into());
///     people.replace(&jones).await?; // moves the copy; fails with 412 if another writer was faster
/// }
/// # Ok(()) }
/// ```
pub struct CopiesInPartition<T = Entity> {
    pub(crate) table: TableClient,
    pub(crate) indexes: Indexes<T>,
}

/// The stored version that a write requires.
struct Guard {
    before: Option<Entity>,
    /// The copy that was read instead of the entity, and its ETag.
    copy: Option<(String, Etag)>,
}

impl<T: TableEntity> CopiesInPartition<T> {
    /// Returns a table without indexes.
    pub fn new(table: TableClient) -> Self {
        Self { table, indexes: Indexes::new() }
    }

    /// Adds an index: a name, and a function from an entity to its values. The function returns an `Option<String>`, or
    /// a `Vec<String>` for an entity with several values.
    ///
    /// A table that has entities already needs [`rebuild`](Self::rebuild).
    #[must_use]
    pub fn index<V: IntoIterator<Item = String>>(
        mut self,
        name: impl Into<String>,
        values: impl Fn(&T) -> V + Send + Sync + 'static,
    ) -> Self {
        self.indexes.add(name, values);
        self
    }

    /// Creates the table unless it exists.
    pub async fn create_if_not_exists(&self) -> Result<()> {
        self.table.create_if_not_exists().await.map(drop)
    }

    /// Returns the table, for queries by keys. A range of own RowKeys returns each entity once.
    pub fn table(&self) -> &TableClient {
        &self.table
    }

    /// Reads an entity by its own keys; `None` if it does not exist.
    pub async fn get_if_exists(&self, partition_key: &str, row_key: &str) -> Result<Option<T>> {
        let entity = self.table.get_if_exists::<Entity>(partition_key, row_key).await?;
        Ok(entity.map(T::from_entity).transpose()?)
    }

    /// Finds the entity of a partition with a value of an index, by one point read. It has its own keys, and an ETag
    /// for [`replace`](Self::replace), [`put`](Self::put) and [`delete`](Self::delete) of this type only.
    #[doc(alias = "query_by")]
    #[doc(alias = "lookup")]
    pub async fn find_by(&self, partition_key: &str, index: &str, value: &str) -> Result<Option<T>> {
        self.indexes.check(index)?;
        let row_key = compound([index, value]);
        let Some(copy) = self.table.get_if_exists::<Entity>(partition_key, &row_key).await? else { return Ok(None) };
        let etag = copy.etag.as_ref().map(|etag| of_copy(etag, &row_key));
        copies::original(copy, etag).map(Some)
    }

    entity_verbs!();

    async fn write(&self, mut entity: Entity, expected: Expected) -> Result<Etag> {
        copies::check_names(&entity)?;
        self.check_row_key(&entity)?;
        let after = self.copy_keys(&entity)?;
        self.mark_secrets(&mut entity, &after);
        let mut attempts = Attempts::new("the entity");
        loop {
            if let Some(guard) = self.admit(&entity, &expected).await? {
                let before = guard.before.as_ref().map(|before| self.copy_keys(before)).transpose()?;
                let before = before.unwrap_or_default();
                let own = match guard.before.as_ref().and_then(|before| before.etag.clone()) {
                    Some(etag) => TableOperation::replace(&entity).if_match(etag),
                    None => TableOperation::insert(&entity),
                };
                let old = before.iter().filter(|key| !after.contains(key));
                let old: Vec<TableOperation> = old.map(|key| guard.delete_copy(&entity, key)).collect();
                let new = after.iter().map(|key| guard.write_copy(&entity, key, before.contains(key)));
                let transaction = self.table.transaction().operation(own).operations(old.clone()).operations(new);
                match transaction.commit().await.map_err(|error| explained(error, &old)) {
                    Err(error) if expected.overwrites() && is_own_conflict(&error) => {}
                    outcome => return first_etag(outcome?),
                }
            }
            attempts.retry().await?;
        }
    }

    async fn erase(&self, entity: Entity, expected: Expected) -> Result<()> {
        let mut attempts = Attempts::new("the entity");
        loop {
            if let Some(guard) = self.admit(&entity, &expected).await?
                && let Some(before) = &guard.before
            {
                let copies: Vec<TableOperation> =
                    self.copy_keys(before)?.iter().map(|key| guard.delete_copy(&entity, key)).collect();
                let transaction = self.table.transaction().delete(before).operations(copies.clone());
                match transaction.commit().await.map_err(|error| explained(error, &copies)) {
                    Err(error) if expected.overwrites() && is_own_conflict(&error) => {}
                    outcome => return outcome.map(drop),
                }
            }
            attempts.retry().await?;
        }
    }

    /// Reads the stored version, which has the keys of the old copies. Fails with the service's error if it is not the
    /// expected one. An insert always reaches the service, which returns the error.
    async fn admit(&self, entity: &Entity, expected: &Expected) -> Result<Option<Guard>> {
        if *expected == Expected::Absent {
            return Ok(Some(Guard { before: None, copy: None }));
        }
        let keys = (entity.partition_key.as_str(), entity.row_key.as_str());
        let before = self.table.get_if_exists::<Entity>(keys.0, keys.1).await?;
        let Expected::Version(etag) = expected else {
            let is_admitted = is_expected(&self.table, keys, before.as_ref(), expected).await?;
            return Ok(is_admitted.then_some(Guard { before, copy: None }));
        };
        let (etag, copy) = split_etag(etag)?;
        let stored = before.as_ref().and_then(|before| before.etag.as_ref());
        let is_admitted = match (&copy, &before) {
            (None, _) => stored == Some(&etag),
            (Some(copy), Some(before)) => self.copy_keys(before)?.contains(copy),
            (Some(_), None) => false,
        };
        if is_admitted {
            return Ok(Some(Guard { before, copy: copy.map(|copy| (copy, etag)) }));
        }
        fail_on_version(&self.table, keys, &etag).await.map(|()| None)
    }

    /// Rejects a RowKey that could be that of a copy.
    fn check_row_key(&self, entity: &Entity) -> Result<()> {
        match self.indexes.names().find(|name| entity.row_key.starts_with(&compound_prefix([name]))) {
            Some(name) => Err(Error::Invalid(format!(
                "the RowKey {:?} begins like those of copies for the index {name}: rename the index",
                entity.row_key
            ))),
            None => Ok(()),
        }
    }

    /// Returns the RowKeys of the copies of an entity.
    pub(crate) fn copy_keys(&self, entity: &Entity) -> Result<Vec<String>> {
        let values = self.indexes.values_of(entity)?;
        let key = |at: &IndexValue| {
            let key = compound([&at.index, &at.value]);
            check_length(&key, &format!("the RowKey of the copy for {at}")).map(|()| key)
        };
        values.iter().map(key).collect()
    }

    /// Marks a property for encryption in all copies if the resolver selects it under any of the keys.
    pub(crate) fn mark_secrets(&self, entity: &mut Entity, copy_keys: &[String]) {
        let is_secret = |name: &str| {
            let mut keys = copy_keys.iter().chain([&entity.row_key]);
            keys.any(|key| self.table.encrypts(&entity.partition_key, key, name))
        };
        let names = entity.properties().iter().map(|Property { name, .. }| name.to_string());
        let secrets: Vec<String> = names.filter(|name| is_secret(name)).collect();
        secrets.into_iter().for_each(|name| entity.mark_encrypted(name));
    }
}

impl Guard {
    /// Returns the ETag that the copy with a RowKey has to have.
    fn etag(&self, key: &str) -> Option<Etag> {
        self.copy.as_ref().filter(|(copy, _)| copy == key).map(|(_, etag)| etag.clone())
    }

    fn delete_copy(&self, entity: &Entity, key: &str) -> TableOperation {
        let operation = TableOperation::delete_by_keys(&entity.partition_key, key);
        match self.etag(key) {
            Some(etag) => operation.if_match(etag),
            None => operation.any_version(),
        }
    }

    fn write_copy(&self, entity: &Entity, key: &str, is_present: bool) -> TableOperation {
        let copy = copies::within(entity, key.to_owned());
        match (self.etag(key), is_present) {
            (Some(etag), _) => TableOperation::replace(&copy).if_match(etag),
            (None, true) => TableOperation::insert_or_replace(&copy),
            // The key of another entity's copy fails here: the index is unique.
            (None, false) => TableOperation::insert(&copy),
        }
    }
}

/// Whether another writer has changed the entity, which is the first operation.
fn is_own_conflict(error: &Error) -> bool {
    error.failed_index() == Some(0) && is_conflict(error)
}

/// Explains that a copy to delete does not exist, which happens before an index is built.
fn explained(error: Error, deletes: &[TableOperation]) -> Error {
    let delete = error.failed_index().and_then(|index| deletes.get(index.checked_sub(1)?));
    match delete.and_then(|delete| delete.entity().ok()) {
        Some(copy) if error.is_not_found() => Error::Invalid(format!(
            "the copy {:?}, {:?} does not exist: rebuild the index",
            copy.partition_key, copy.row_key
        )),
        _ => error,
    }
}

fn first_etag(etags: Vec<Option<Etag>>) -> Result<Etag> {
    let etag = etags.into_iter().next().flatten();
    etag.ok_or_else(|| Error::InvalidResponse("the entity has no ETag".to_owned()))
}

impl<T> fmt::Debug for CopiesInPartition<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, indexes } = self;
        f.debug_struct("CopiesInPartition").field("table", &table.name()).field("indexes", indexes).finish()
    }
}

// A derived Clone would require T: Clone.
impl<T> Clone for CopiesInPartition<T> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), indexes: self.indexes.clone() }
    }
}
