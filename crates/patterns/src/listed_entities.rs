//! Index entities in another partition or in a blob: lists of RowKeys, which are consistent eventually.

use std::fmt;
use std::sync::Arc;

use tablerock_client::{Entity, QueueClient, Result, TableClient};

use crate::index_list::{IndexList, ListStore};
use crate::indexed_table::{Index, IndexedTable};

type ListNames = dyn Fn(&Entity) -> Vec<String> + Send + Sync;
type OpenList<S> = dyn Fn(&str) -> S + Send + Sync;

/// A table with lists of RowKeys in other partitions or in blobs. A list may be stale until an intent is finished.
///
/// If list and entities are in one partition, [`IndexList::add_with`] changes both in one transaction, without a queue.
///
/// ```no_run
/// # use tablerock_client::{ContainerClient, Entity, QueueServiceClient, TableClient};
/// # use tablerock_patterns::{BlobList, ListedEntities};
/// # async fn example(people: TableClient, lists: ContainerClient, queues: QueueServiceClient)
/// #     -> tablerock_client::Result<()> {
/// let people = ListedEntities::new(
///     people,
///     queues.queue("lists"),
///     queues.queue("lists-poison"),
///     |entity| vec![format!("Sales/{}", entity.property::<String>("LastName").unwrap_or_default())],
///     move |name| BlobList::new(lists.blob(name)),
/// );
/// people.put(&Entity::new("Sales", "000123").with("LastName", "Jones")).await?;
/// assert_eq!(people.list("Sales/Jones").ids().await?, ["000123"]);
/// # Ok(()) }
/// ```
pub type ListedEntities<S> = IndexedTable<Lists<S>>;

/// The index of [`ListedEntities`].
pub struct Lists<S> {
    names: Arc<ListNames>,
    open: Arc<OpenList<S>>,
}

impl<S: ListStore> IndexedTable<Lists<S>> {
    /// Returns a table with lists. `names` returns the names of an entity's lists, and `open` the list with a name.
    /// Intents are in a queue, and failed ones in a poison queue.
    pub fn new(
        table: TableClient,
        queue: QueueClient,
        poison: QueueClient,
        names: impl Fn(&Entity) -> Vec<String> + Send + Sync + 'static,
        open: impl Fn(&str) -> S + Send + Sync + 'static,
    ) -> Self {
        Self::with_index(table, queue, poison, Lists { names: Arc::new(names), open: Arc::new(open) })
    }

    /// Returns the list with a name, for reading.
    pub fn list(&self, name: &str) -> IndexList<S> {
        self.index.list(name)
    }
}

impl<S: ListStore> Lists<S> {
    fn list(&self, name: &str) -> IndexList<S> {
        IndexList::new((self.open)(name))
    }
}

impl<S: ListStore> Index for Lists<S> {
    type Key = String;

    fn keys(&self, entity: &Entity) -> Vec<String> {
        (self.names)(entity)
    }

    async fn put(&self, name: &String, entity: &Entity) -> Result<()> {
        self.list(name).add(&entity.row_key).await.map(drop)
    }

    async fn remove(&self, name: &String, row_key: &str) -> Result<()> {
        self.list(name).remove(row_key).await.map(drop)
    }
}

impl<S> fmt::Debug for Lists<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lists").finish_non_exhaustive()
    }
}

// A derived Clone would require S: Clone.
impl<S> Clone for Lists<S> {
    fn clone(&self) -> Self {
        Self { names: Arc::clone(&self.names), open: Arc::clone(&self.open) }
    }
}
