//! Index entities: a list of ids for a value, in an entity or in a blob, with optimistic concurrency.

use bytes::Bytes;
use tablerock_client::{BlobClient, Entity, Error, Etag, Result, TableClient, TableOperation};

use crate::optimistic::{Attempts, is_conflict, unless_conflict};

/// The property with the ids.
const IDS: &str = "Ids";

/// The storage of a list.
pub trait ListStore: Send + Sync {
    /// Reads the ids and the ETag of the list; `None` if it does not exist.
    fn read(&self) -> impl Future<Output = Result<Option<(Vec<String>, Etag)>>> + Send;

    /// Replaces the version with an ETag, or creates the list if there is none. Returns `None` if the list has changed.
    fn write(&self, ids: &[String], etag: Option<&Etag>) -> impl Future<Output = Result<Option<()>>> + Send;
}

/// A sorted set of ids, such as all employees with one last name. Several writers may change it concurrently.
///
/// ```no_run
/// # use tablerock_client::{ContainerClient, TableClient};
/// # use tablerock_patterns::{BlobList, EntityList, IndexList};
/// # async fn example(people: TableClient, lists: ContainerClient) -> tablerock_client::Result<()> {
/// let in_its_partition = IndexList::new(EntityList::new(people.clone(), "Sales", "Jones"));
/// let in_another = IndexList::new(EntityList::new(people, "lastname_Sales", "Jones"));
/// let in_a_blob = IndexList::new(BlobList::new(lists.blob("Sales/Jones")));
/// in_a_blob.add("000123").await?;
/// for id in in_a_blob.ids().await? {
///     println!("{id}");
/// }
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct IndexList<S> {
    store: S,
}

impl<S: ListStore> IndexList<S> {
    /// Returns the list in a store.
    pub fn new(store: S) -> Self {
        Self { store }
    }

    /// Returns all ids; none if the list does not exist.
    pub async fn ids(&self) -> Result<Vec<String>> {
        Ok(self.store.read().await?.map(|(ids, _)| ids).unwrap_or_default())
    }

    /// Adds an id. Returns whether it was new.
    pub async fn add(&self, id: &str) -> Result<bool> {
        self.change(|ids| insert(ids, id)).await
    }

    /// Removes an id. Returns whether the list had it.
    pub async fn remove(&self, id: &str) -> Result<bool> {
        self.change(|ids| remove(ids, id)).await
    }

    async fn change(&self, change: impl Fn(&mut Vec<String>) -> bool) -> Result<bool> {
        let mut attempts = Attempts::new("the list");
        loop {
            let (mut ids, etag) = self.store.read().await?.unzip();
            let ids = ids.get_or_insert_default();
            if !change(ids) {
                return Ok(false);
            }
            if self.store.write(ids, etag.as_ref()).await?.is_some() {
                return Ok(true);
            }
            attempts.retry().await?;
        }
    }
}

fn insert(ids: &mut Vec<String>, id: &str) -> bool {
    match ids.binary_search_by(|known| known.as_str().cmp(id)) {
        Ok(_) => false,
        Err(index) => {
            ids.insert(index, id.to_owned());
            true
        }
    }
}

fn remove(ids: &mut Vec<String>, id: &str) -> bool {
    let before = ids.len();
    ids.retain(|known| known != id);
    ids.len() < before
}

/// A list in an entity. It holds some thousand short ids; the service rejects a longer list, for which a [`BlobList`]
/// is better.
#[derive(Debug, Clone)]
pub struct EntityList {
    table: TableClient,
    partition_key: String,
    row_key: String,
}

impl EntityList {
    /// Returns the list in the entity with these keys.
    pub fn new(table: TableClient, partition_key: impl Into<String>, row_key: impl Into<String>) -> Self {
        Self { table, partition_key: partition_key.into(), row_key: row_key.into() }
    }

    fn operation(&self, ids: &[String], etag: Option<&Etag>) -> Result<TableOperation> {
        let entity = Entity::new(&self.partition_key, &self.row_key).with(IDS, render(ids)?);
        Ok(match etag {
            Some(etag) => TableOperation::replace(&entity).if_match(etag.clone()),
            None => TableOperation::insert(&entity),
        })
    }
}

impl IndexList<EntityList> {
    /// Adds an id and applies operations of the same partition, such as the insert of its entity, in one transaction.
    pub async fn add_with(&self, id: &str, operations: &[TableOperation]) -> Result<()> {
        self.change_with(|ids| insert(ids, id), operations).await
    }

    /// Removes an id and applies operations of the same partition in one transaction.
    pub async fn remove_with(&self, id: &str, operations: &[TableOperation]) -> Result<()> {
        self.change_with(|ids| remove(ids, id), operations).await
    }

    /// Writes the list even if it is the same, which detects concurrent changes.
    async fn change_with(
        &self,
        change: impl Fn(&mut Vec<String>) -> bool,
        operations: &[TableOperation],
    ) -> Result<()> {
        let mut attempts = Attempts::new("the list");
        loop {
            let (mut ids, etag) = self.store.read().await?.unzip();
            let ids = ids.get_or_insert_default();
            change(ids);
            let list = self.store.operation(ids, etag.as_ref())?;
            let transaction = self.store.table.transaction().operation(list).operations(operations.iter().cloned());
            match transaction.commit().await {
                // Only a conflict of the list, the first operation, is retried. If an earlier attempt may have been
                // applied, the caller has to decide.
                Err(error) if error.failed_index() == Some(0) && !error.is_ambiguous() && is_conflict(&error) => {}
                outcome => return outcome.map(drop),
            }
            attempts.retry().await?;
        }
    }
}

impl ListStore for EntityList {
    async fn read(&self) -> Result<Option<(Vec<String>, Etag)>> {
        let Some(entity) = self.table.get_if_exists::<Entity>(&self.partition_key, &self.row_key).await? else {
            return Ok(None);
        };
        let text: String = entity.property(IDS)?;
        let etag = entity.etag.ok_or_else(|| Error::InvalidResponse("it has no ETag".to_owned()))?;
        Ok(Some((parse(text.as_bytes())?, etag)))
    }

    async fn write(&self, ids: &[String], etag: Option<&Etag>) -> Result<Option<()>> {
        let operation = self.operation(ids, etag)?;
        unless_conflict(self.table.transaction().operation(operation).commit().await.map(drop))
    }
}

/// A list in a blob, which is read and written as a whole.
#[derive(Debug, Clone)]
pub struct BlobList {
    blob: BlobClient,
}

impl BlobList {
    /// Returns the list in a blob.
    pub fn new(blob: BlobClient) -> Self {
        Self { blob }
    }
}

impl ListStore for BlobList {
    async fn read(&self) -> Result<Option<(Vec<String>, Etag)>> {
        let Some(content) = self.blob.download_if_exists().await? else { return Ok(None) };
        Ok(Some((parse(&content.content)?, content.etag)))
    }

    async fn write(&self, ids: &[String], etag: Option<&Etag>) -> Result<Option<()>> {
        let upload = self.blob.upload(Bytes::from(render(ids)?)).content_type("application/json");
        let upload = match etag {
            Some(etag) => upload.if_match(etag.clone()),
            None => upload.if_not_exists(),
        };
        unless_conflict(upload.await.map(drop))
    }
}

fn render(ids: &[String]) -> Result<String> {
    serde_json::to_string(ids).map_err(|error| Error::Invalid(error.to_string()))
}

fn parse(text: &[u8]) -> Result<Vec<String>> {
    serde_json::from_slice(text).map_err(|error| Error::InvalidResponse(format!("the list of ids is invalid: {error}")))
}
