//! Queries: which entities, which of their properties, and as what.

use tablerock_protocol::limits;

use super::TableClient;
use super::resolver::{As, Resolver};
use crate::{Filter, FromEntity, partition_key, row_key};

/// A query that is being put together, and is then read as a [`stream`](Self::stream), in [`pages`](Self::pages), or
/// one [`segment`](Self::segment) at a time. All conditions hold together.
///
/// ```
/// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
/// # example::with_people(async |people| {
/// use tablerock_client::{TableEntity, TryStreamExt};
///
/// #[derive(TableEntity)]
/// #[entity(rename_all = "PascalCase")]
/// struct Employee {
///     #[entity(partition_key)]
///     department: String,
///     #[entity(row_key)]
///     id: String,
///     age: i32,
///     email: Option<String>,
/// }
///
/// #[derive(TableEntity)]
/// #[entity(rename_all = "PascalCase")]
/// struct EmailOnly {
///     #[entity(row_key)]
///     id: String,
///     email: Option<String>,
/// }
///
/// # let mut seen = 0;
/// let mut emails = people
///     .query::<Employee>()
///     .partition("Sales")
///     .row_between("00001", "00003")
///     .filter(Employee::age().gt(30))
///     .select::<EmailOnly>()
///     .stream();
/// while let Some(EmailOnly { id, email }) = emails.try_next().await? {
///     println!("{id}: {email:?}");
/// #   seen += 1;
/// }
/// # assert_eq!(seen, 1);
/// # Ok(()) });
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is sent before it is read"]
pub struct Query<R> {
    pub(super) table: TableClient,
    pub(super) filter: Option<Filter>,
    /// The value of `$select`.
    pub(super) select: Option<String>,
    pub(super) page_size: usize,
    pub(super) limit: usize,
    pub(super) resolver: R,
}

impl TableClient {
    /// A query for all entities, to be narrowed down.
    pub fn query<T: FromEntity>(&self) -> Query<As<T>> {
        Query {
            table: self.clone(),
            filter: None,
            select: None,
            page_size: limits::PAGE_ITEMS_MAX,
            limit: usize::MAX,
            resolver: As::NEW,
        }
    }
}

impl<R> Query<R> {
    /// Only entities that a filter holds for.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(match self.filter.take() {
            Some(earlier) => earlier.and(filter),
            None => filter,
        });
        self
    }

    /// Only entities of one partition.
    pub fn partition(self, key: impl AsRef<str>) -> Self {
        self.filter(partition_key().eq(key.as_ref()))
    }

    /// Only entities of the partitions from one key up to another, which is not included.
    pub fn partition_between(self, from: impl AsRef<str>, to: impl AsRef<str>) -> Self {
        self.filter(partition_key().between(from.as_ref(), to.as_ref()))
    }

    /// Only entities of partitions whose keys begin so.
    pub fn partition_prefix(self, prefix: impl AsRef<str>) -> Self {
        self.filter(partition_key().prefix(prefix))
    }

    /// Only entities with this RowKey.
    pub fn row(self, key: impl AsRef<str>) -> Self {
        self.filter(row_key().eq(key.as_ref()))
    }

    /// Only entities with RowKeys from one key up to another, which is not included.
    pub fn row_between(self, from: impl AsRef<str>, to: impl AsRef<str>) -> Self {
        self.filter(row_key().between(from.as_ref(), to.as_ref()))
    }

    /// Only entities whose RowKeys begin so.
    pub fn row_prefix(self, prefix: impl AsRef<str>) -> Self {
        self.filter(row_key().prefix(prefix))
    }

    /// Reads another, smaller type, and has the service leave out what it does not need. Keys, Timestamp and ETag
    /// come in any case: for types without fields for them there is [`Keyed`](crate::Keyed).
    pub fn select<T: FromEntity>(self) -> Query<As<T>> {
        let select = T::SELECT.map(super::select);
        Query { select, ..self.resolve(As::NEW) }
    }

    /// Has the service leave out all properties but these, keys, Timestamp and ETag.
    pub fn select_properties(mut self, names: &[&str]) -> Self {
        self.select = Some(super::select(names));
        self
    }

    /// Leaves it to a resolver what to make of each entity, for results of mixed types. A type that can be told by a
    /// property or by a key has a derive of its own, see [`TableEntity`](macro@crate::TableEntity) on enums.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// # use tablerock_client::{Entity, TryStreamExt};
    /// let sizes = people.query::<Entity>().resolve(|entity: Entity| Ok(entity.properties().len()));
    /// let sizes: Vec<usize> = sizes.stream().try_collect().await?;
    /// # assert_eq!(sizes, [3, 3]);
    /// # Ok(()) });
    /// ```
    pub fn resolve<S: Resolver>(self, resolver: S) -> Query<S> {
        let Self { table, filter, select, page_size, limit, .. } = self;
        Query { table, filter, select, page_size, limit, resolver }
    }

    /// At most so many entities in a page, up to 1,000. The service may send fewer, and even none, before the end.
    pub fn page_size(mut self, entities: usize) -> Self {
        self.page_size = entities.clamp(1, limits::PAGE_ITEMS_MAX);
        self
    }

    /// At most so many entities in all, of a [`stream`](Self::stream) or of [`pages`](Self::pages). A
    /// [`segment`](Self::segment) knows nothing of those before it, and has at most so many by itself.
    pub fn limit(mut self, entities: usize) -> Self {
        self.limit = entities;
        self
    }

    /// The conditions so far as the service will read them.
    pub fn filter_text(&self) -> Option<String> {
        self.filter.as_ref().map(Filter::to_string)
    }
}
