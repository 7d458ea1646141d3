//! High-volume delete: a table for each period, which is deleted as a whole. The cost does not depend on its size.

use std::ops::Range;

use tablerock_client::entity::IntoDateTime;
use tablerock_client::{
    DateTime, ErrorCode, Etag, FromEntity, Result, TableClient, TableEntity, TableServiceClient, TryStreamExt as _,
};

use crate::period::Period;
use crate::period_query::PeriodQuery;

/// Tables with a common prefix, one for each period.
///
/// ```no_run
/// # use tablerock_client::{DateTime, Entity, TableServiceClient, TryStreamExt};
/// # use tablerock_patterns::{Period, PeriodTables};
/// # async fn example(service: TableServiceClient, now: DateTime, month_ago: DateTime) -> tablerock_client::Result<()> {
/// let logins = PeriodTables::new(service, "Logins", Period::Day);
/// logins.insert(now, &Entity::new("jonesj", "0830")).await?;
/// let mut month = logins.query::<Entity>(month_ago..now).partition("jonesj").stream();
/// while let Some(login) = month.try_next().await? {
///     println!("{}", login.row_key);
/// }
/// let deleted = logins.delete_before(month_ago).await?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct PeriodTables {
    service: TableServiceClient,
    prefix: String,
    period: Period,
}

impl PeriodTables {
    /// Returns tables whose names are a prefix and digits.
    pub fn new(service: TableServiceClient, prefix: impl Into<String>, period: Period) -> Self {
        Self { service, prefix: prefix.into(), period }
    }

    /// Returns the table of a time, which may not exist.
    pub fn table_at(&self, time: impl IntoDateTime) -> TableClient {
        self.service.table(self.name_at(time.into_date_time()))
    }

    /// Inserts an entity into the table of a time. Creates the table if it does not exist.
    pub async fn insert(&self, time: impl IntoDateTime, entity: &impl TableEntity) -> Result<Etag> {
        let table = self.table_at(time);
        match table.insert(entity).await {
            Err(error) if error.code() == Some(ErrorCode::TableNotFound) => {
                table.create_if_not_exists().await?;
                table.insert(entity).await
            }
            outcome => outcome,
        }
    }

    /// Begins a query over all tables from the period of the first time to that of the last, which is included. The
    /// times select tables and not entities: add a condition for a part of a period.
    pub fn query<T: FromEntity + Send + 'static>(&self, times: Range<impl IntoDateTime>) -> PeriodQuery<T> {
        PeriodQuery::new(self.clone(), times.start.into_date_time(), times.end.into_date_time())
    }

    /// Returns the names of the existing tables, the oldest first.
    pub async fn table_names(&self) -> Result<Vec<String>> {
        let all: Vec<String> = self.service.list_tables().prefix(&self.prefix).stream().try_collect().await?;
        let mut own: Vec<String> = all.into_iter().filter(|name| self.is_ours(name)).collect();
        own.sort();
        Ok(own)
    }

    /// Returns the existing tables from the period of a time to that of another, which is included, the oldest first.
    pub(crate) async fn tables(&self, from: DateTime, to: DateTime) -> Result<Vec<TableClient>> {
        let names = self.name_at(from)..=self.name_at(to);
        let found = self.table_names().await?.into_iter().filter(|name| names.contains(name));
        Ok(found.map(|name| self.service.table(name)).collect())
    }

    /// Deletes the tables of all periods before that of a time, and returns their names.
    pub async fn delete_before(&self, time: impl IntoDateTime) -> Result<Vec<String>> {
        let first_kept = self.name_at(time.into_date_time());
        let old: Vec<String> = self.table_names().await?.into_iter().filter(|name| *name < first_kept).collect();
        for name in &old {
            self.service.table(name).delete_table_if_exists().await?;
        }
        Ok(old)
    }

    fn name_at(&self, time: DateTime) -> String {
        format!("{}{}", self.prefix, self.period.key(time))
    }

    /// Whether a name is the prefix and digits: `LoginsFailed20261116` is not a table of `Logins`.
    fn is_ours(&self, name: &str) -> bool {
        let digits = name.strip_prefix(&self.prefix).unwrap_or_default();
        digits.len() == self.period.digits() && digits.bytes().all(|byte| byte.is_ascii_digit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_period_and_no_others() {
        let service = TableServiceClient::from_connection_string("UseDevelopmentStorage=true").unwrap();
        let time = DateTime::parse("2026-11-16T08:30:00Z").unwrap();
        for (period, name) in [
            (Period::Hour, "Logins2026111608"),
            (Period::Day, "Logins20261116"),
            (Period::Month, "Logins202611"),
            (Period::Year, "Logins2026"),
        ] {
            let tables = PeriodTables::new(service.clone(), "Logins", period);
            assert_eq!(tables.table_at(time).name(), name);
            assert!(tables.is_ours(name));
            assert!(!tables.is_ours("LoginsFailed20261116") && !tables.is_ours("Logins"));
        }
    }
}
