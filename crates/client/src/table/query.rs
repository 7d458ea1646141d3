//! Queries: filter, projection and conversion of entities.

use std::ops::Range;

use tablerock_protocol::limits;

use super::TableClient;
use super::resolver::{Resolver, Typed};
use crate::{Filter, FromEntity, partition_key, row_key};

/// A query: a builder, read as a [`stream`](Self::stream), in [`pages`](Self::pages) or one [`page`](Self::page) at a
/// time. An entity has to match all conditions.
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
///     .row_range("00001".."00003")
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
    /// Begins a query over all entities of the table.
    #[doc(alias = "query_entities")]
    #[doc(alias = "list_entities")]
    pub fn query<T: FromEntity>(&self) -> Query<Typed<T>> {
        Query {
            table: self.clone(),
            filter: None,
            select: None,
            page_size: limits::PAGE_ITEMS_MAX,
            limit: usize::MAX,
            resolver: Typed::NEW,
        }
    }
}

impl<R> Query<R> {
    /// Selects entities that match a filter.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(match self.filter.take() {
            Some(earlier) => earlier.and(filter),
            None => filter,
        });
        self
    }

    /// Selects entities of one partition.
    pub fn partition(self, key: impl AsRef<str>) -> Self {
        self.filter(partition_key().eq(key.as_ref()))
    }

    /// Selects entities with a PartitionKey in a range. The end is not included.
    pub fn partition_range(self, keys: Range<impl AsRef<str>>) -> Self {
        self.filter(partition_key().in_range(keys.start.as_ref()..keys.end.as_ref()))
    }

    /// Selects entities whose PartitionKey begins with a prefix.
    pub fn partition_prefix(self, prefix: impl AsRef<str>) -> Self {
        self.filter(partition_key().starts_with(prefix))
    }

    /// Selects entities with a RowKey.
    pub fn row(self, key: impl AsRef<str>) -> Self {
        self.filter(row_key().eq(key.as_ref()))
    }

    /// Selects entities with a RowKey in a range. The end is not included.
    pub fn row_range(self, keys: Range<impl AsRef<str>>) -> Self {
        self.filter(row_key().in_range(keys.start.as_ref()..keys.end.as_ref()))
    }

    /// Selects entities whose RowKey begins with a prefix.
    pub fn row_prefix(self, prefix: impl AsRef<str>) -> Self {
        self.filter(row_key().starts_with(prefix))
    }

    /// Reads entities as another type, and only the properties that it has. The service also returns keys, Timestamp
    /// and ETag; [`Keyed`](crate::Keyed) holds them for types without such fields.
    pub fn select<T: FromEntity>(self) -> Query<Typed<T>> {
        let select = T::SELECT.map(super::select);
        Query { select, ..self.resolve(Typed::NEW) }
    }

    /// Reads only the named properties, with keys, Timestamp and ETag.
    pub fn select_properties(mut self, names: &[&str]) -> Self {
        self.select = Some(super::select(names));
        self
    }

    /// Converts each entity by a resolver, for results of several types. If a property or a key prefix identifies the
    /// type, derive [`TableEntity`](macro@crate::TableEntity) on an enum instead.
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

    /// Sets the largest number of entities in a page; 1,000 by default and at most. The service may return fewer, or
    /// none, before the end.
    #[doc(alias = "max_per_page")]
    #[doc(alias = "top")]
    pub fn page_size(mut self, entities: usize) -> Self {
        self.page_size = entities.clamp(1, limits::PAGE_ITEMS_MAX);
        self
    }

    /// Sets the largest number of entities of a [`stream`](Self::stream), of all [`pages`](Self::pages) together, or of
    /// one [`page`](Self::page).
    #[doc(alias = "take")]
    pub fn limit(mut self, entities: usize) -> Self {
        self.limit = entities;
        self
    }

    /// Returns the conditions as the text of `$filter`.
    pub fn filter_text(&self) -> Option<String> {
        self.filter.as_ref().map(Filter::to_string)
    }
}
