//! Index entities in another partition or in blobs: lists of keys, which are consistent eventually.

use futures_util::{future, stream};
use tablerock_client::table::BoxStream;
use tablerock_client::{
    ContainerClient, Entity, Error, QueueClient, Result, StreamExt as _, TableClient, TableEntity, TryStreamExt as _,
};

use crate::index_list::IndexList;
use crate::indexed_table::{EntryState, IndexStore, IndexedTable};
use crate::indexes::IndexValue;
use crate::keys::{check_length, compound, parts};
use crate::list_cache::ListCache;
use crate::list_stores::{BlobList, EntityList, ListStore};
use crate::sealed::Sealed;

/// The number of entities of a list that are read concurrently.
const READS_CONCURRENCY: usize = 8;
/// The longest name of a blob.
const BLOB_NAME_MAX: usize = 1024;

/// A table with lists of keys, which are stale for three minutes, by default, if a writer dies.
///
/// The lists are in another table ([`TableLists`]) or in blobs ([`BlobLists`]), one for each value of an index. A search
/// reads the list and each of its entities, and skips those that no longer have the value.
///
/// If list and entities are in one partition, [`IndexList::add_with`] changes both in one transaction, without a queue.
///
/// ```no_run
/// # use tablerock_client::{ContainerClient, Etag, QueueServiceClient, TableClient, TableEntity};
/// use tablerock_patterns::{BlobLists, ListedEntities};
///
/// #[derive(TableEntity)]
/// struct Employee {
///     #[entity(partition_key)]
///     department: String,
///     #[entity(row_key)]
///     id: String,
///     last_name: String,
///     #[entity(etag)]
///     etag: Option<Etag>,
/// }
///
/// # async fn example(people: TableClient, lists: ContainerClient, queues: QueueServiceClient, jones: Employee)
/// #     -> tablerock_client::Result<()> {
/// let (queue, poison) = (queues.queue("lists"), queues.queue("lists-poison"));
/// let people = ListedEntities::new(people, BlobLists::new(lists), queue, poison)
///     .index("last_name", |employee: &Employee| Some(employee.last_name.clone()));
/// people.insert(&jones).await?;
/// let joneses: Vec<Employee> = people.find_by("last_name", "Jones").all().await?;
/// # Ok(()) }
/// ```
pub type ListedEntities<T, L> = IndexedTable<T, Lists<L>>;

/// A place of lists, with a name for each: [`TableLists`] or [`BlobLists`]. Only the types of this crate implement it.
pub trait ListPlace: Sealed + Clone + Send + Sync + 'static {
    /// The storage of one list.
    type List: ListStore + 'static;

    /// Creates the place unless it exists.
    fn create_if_not_exists(&self) -> impl Future<Output = Result<()>> + Send;

    /// Returns the list of a value.
    fn list(&self, at: &IndexValue) -> Self::List;

    /// Checks that a value can have a list.
    fn check(&self, at: &IndexValue) -> Result<()>;

    /// Streams the values that have a list.
    fn values(&self) -> BoxStream<IndexValue>;
}

/// Lists in a table of their own: the PartitionKey is the index, and the RowKey the value.
#[derive(Debug, Clone)]
pub struct TableLists {
    table: TableClient,
}

impl TableLists {
    /// Returns the lists of a table, which has nothing else.
    pub fn new(table: TableClient) -> Self {
        Self { table }
    }
}

impl ListPlace for TableLists {
    type List = EntityList;

    async fn create_if_not_exists(&self) -> Result<()> {
        self.table.create_if_not_exists().await.map(drop)
    }

    fn list(&self, at: &IndexValue) -> EntityList {
        EntityList::new(self.table.clone(), compound([&at.index]), compound([&at.value]))
    }

    fn check(&self, at: &IndexValue) -> Result<()> {
        check_length(&compound([&at.index]), &format!("the PartitionKey of the list for {at}"))?;
        check_length(&compound([&at.value]), &format!("the RowKey of the list for {at}"))
    }

    fn values(&self) -> BoxStream<IndexValue> {
        let lists = self.table.query::<Entity>().select_properties(&["Timestamp"]).stream();
        lists.and_then(|list| future::ready(value_at(&list.partition_key, &list.row_key))).boxed()
    }
}

/// Lists in blobs of a container: the name is the index, a slash and the value.
#[derive(Debug, Clone)]
pub struct BlobLists {
    container: ContainerClient,
}

impl BlobLists {
    /// Returns the lists of a container, which has nothing else.
    pub fn new(container: ContainerClient) -> Self {
        Self { container }
    }
}

fn blob_name(at: &IndexValue) -> String {
    format!("{}/{}", compound([&at.index]), compound([&at.value]))
}

impl ListPlace for BlobLists {
    type List = BlobList;

    async fn create_if_not_exists(&self) -> Result<()> {
        self.container.create_if_not_exists().await.map(drop)
    }

    fn list(&self, at: &IndexValue) -> BlobList {
        BlobList::new(self.container.blob(blob_name(at)))
    }

    fn check(&self, at: &IndexValue) -> Result<()> {
        let characters = blob_name(at).chars().count();
        if characters > BLOB_NAME_MAX {
            return Err(Error::Invalid(format!(
                "the blob of the list for {at} has a name of {characters} characters, more than {BLOB_NAME_MAX}"
            )));
        }
        Ok(())
    }

