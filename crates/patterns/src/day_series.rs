//! Data series: the 24 hourly values of a day as properties of one entity, each written by a merge. A day is one point
//! read instead of 24.

use tablerock_client::{DateTime, Entity, Etag, Result, TableClient};

/// The hours of a day.
pub const HOURS: usize = 24;

const TICKS_PER_HOUR: u64 = 36_000_000_000;

/// Hourly values of any number of series, such as the messages of each employee.
///
/// ```no_run
/// # use tablerock_client::{DateTime, TableClient};
/// # use tablerock_patterns::DaySeries;
/// # async fn example(stats: TableClient, now: DateTime) -> tablerock_client::Result<()> {
/// let messages = DaySeries::new(stats);
/// messages.record("000123", now, 17).await?;
/// let today = messages.day("000123", now).await?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct DaySeries {
    table: TableClient,
}

impl DaySeries {
    /// Returns the series of a table, which has a partition for each series and an entity for each day.
    pub fn new(table: TableClient) -> Self {
        Self { table }
    }

    /// Sets the value of an hour. Concurrent writes of other hours are kept.
    pub async fn record(&self, series: &str, time: DateTime, value: i64) -> Result<Etag> {
        let hour = (time.ticks() / TICKS_PER_HOUR % HOURS as u64) as usize;
        self.table.insert_or_merge(&Entity::new(series, day_key(time)).with(hour_name(hour), value)).await
    }

    /// Returns the values of a day; `None` for hours without one.
    pub async fn day(&self, series: &str, time: DateTime) -> Result<[Option<i64>; HOURS]> {
        match self.table.get_if_exists(series, &day_key(time)).await? {
            Some(entity) => values(&entity),
            None => Ok([None; HOURS]),
        }
    }

    /// Returns the dates (`20261116`) and values of the days from `from` to before `to`.
    pub async fn days(
        &self,
        series: &str,
        from: DateTime,
        to: DateTime,
    ) -> Result<Vec<(String, [Option<i64>; HOURS])>> {
        let query = self.table.query::<Entity>().partition(series).row_range(day_key(from)..day_key(to));
        let days = query.all().await?.into_iter();
        days.map(|day| Ok((day.row_key.clone(), values(&day)?))).collect()
    }
}

fn values(entity: &Entity) -> Result<[Option<i64>; HOURS]> {
    let mut values = [None; HOURS];
    for (hour, value) in values.iter_mut().enumerate() {
        *value = entity.property(&hour_name(hour))?;
    }
    Ok(values)
}

fn hour_name(hour: usize) -> String {
    format!("H{hour:02}")
}

fn day_key(time: DateTime) -> String {
    time.to_seven_digits().chars().filter(char::is_ascii_digit).take(8).collect()
}
