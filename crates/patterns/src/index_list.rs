//! Index entities: a list of ids under the value that they are looked up by, in an entity or in a blob, changed by
//! optimistic retry.

use bytes::Bytes;
use tablerock_client::{BlobClient, Entity, Error, Etag, Result, TableClient, Write};

use crate::optimistic::{Tries, is_lost, unless_lost};

/// Where the ids stand in an index entity.
const IDS: &str = "Ids";

/// Where a list lies.
pub trait ListStore: Send + Sync {
    /// The ids and the version they were read in; `None` if there is no list yet.
    fn read(&self) -> impl Future<Output = Result<Option<(Vec<String>, Etag)>>> + Send;

    /// Puts ids in the place of the version that was read, or of none. `None` if it has changed since.
    fn write(&self, ids: &[String], over: Option<&Etag>) -> impl Future<Output = Result<Option<()>>> + Send;
}

/// A set of ids, in order: all employees whose last name is Jones. Many may change it at once.
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
    /// The list in a place.
    pub fn new(store: S) -> Self {
        Self { store }
    }

    /// All ids; none if there is no list.
    pub async fn ids(&self) -> Result<Vec<String>> {
        Ok(self.store.read().await?.map(|(ids, _)| ids).unwrap_or_default())
    }

    /// Adds an id. Returns whether it was missing.
    pub async fn add(&self, id: &str) -> Result<bool> {
        self.change(|ids| insert(ids, id)).await
    }

    /// Removes an id. Returns whether it was there.
    pub async fn remove(&self, id: &str) -> Result<bool> {
        self.change(|ids| remove(ids, id)).await
    }

    async fn change(&self, change: impl Fn(&mut Vec<String>) -> bool) -> Result<bool> {
        let mut tries = Tries::to_change("the list");
        loop {
            let (mut ids, etag) = self.store.read().await?.unzip();
            let ids = ids.get_or_insert_default();
            if !change(ids) {
                return Ok(false);
            }
            if self.store.write(ids, etag.as_ref()).await?.is_some() {
                return Ok(true);
            }
            tries.lost().await?;
        }
    }
}

fn insert(ids: &mut Vec<String>, id: &str) -> bool {
    match ids.binary_search_by(|known| known.as_str().cmp(id)) {
        Ok(_) => false,
        Err(place) => {
            ids.insert(place, id.to_owned());
            true
        }
    }
}

fn remove(ids: &mut Vec<String>, id: &str) -> bool {
    let before = ids.len();
    ids.retain(|known| known != id);
    ids.len() < before
}

/// A list in an entity: some thousand short ids fit into one, then the service says that the property is too large and
/// a [`BlobList`] is the better place.
#[derive(Debug, Clone)]
pub struct EntityList {
    table: TableClient,
    partition_key: String,
    row_key: String,
}

impl EntityList {
    /// The list at these keys.
    pub fn new(table: TableClient, partition_key: impl Into<String>, row_key: impl Into<String>) -> Self {
        Self { table, partition_key: partition_key.into(), row_key: row_key.into() }
    }

    fn change(&self, ids: &[String], over: Option<&Etag>) -> Result<Write> {
        let entity = Entity::new(&self.partition_key, &self.row_key).with(IDS, render(ids)?);
        Ok(match over {
            Some(etag) => Write::replace(&entity).if_match(etag.clone()),
            None => Write::insert(&entity),
        })
    }
}

impl IndexList<EntityList> {
    /// Adds an id together with other writes in the same partition, the employee itself above all: all or none.
    pub async fn add_together(&self, id: &str, writes: &[Write]) -> Result<()> {
        self.change_together(|ids| insert(ids, id), writes).await
    }

    /// Removes an id together with other writes in the same partition.
    pub async fn remove_together(&self, id: &str, writes: &[Write]) -> Result<()> {
        self.change_together(|ids| remove(ids, id), writes).await
    }

    /// Writes the list even if it stays the same, which shows that nobody has changed it meanwhile.
    async fn change_together(&self, change: impl Fn(&mut Vec<String>) -> bool, writes: &[Write]) -> Result<()> {
        let mut tries = Tries::to_change("the list");
        loop {
            let (mut ids, etag) = self.store.read().await?.unzip();
            let ids = ids.get_or_insert_default();
            change(ids);
            let list = self.store.change(ids, etag.as_ref())?;
            let group = self.store.table.transaction().write(list).writes(writes.iter().cloned());
            match group.commit().await {
                // Only the list, which is the first, may have lost to another writer; the others fail for themselves. If
                // it may have lost to an earlier try of this very group, only the caller can tell.
                Err(error) if error.failed_index() == Some(0) && !error.is_ambiguous() && is_lost(&error) => {}
                outcome => return outcome.map(drop),
            }
            tries.lost().await?;
        }
    }
}

impl ListStore for EntityList {
    async fn read(&self) -> Result<Option<(Vec<String>, Etag)>> {
        let Some(entity) = self.table.get_if_exists::<Entity>(&self.partition_key, &self.row_key).await? else {
            return Ok(None);
        };
        let text: String = entity.property(IDS)?;
        let etag = entity.etag.ok_or_else(|| Error::Answer("it has no ETag".to_owned()))?;
        Ok(Some((parse(text.as_bytes())?, etag)))
    }

    async fn write(&self, ids: &[String], over: Option<&Etag>) -> Result<Option<()>> {
        let change = self.change(ids, over)?;
        unless_lost(self.table.transaction().write(change).commit().await.map(drop))
    }
}

/// A list in a blob, of any length that one wants to read and write whole.
#[derive(Debug, Clone)]
pub struct BlobList {
    blob: BlobClient,
}

impl BlobList {
    /// The list in this blob.
    pub fn new(blob: BlobClient) -> Self {
        Self { blob }
    }
}

impl ListStore for BlobList {
    async fn read(&self) -> Result<Option<(Vec<String>, Etag)>> {
        let Some(content) = self.blob.get_if_exists().await? else { return Ok(None) };
        Ok(Some((parse(&content.content)?, content.etag)))
    }

    async fn write(&self, ids: &[String], over: Option<&Etag>) -> Result<Option<()>> {
        let put = self.blob.put(Bytes::from(render(ids)?)).content_type("application/json");
        let put = match over {
            Some(etag) => put.if_match(etag.clone()),
            None => put.if_absent(),
        };
        unless_lost(put.await.map(drop))
    }
}

fn render(ids: &[String]) -> Result<String> {
    serde_json::to_string(ids).map_err(|error| Error::Invalid(error.to_string()))
}

fn parse(text: &[u8]) -> Result<Vec<String>> {
    serde_json::from_slice(text).map_err(|error| Error::Answer(format!("the list of ids: {error}")))
}