    fn values(&self) -> BoxStream<IndexValue> {
        let blobs = self.container.list_blobs().stream();
        let values = blobs.and_then(|blob| {
            let (index, value) = blob.name.split_once('/').unwrap_or_default();
            future::ready(value_at(index, value))
        });
        values.boxed()
    }
}

fn value_at(index: &str, value: &str) -> Result<IndexValue> {
    let only = |key: &str| match parts(key)?.as_slice() {
        [part] if !part.is_empty() => Ok(part.clone()),
        _ => Err(Error::InvalidResponse(format!("{index:?}, {value:?} is not the name of a list"))),
    };
    Ok(IndexValue { index: only(index)?, value: only(value)? })
}

/// The lists of [`ListedEntities`].
#[derive(Debug, Clone)]
pub struct Lists<L> {
    place: L,
    cache: Option<ListCache>,
}

impl<T: TableEntity + Send + 'static, L: ListPlace> IndexedTable<T, Lists<L>> {
    /// Returns a table without indexes, with lists in a place. Intents are in a queue, and failed ones in a poison
    /// queue.
    pub fn new(table: TableClient, place: L, queue: QueueClient, poison: QueueClient) -> Self {
        Self::with_store(table, Lists { place, cache: None }, queue, poison)
    }

    /// Returns the list of a value, for reading. An id is a [compound](crate::keys::compound) of the PartitionKey and
    /// the RowKey of an entity.
    pub fn list(&self, index: &str, value: impl Into<String>) -> IndexList<L::List> {
        self.store.list(&IndexValue::new(index, value))
    }
}

impl<L: ListPlace> Lists<L> {
    fn list(&self, at: &IndexValue) -> IndexList<L::List> {
        IndexList::new(self.place.list(at))
    }
}

/// Returns the keys of an id.
fn entity_keys(id: &str) -> Result<(String, String)> {
    match <[String; 2]>::try_from(parts(id)?) {
        Ok([partition_key, row_key]) => Ok((partition_key, row_key)),
        Err(_) => Err(Error::InvalidResponse(format!("the id {id:?} is not a PartitionKey and a RowKey"))),
    }
}

impl<L: ListPlace> IndexStore for Lists<L> {
    async fn create_if_not_exists(&self) -> Result<()> {
        self.place.create_if_not_exists().await
    }

    fn check(&self, at: &IndexValue, _: &Entity) -> Result<()> {
        self.place.check(at)
    }

    async fn put(&self, at: &IndexValue, entity: &Entity) -> Result<()> {
        self.list(at).add(&compound([&entity.partition_key, &entity.row_key])).await.map(drop)
    }

    async fn put_all(&self, at: &IndexValue, entities: &[Entity]) -> Result<()> {
        let ids = entities.iter().map(|entity| compound([&entity.partition_key, &entity.row_key]));
        self.list(at).add_all(&ids.collect::<Vec<_>>()).await.map(drop)
    }

    async fn remove(&self, at: &IndexValue, partition_key: &str, row_key: &str) -> Result<()> {
        self.list(at).remove(&compound([partition_key, row_key])).await.map(drop)
    }

    fn for_checks(&self) -> Self {
        Self { place: self.place.clone(), cache: Some(ListCache::default()) }
    }

    async fn state(&self, at: &IndexValue, entity: &Entity) -> Result<EntryState> {
        let id = compound([&entity.partition_key, &entity.row_key]);
        if self.cache.as_ref().is_some_and(|cache| cache.contains(at, &id)) {
            return Ok(EntryState::Current);
        }
        let ids = self.list(at).ids().await?;
        let is_listed = ids.binary_search(&id).is_ok();
        if let Some(cache) = &self.cache {
            cache.insert(at, ids);
        }
        Ok(if is_listed { EntryState::Current } else { EntryState::Missing })
    }

    fn entries(&self) -> BoxStream<(IndexValue, (String, String))> {
        let store = self.clone();
        let lists = self.place.values().and_then(move |at| {
            let list = store.list(&at);
            async move { Ok((list.ids().await?, at)) }
        });
        let entries =
            lists.map_ok(|(ids, at)| stream::iter(ids.into_iter().map(move |id| Ok((at.clone(), entity_keys(&id)?)))));
        entries.try_flatten().boxed()
    }

    fn find<T: TableEntity + Send + 'static>(&self, table: &TableClient, at: IndexValue) -> BoxStream<T> {
        let (list, table) = (self.list(&at), table.clone());
        let ids = stream::once(async move { list.ids().await });
        let ids = ids.map_ok(|ids| stream::iter(ids.into_iter().map(Ok))).try_flatten();
        let found = ids.map(move |id: Result<String>| {
            let table = table.clone();
            async move {
                let (partition_key, row_key) = entity_keys(&id?)?;
                let entity: Option<Entity> = table.get_if_exists(&partition_key, &row_key).await?;
                Ok(entity.map(T::from_entity).transpose()?)
            }
        });
        found.buffered(READS_CONCURRENCY).try_filter_map(|found| future::ready(Ok(found))).boxed()
    }
}
