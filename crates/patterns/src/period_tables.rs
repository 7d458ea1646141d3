//! High-volume delete: a table for each period, dropped whole when it is too old. A drop costs the same however much is
//! in the table.

use tablerock_client::{DateTime, ErrorCode, Etag, Result, TableClient, TableEntity, TableServiceClient, TryStreamExt};

/// How long a table takes in entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    /// From hour to hour: `Logins2026111608`.
    Hour,
    /// From day to day: `Logins20261116`.
    Day,
    /// From month to month: `Logins202611`.
    Month,
}

impl Period {
    fn digits(self) -> usize {
        match self {
            Self::Hour => 10,
            Self::Day => 8,
            Self::Month => 6,
        }
    }
}

/// Tables with a common beginning of their names, one for each period.
///
/// ```no_run
/// # use tablerock_client::{DateTime, Entity, TableServiceClient};
/// # use tablerock_patterns::{Period, PeriodTables};
/// # async fn example(service: TableServiceClient, now: DateTime, month_ago: DateTime) -> tablerock_client::Result<()> {
/// let logins = PeriodTables::new(service, "Logins", Period::Day);
/// logins.insert(now, &Entity::new("jonesj", "0830")).await?;
/// let dropped = logins.drop_before(month_ago).await?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct PeriodTables {
    service: TableServiceClient,
    prefix: String,
    period: Period,
}

impl PeriodTables {
    /// Tables whose names begin so, followed by digits.
    pub fn new(service: TableServiceClient, prefix: impl Into<String>, period: Period) -> Self {
        Self { service, prefix: prefix.into(), period }
    }

    /// The table of a time, which may not exist.
    pub fn at(&self, time: DateTime) -> TableClient {
        self.service.table(self.name_at(time))
    }

    /// Adds an entity to the table of a time, and creates the table if the entity is its first.
    pub async fn insert(&self, time: DateTime, entity: &impl TableEntity) -> Result<Etag> {
        let table = self.at(time);
        match table.insert(entity).await {
            Err(error) if error.code() == Some(ErrorCode::TableNotFound) => {
                table.create_if_not_exists().await?;
                table.insert(entity).await
            }
            outcome => outcome,
        }
    }

    /// The tables that there are, the oldest first.
    pub async fn names(&self) -> Result<Vec<String>> {
        let all: Vec<String> = self.service.list_tables().prefix(&self.prefix).stream().try_collect().await?;
        Ok(all.into_iter().filter(|name| self.is_ours(name)).collect())
    }

    /// Drops the tables of all periods that were over before the one of a time, and returns their names.
    pub async fn drop_before(&self, time: DateTime) -> Result<Vec<String>> {
        let first_kept = self.name_at(time);
        let old: Vec<String> = self.names().await?.into_iter().filter(|name| *name < first_kept).collect();
        for name in &old {
            self.service.table(name).drop_table_if_exists().await?;
        }
        Ok(old)
    }

    fn name_at(&self, time: DateTime) -> String {
        let digits = time.to_seven_digits();
        let digits = digits.chars().filter(char::is_ascii_digit).take(self.period.digits());
        self.prefix.chars().chain(digits).collect()
    }

    /// Another series, `LoginsFailed` beside `Logins`, is not ours.
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
        for (period, name) in
            [(Period::Hour, "Logins2026111608"), (Period::Day, "Logins20261116"), (Period::Month, "Logins202611")]
        {
            let tables = PeriodTables::new(service.clone(), "Logins", period);
            assert_eq!(tables.at(time).name(), name);
            assert!(tables.is_ours(name));
            assert!(!tables.is_ours("LoginsFailed20261116") && !tables.is_ours("Logins"));
        }
    }
}
