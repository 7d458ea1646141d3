//! Index entities in another partition or in a blob: the list and what it lists are kept in agreement eventually.

use std::fmt;
use std::sync::Arc;

use tablerock_client::{Entity, QueueClient, Result, TableClient, TableEntity};

use crate::followers::{Followed, Follower};
use crate::index_list::{IndexList, ListStore};
use crate::intents::{Intents, Resumed};

type ListNames = dyn Fn(&Entity) -> Vec<String> + Send + Sync;
type OpenList<S> = dyn Fn(&str) -> S + Send + Sync;

/// Writes an entity and then the lists that its RowKey stands in, with an intent in a queue around both. A writer that
/// dies in between leaves a list that lags behind until a worker has resumed the intent.
///
/// Where list and entities lie in one partition, [`IndexList::add_together`] changes both at once and needs no queue.
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
pub struct ListedEntities<S: ListStore> {
    followed: Followed<Lists<S>>,
}

struct Lists<S> {
    names: Arc<ListNames>,
    open: Arc<OpenList<S>>,
}

impl<S: ListStore> ListedEntities<S> {
    /// A table, queues for intents, the names of the lists that an entity stands in by its properties, and where the list
    /// of a name is.
    pub fn new(
        table: TableClient,
        queue: QueueClient,
        poison: QueueClient,
        names: impl Fn(&Entity) -> Vec<String> + Send + Sync + 'static,
        open: impl Fn(&str) -> S + Send + Sync + 'static,
    ) -> Self {
        let lists = Lists { names: Arc::new(names), open: Arc::new(open) };
        Self { followed: Followed::new(table, queue, poison, lists) }
    }

    /// The same with other settings for its queue.
    #[must_use]
    pub fn with_intents(mut self, change: impl FnOnce(Intents<()>) -> Intents<()>) -> Self {
        self.followed.intents = self.followed.intents.map_settings(change);
        self
    }

    /// Creates the queues unless they exist.
    pub async fn create_queues_if_not_exist(&self) -> Result<()> {
        self.followed.intents.create_if_not_exists().await
    }

    /// The table, for reading.
    pub fn table(&self) -> &TableClient {
        &self.followed.table
    }

    /// The list of a name, for reading.
    pub fn list(&self, name: &str) -> IndexList<S> {
        self.followed.follower.list(name)
    }

    /// Adds an entity or replaces it, and then has its RowKey in the lists where it belongs and in no others.
    pub async fn put(&self, entity: &impl TableEntity) -> Result<()> {
        self.followed.put(&entity.to_entity()?).await
    }

    /// Deletes an entity, if it exists, and then its RowKey from its lists.
    pub async fn delete(&self, partition_key: &str, row_key: &str) -> Result<()> {
        self.followed.delete(partition_key, row_key).await
    }

    /// Resumes what a writer has left.
    pub async fn work_once(&self) -> Result<Resumed> {
        self.followed.work_once().await
    }
}

impl<S: ListStore> Lists<S> {
    fn list(&self, name: &str) -> IndexList<S> {
        IndexList::new((self.open)(name))
    }
}

impl<S: ListStore> Follower for Lists<S> {
    type Place = String;

    fn places(&self, entity: &Entity) -> Vec<String> {
        (self.names)(entity)
    }

    async fn put(&self, name: &String, entity: &Entity) -> Result<()> {
        self.list(name).add(&entity.row_key).await.map(drop)
    }

    async fn clear(&self, name: &String, row_key: &str) -> Result<()> {
        self.list(name).remove(row_key).await.map(drop)
    }
}

// Whatever a list's store is, the functions that name and open lists are shared.
impl<S: ListStore> Clone for ListedEntities<S> {
    fn clone(&self) -> Self {
        let Followed { table, intents, follower: Lists { names, open } } = &self.followed;
        let follower = Lists { names: names.clone(), open: open.clone() };
        Self { followed: Followed { table: table.clone(), intents: intents.clone(), follower } }
    }
}

impl<S: ListStore> fmt::Debug for ListedEntities<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Followed { table, intents, .. } = &self.followed;
        let mut shown = f.debug_struct("ListedEntities");
        shown.field("table", &table.name()).field("intents", intents).finish_non_exhaustive()
    }
}
