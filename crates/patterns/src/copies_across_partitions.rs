//! The inter-partition secondary index: copies of an entity in other partitions, which are consistent eventually.

use futures_util::future;
use tablerock_client::table::BoxStream;
use tablerock_client::{
    Entity, Error, QueueClient, Result, StreamExt as _, TableClient, TableEntity, TryStreamExt as _,
};

use crate::copies;
use crate::indexed_table::{EntryState, IndexStore, IndexedTable};
use crate::indexes::IndexValue;
use crate::keys::{self, check_length, compound};
use crate::optimistic::{Attempts, unless_conflict};
use crate::writes::read_properties;

/// A table with copies of each entity in other partitions, which are stale for three minutes, by default, if a writer
/// dies.
///
/// The entity itself is always current. A search by an index is one query of one partition: the copies have all
/// properties. It returns entities with their own keys, and with the ETag of the copied version: a replace of a stale
/// copy fails with 412. Several entities can have the same value.
///
/// The copy for the value `v` of the index `i` has the PartitionKey `i_v` and both keys of the entity as its RowKey. It
/// is in the same table, with additional properties that begin with `Copy`.
///
/// ```no_run
/// # use tablerock_client::{Etag, QueueServiceClient, TableClient, TableEntity};
/// use tablerock_patterns::CopiesAcrossPartitions;
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
/// # async fn example(people: TableClient, queues: QueueServiceClient, jones: Employee) -> tablerock_client::Result<()> {
/// let people = CopiesAcrossPartitions::new(people, queues.queue("copies"), queues.queue("copies-poison"))
///     .index("email", |employee: &Employee| employee.email.clone());
/// people.insert(&jones).await?;
/// if let Some(mut jones) = people.find_by("email", "jonesj@contoso.com").first().await? {
///     jones.email = Some("jun@contoso.com".into());
///     people.replace(&jones).await?; // moves the copy; fails with 412 if another writer was faster
/// }
/// # Ok(()) }
/// ```
pub type CopiesAcrossPartitions<T = Entity> = IndexedTable<T, Copies>;

/// The copies of [`CopiesAcrossPartitions`].
#[derive(Debug, Clone)]
pub struct Copies {
    table: TableClient,
}

impl<T: TableEntity + Send + 'static> IndexedTable<T, Copies> {
    /// Returns a table without indexes. Intents are in a queue, and failed ones in a poison queue.
    pub fn new(table: TableClient, queue: QueueClient, poison: QueueClient) -> Self {
        let copies = Copies { table: table.clone() };
        Self::with_store(table, copies, queue, poison)
    }
}

fn copy_keys(at: &IndexValue, partition_key: &str, row_key: &str) -> (String, String) {
    (compound([&at.index, &at.value]), compound([partition_key, row_key]))
}

impl IndexStore for Copies {
    /// The copies are in the table itself.
    async fn create_if_not_exists(&self) -> Result<()> {
        Ok(())
    }

    fn check(&self, at: &IndexValue, entity: &Entity) -> Result<()> {
        let (partition_key, row_key) = copy_keys(at, &entity.partition_key, &entity.row_key);
        check_length(&partition_key, &format!("the PartitionKey of the copy for {at}"))?;
        check_length(&row_key, &format!("the RowKey of the copy for {at}"))
    }

    async fn put(&self, at: &IndexValue, entity: &Entity) -> Result<()> {
        let (partition_key, row_key) = copy_keys(at, &entity.partition_key, &entity.row_key);
        let copy = copies::across(entity, partition_key, row_key);
        let mut attempts = Attempts::new("the copy");
        loop {
            // A slow writer must not overwrite the copy of a later version.
            let stored = read_properties(&self.table, (&copy.partition_key, &copy.row_key), &copies::OWN).await?;
            let written = match stored {
                None => self.table.insert(&copy).await,
                Some(stored) if copies::is_up_to_date(&stored, entity)? => return Ok(()),
                Some(Entity { etag: Some(etag), .. }) => self.table.replace(&copy).if_match(etag).await,
                Some(_) => return Err(Error::InvalidResponse("the copy has no ETag".to_owned())),
            };
            if unless_conflict(written)?.is_some() {
                return Ok(());
            }
            attempts.retry().await?;
        }
    }

    async fn remove(&self, at: &IndexValue, partition_key: &str, row_key: &str) -> Result<()> {
        let (partition_key, row_key) = copy_keys(at, partition_key, row_key);
        self.table.delete_by_keys(partition_key, row_key).any_version().if_exists().await.map(drop)
    }

    async fn state(&self, at: &IndexValue, entity: &Entity) -> Result<EntryState> {
        let (partition_key, row_key) = copy_keys(at, &entity.partition_key, &entity.row_key);
        let Some(copy) = self.table.get_if_exists::<Entity>(&partition_key, &row_key).await? else {
            return Ok(EntryState::Missing);
        };
        let is_current = copies::original_etag(&copy)? == entity.etag && copies::is_equal(&copy, entity);
        Ok(if is_current { EntryState::Current } else { EntryState::Stale })
    }

    fn entries(&self) -> BoxStream<(IndexValue, (String, String))> {
        let copies = self.table.query::<Entity>().stream();
        copies.try_filter_map(|entity| future::ready(entry(&entity))).boxed()
    }

    fn find<T: TableEntity + Send + 'static>(&self, table: &TableClient, at: IndexValue) -> BoxStream<T> {
        let copies = table.query::<Entity>().partition(compound([&at.index, &at.value])).stream();
        let originals = copies.and_then(|copy| {
            let etag = copies::original_etag(&copy);
            future::ready(etag.and_then(|etag| copies::original(copy, etag)))
        });
        originals.boxed()
    }
}

/// Returns the index entry that an entity of the table is; `None` for an entity that is not a copy.
fn entry(entity: &Entity) -> Result<Option<(IndexValue, (String, String))>> {
    if !copies::is_copy(entity) {
        return Ok(None);
    }
    let mut parts = keys::parts(&entity.partition_key)?.into_iter();
    let at = IndexValue { index: parts.next().unwrap_or_default(), value: parts.next().unwrap_or_default() };
    Ok(Some((at, copies::original_keys(entity)?)))
}
