//! A query over the tables of several periods, in their order.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use futures_util::{future, stream};
use tablerock_client::table::BoxStream;
use tablerock_client::{
    DateTime, Error, ErrorCode, Filter, FromEntity, Result, StreamExt as _, TableClient, TryStreamExt as _,
    partition_key, row_key,
};

use crate::period_tables::PeriodTables;

/// A query over several tables of [`PeriodTables`], one after the other, the oldest first. Within a table, entities are
/// in the order of their keys. A table that is deleted meanwhile has no entities.
#[must_use = "nothing is sent before it is read"]
pub struct PeriodQuery<T> {
    tables: PeriodTables,
    from: DateTime,
    to: DateTime,
    filter: Option<Filter>,
    is_newest_first: bool,
    entity: PhantomData<fn() -> T>,
}

impl<T: FromEntity + Send + 'static> PeriodQuery<T> {
    pub(crate) fn new(tables: PeriodTables, from: DateTime, to: DateTime) -> Self {
        Self { tables, from, to, filter: None, is_newest_first: false, entity: PhantomData }
    }

    /// Selects entities that match a filter.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(match self.filter.take() {
            Some(earlier) => earlier.and(filter),
            None => filter,
        });
        self
    }

    /// Selects entities of one partition of each table.
    pub fn partition(self, key: impl AsRef<str>) -> Self {
        self.filter(partition_key().eq(key.as_ref()))
    }

    /// Selects entities with a RowKey in a range. The end is not included.
    pub fn row_range(self, keys: Range<impl AsRef<str>>) -> Self {
        self.filter(row_key().in_range(keys.start.as_ref()..keys.end.as_ref()))
    }

    /// Selects entities whose RowKey begins with a prefix.
    pub fn row_prefix(self, prefix: impl AsRef<str>) -> Self {
        self.filter(row_key().starts_with(prefix))
    }

    /// Reads the newest table first. Within a table, the order remains that of the keys.
    pub fn newest_first(mut self) -> Self {
        self.is_newest_first = true;
        self
    }

    /// Returns the first entity; `None` if there is none.
    pub async fn first(self) -> Result<Option<T>> {
        self.stream().try_next().await
    }

    /// Returns all entities. Prefer [`stream`](Self::stream) for many.
    pub async fn all(self) -> Result<Vec<T>> {
        self.stream().try_collect().await
    }

    /// Streams all entities. Lists the tables once, and reads a page when the stream needs it.
    pub fn stream(self) -> BoxStream<T> {
        let Self { tables, from, to, filter, is_newest_first, .. } = self;
        let found = stream::once(async move {
            let mut found = tables.tables(from, to).await?;
            if is_newest_first {
                found.reverse();
            }
            Ok::<_, Error>(stream::iter(found.into_iter().map(Ok::<_, Error>)))
        });
        let entities = found.try_flatten().map_ok(move |table| entities(&table, filter.clone()));
        entities.try_flatten().boxed()
    }
}

/// Streams the entities of a table; none if it does not exist.
fn entities<T: FromEntity + Send + 'static>(table: &TableClient, filter: Option<Filter>) -> BoxStream<T> {
    let query = table.query::<T>();
    let query = match filter {
        Some(filter) => query.filter(filter),
        None => query,
    };
    let is_deleted =
        |item: &Result<T>| item.as_ref().is_err_and(|error| error.code() == Some(ErrorCode::TableNotFound));
    query.stream().take_while(move |item| future::ready(!is_deleted(item))).boxed()
}

impl<T> fmt::Debug for PeriodQuery<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tables, from, to, filter, .. } = self;
        let mut shown = f.debug_struct("PeriodQuery");
        shown.field("tables", tables).field("from", from).field("to", to).field("filter", filter);
        shown.finish_non_exhaustive()
    }
}
