//! Queries: filter, projection and conversion of entities.

use std::ops::Range;
use std::sync::Arc;

use tablerock_protocol::limits;

use super::TableClient;
use super::projection::Projection;
use super::resolver::{ItemResults, Resolver, Typed};
use crate::entity::AsKey;
use crate::{Entity, EntityError, Filter, FromEntity, partition_key, row_key};

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
#[doc(alias = "TableQuery")]
#[doc(alias = "Pageable")]
#[derive(Debug)]
#[must_use = "nothing is sent before it is read"]
pub struct Query<R> {
    pub(super) table: TableClient,
    pub(super) filter: Option<Filter>,
    pub(super) projection: Projection,
    pub(super) page_size: usize,
    pub(super) limit: usize,
    /// Shared with the requests of pages.
    pub(super) resolver: Arc<R>,
}

impl TableClient {
    /// Begins a query over all entities of the table. Only the properties that the type has are read; see
    /// [`whole`](Query::whole).
    #[doc(alias = "query_entities")]
    #[doc(alias = "list_entities")]
    pub fn query<T: FromEntity>(&self) -> Query<Typed<T>> {
        Query {
            table: self.clone(),
            filter: None,
            projection: Projection::of_type(T::SELECT),
            page_size: limits::PAGE_ITEMS_MAX,
            limit: usize::MAX,
            resolver: Arc::new(Typed::NEW),
        }
    }
}

impl<R> Query<R> {
    /// Selects entities that match a filter, in addition to earlier conditions.
    #[doc(alias = "where")]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(match self.filter.take() {
            Some(earlier) => earlier.and(filter),
            None => filter,
        });
        self
    }

    /// Selects entities of one partition.
    pub fn partition(self, key: impl AsKey) -> Self {
        self.filter(partition_key().eq(key.as_key()))
    }

    /// Selects entities with a PartitionKey in a range. The end is not included.
    pub fn partition_range(self, keys: Range<impl AsKey>) -> Self {
        self.filter(partition_key().in_range(keys.start.as_key()..keys.end.as_key()))
    }

    /// Selects entities whose PartitionKey begins with a prefix.
    pub fn partition_prefix(self, prefix: impl AsRef<str>) -> Self {
        self.filter(partition_key().starts_with(prefix))
    }

    /// Selects entities with a RowKey.
    pub fn row(self, key: impl AsKey) -> Self {
        self.filter(row_key().eq(key.as_key()))
    }

    /// Selects entities with a RowKey in a range. The end is not included.
    pub fn row_range(self, keys: Range<impl AsKey>) -> Self {
        self.filter(row_key().in_range(keys.start.as_key()..keys.end.as_key()))
    }

    /// Selects entities whose RowKey begins with a prefix.
    pub fn row_prefix(self, prefix: impl AsRef<str>) -> Self {
        self.filter(row_key().starts_with(prefix))
    }

    /// Reads entities as another type, and only the properties that it has. The service also returns keys, Timestamp
    /// and ETag; [`Keyed`](crate::Keyed) holds them for types without such fields.
    #[doc(alias = "projection")]
    pub fn select<T: FromEntity>(self) -> Query<Typed<T>> {
        Query { projection: Projection::of_type(T::SELECT), ..self.with_resolver(Typed::NEW) }
    }

    /// Reads only the named properties, with keys, Timestamp and ETag.
    pub fn select_properties(mut self, names: &[&str]) -> Self {
        self.projection = Projection::selected(names);
        self
    }

    /// Reads all properties, also those that the type does not have.
    pub fn whole(mut self) -> Self {
        self.projection = Projection::Whole;
        self
    }

    /// Converts each entity by a function, for results of several types. It gets all properties, unless
    /// [`select_properties`](Self::select_properties) names them. If a property or a key prefix identifies the type,
    /// derive [`TableEntity`](macro@crate::TableEntity) on an enum instead.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// # use tablerock_client::{Entity, TryStreamExt};
    /// let sizes = people.query::<Entity>().resolve(|entity| Ok(entity.properties().len()));
    /// let sizes: Vec<usize> = sizes.stream().try_collect().await?;
    /// # assert_eq!(sizes, [3, 3]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "EntityResolver")]
    #[doc(alias = "map")]
    pub fn resolve<T, F>(self, resolver: F) -> Query<F>
    where
        F: Fn(Entity) -> Result<T, EntityError>,
    {
        self.resolve_with(resolver)
    }

    /// Converts each entity by a [`Resolver`].
    pub fn resolve_with<S: Resolver>(mut self, resolver: S) -> Query<S> {
        self.projection = self.projection.for_resolver();
        self.with_resolver(resolver)
    }

    /// Returns a result for each entity, so that one that cannot be converted does not fail its page. A reader that
    /// stores the continuation token then gets past it.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// # use tablerock_client::{Entity, TableEntity};
    /// #[derive(TableEntity)]
    /// struct Aged {
    ///     #[entity(rename = "Age")]
    ///     age: i32,
    /// }
    ///
    /// # people.insert(&Entity::new("Sales", "00000")).await?;
    /// let page = people.query::<Aged>().results().page(None).await?;
    /// for read in &page.items {
    ///     match read {
    ///         Ok(aged) => println!("{}", aged.age),
    ///         Err(error) => println!("cannot be converted: {error}"),
    ///     }
    /// }
    /// let next = page.continuation_token;
    /// # assert!(page.items.len() == 3 && page.items[0].is_err() && next.is_none());
    /// # Ok(()) });
    /// ```
    #[doc(alias = "try")]
    pub fn results(self) -> Query<ItemResults<R>> {
        let resolver = ItemResults(Arc::clone(&self.resolver));
        self.with_resolver(resolver)
    }

    fn with_resolver<S>(self, resolver: S) -> Query<S> {
        let Self { table, filter, projection, page_size, limit, .. } = self;
        Query { table, filter, projection, page_size, limit, resolver: Arc::new(resolver) }
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

impl<R> Clone for Query<R> {
    fn clone(&self) -> Self {
        let Self { table, filter, projection, page_size, limit, resolver } = self;
        Self {
            table: table.clone(),
            filter: filter.clone(),
            projection: projection.clone(),
            page_size: *page_size,
            limit: *limit,
            resolver: Arc::clone(resolver),
        }
    }
}
