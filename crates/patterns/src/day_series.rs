//! Data series: a day's 24 hourly values as 24 properties of one entity, each written by a merge that leaves the others
//! alone. A day is one read in the place of 24, and a twenty-fourth of the entities.

use tablerock_client::{DateTime, Entity, Etag, Result, TableClient};

/// Hours of a day.
pub const HOURS: usize = 24;

const TICKS_PER_HOUR: u64 = 36_000_000_000;

/// Hourly values of any number of series: messages sent by each employee, say.
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
    /// The series in a table: a partition for each, an entity for each day.
    pub fn new(table: TableClient) -> Self {
        Self { table }
    }

    /// Sets the value of the hour that a time is in. Others may set other hours of the day at the same time.
    pub async fn record(&self, series: &str, time: DateTime, value: i64) -> Result<Etag> {
        let hour = (time.ticks() / TICKS_PER_HOUR % HOURS as u64) as usize;
        self.table.insert_or_merge(&Entity::new(series, day_key(time)).with(hour_name(hour), value)).await
    }

    /// The values of the day that a time is in; hours without one are `None`.
    pub async fn day(&self, series: &str, time: DateTime) -> Result<[Option<i64>; HOURS]> {
        match self.table.get_if_exists(series, &day_key(time)).await? {
            Some(entity) => values(&entity),
            None => Ok([None; HOURS]),
        }
    }

    /// The days from one time up to another, that day not included, as their dates (`20261116`) and values.
    pub async fn days(
        &self,
        series: &str,
        from: DateTime,
        to: DateTime,
    ) -> Result<Vec<(String, [Option<i64>; HOURS])>> {
        let query = self.table.query::<Entity>().partition(series).row_between(day_key(from), day_key(to));
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
