//! Data series: the values of a period as properties of one entity, each written by a merge. A day of 24 hours is one
//! point read instead of 24.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use futures_util::future;
use tablerock_client::entity::IntoDateTime;
use tablerock_client::table::BoxStream;
use tablerock_client::{
    DateTime, Entity, EntityError, Error, Etag, PropertyValue, Result, StreamExt as _, TableClient, TryStreamExt as _,
};

use crate::optimistic::{Attempts, unless_conflict};
use crate::period::Period;

/// Values of any number of series, such as the messages of each employee by hour. The table has a partition for each
/// series and an entity for each [`Period`], with a property for each of its parts.
///
/// ```no_run
/// # use tablerock_client::{DateTime, TableClient};
/// # use tablerock_patterns::{Period, Series};
/// # async fn example(stats: TableClient, now: DateTime) -> tablerock_client::Result<()> {
/// let messages = Series::<i64>::new(stats, Period::Day); // 24 hours
/// messages.record("000123", now, 17).await?;
/// messages.update("000123", now, |count| count.unwrap_or(0) + 1).await?;
/// let today: Vec<Option<i64>> = messages.values("000123", now).await?;
/// # Ok(()) }
/// ```
pub struct Series<V> {
    table: TableClient,
    period: Period,
    value: PhantomData<fn() -> V>,
}

/// The values of one period of a series.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PeriodValues<V> {
    /// The first time of the period.
    pub start: DateTime,
    /// The value of each part, from the first; `None` for a part without one. A month has 31 parts.
    pub values: Vec<Option<V>>,
}

impl<V: PropertyValue> Series<V> {
    /// Returns the series of a table, with an entity for each period.
    pub fn new(table: TableClient, period: Period) -> Self {
        Self { table, period, value: PhantomData }
    }

    /// Returns the table.
    pub fn table(&self) -> &TableClient {
        &self.table
    }

    /// Creates the table unless it exists.
    pub async fn create_if_not_exists(&self) -> Result<()> {
        self.table.create_if_not_exists().await.map(drop)
    }

    /// Sets the value of the part with a time, and returns the ETag of the period. Concurrent writes of other parts are
    /// kept; of the same part, the last one wins.
    pub async fn record(&self, series: &str, time: impl IntoDateTime, value: V) -> Result<Etag> {
        let entity = self.change(series, time.into_date_time(), &value)?;
        self.table.insert_or_merge(&entity).await
    }

    /// Changes the value of the part with a time: the function gets the current value, or `None`. No concurrent change
    /// is lost. The function runs again if another writer was faster.
    #[doc(alias = "increment")]
    pub async fn update(&self, series: &str, time: impl IntoDateTime, change: impl Fn(Option<V>) -> V) -> Result<Etag> {
        let time = time.into_date_time();
        let name = self.period.part_name(self.period.part(time));
        let mut attempts = Attempts::new("the period");
        loop {
            let stored: Option<Entity> = self.table.get_if_exists(series, self.period.key(time)).await?;
            let value = stored.as_ref().map(|stored| value(stored, &name)).transpose()?.flatten();
            let changed = self.change(series, time, &change(value))?;
            let written = match stored.and_then(|stored| stored.etag) {
                Some(etag) => self.table.merge(&changed).if_match(etag).await,
                None => self.table.insert(&changed).await,
            };
            match written {
                // The lost attempt may have been this change.
                Err(error) if error.is_ambiguous() => return Err(error),
                written => match unless_conflict(written)? {
                    Some(etag) => return Ok(etag),
                    None => attempts.retry().await?,
                },
            }
        }
    }

    /// Returns the values of the period with a time; `None` for parts without one.
    pub async fn values(&self, series: &str, time: impl IntoDateTime) -> Result<Vec<Option<V>>> {
        let key = self.period.key(time.into_date_time());
        match self.table.get_if_exists::<Entity>(series, &key).await? {
            Some(entity) => self.all_values(&entity),
            None => Ok((0..self.period.parts()).map(|_| None).collect()),
        }
    }

    /// Streams the stored periods from that of the first time to before that of the last, in order.
    pub fn range(&self, series: &str, times: Range<impl IntoDateTime>) -> BoxStream<PeriodValues<V>>
    where
        V: Send + 'static,
    {
        let [from, to] = [times.start.into_date_time(), times.end.into_date_time()].map(|time| self.period.key(time));
        let series_of = self.clone();
        let entities = self.table.query::<Entity>().partition(series).row_range(from..to).stream();
        let periods = entities.and_then(move |entity| {
            let invalid = || Error::InvalidResponse(format!("the RowKey {:?} is not a period", entity.row_key));
            let start = series_of.period.start(&entity.row_key).ok_or_else(invalid);
            let values = start.and_then(|start| Ok(PeriodValues { start, values: series_of.all_values(&entity)? }));
            future::ready(values)
        });
        periods.boxed()
    }

    fn change(&self, series: &str, time: DateTime, value: &V) -> Result<Entity> {
        let name = self.period.part_name(self.period.part(time));
        let value = value.to_value()?.ok_or_else(|| {
            Error::Invalid(format!("the part {name} of the series {series:?} gets no value: use a type with a value"))
        })?;
        Ok(Entity::new(series, self.period.key(time)).with(name, value))
    }

    fn all_values(&self, entity: &Entity) -> Result<Vec<Option<V>>> {
        (0..self.period.parts()).map(|part| value(entity, &self.period.part_name(part))).collect()
    }
}

fn value<V: PropertyValue>(entity: &Entity, name: &str) -> Result<Option<V>> {
    let located = |error: EntityError| error.with_property(name).with_keys(&entity.partition_key, &entity.row_key);
    let value = entity.get(name).map(|value| V::from_value(value.clone()));
    value.transpose().map_err(|error| Error::Entity(located(error)))
}

impl<V> fmt::Debug for Series<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Series").field("table", &self.table.name()).field("period", &self.period).finish()
    }
}

// A derived Clone would require V: Clone.
impl<V> Clone for Series<V> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), period: self.period, value: PhantomData }
    }
}
