//! Index entities: a list of ids for a value, in an entity or in a blob, with optimistic concurrency.

use tablerock_client::{Etag, Result, TableOperation};

use crate::list_stores::{EntityList, ListStore};
use crate::optimistic::{Attempts, is_conflict};

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

    /// Adds several ids in one write. Returns whether any was new.
    pub async fn add_all(&self, new: &[String]) -> Result<bool> {
        self.change(|ids| new.iter().filter(|id| insert(ids, id)).count() > 0).await
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

impl IndexList<EntityList> {
    /// Adds an id and applies operations of the same partition, such as the insert of its entity, in one transaction.
    /// Returns the ETags of the operations; a delete has none.
    pub async fn add_with(&self, id: &str, operations: &[TableOperation]) -> Result<Vec<Option<Etag>>> {
        self.change_with(|ids| insert(ids, id), operations).await
    }

    /// Removes an id and applies operations of the same partition in one transaction. Returns the ETags of the
    /// operations; a delete has none.
    pub async fn remove_with(&self, id: &str, operations: &[TableOperation]) -> Result<Vec<Option<Etag>>> {
        self.change_with(|ids| remove(ids, id), operations).await
    }

    /// Writes the list even if it is the same, which detects concurrent changes.
    async fn change_with(
        &self,
        change: impl Fn(&mut Vec<String>) -> bool,
        operations: &[TableOperation],
    ) -> Result<Vec<Option<Etag>>> {
        let mut attempts = Attempts::new("the list");
        loop {
            let (mut ids, etag) = self.store.read().await?.unzip();
            let ids = ids.get_or_insert_default();
            change(ids);
            let list = self.store.operation(ids, etag.as_ref())?;
            let transaction = self.store.table().transaction().operation(list).operations(operations.iter().cloned());
            match transaction.commit().await {
                // Only a conflict of the list, the first operation, is retried. If an earlier attempt may have been
                // applied, the caller has to decide.
                Err(error) if error.failed_index() == Some(0) && !error.is_ambiguous() && is_conflict(&error) => {}
                outcome => return outcome.map(|etags| etags.into_iter().skip(1).collect()),
            }
            attempts.retry().await?;
        }
    }
}
