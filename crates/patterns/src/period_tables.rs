//! High-volume delete: a table for each period, which is deleted as a whole. The cost does not depend on its size.

use tablerock_client::{DateTime, ErrorCode, Etag, Result, TableClient, TableEntity, TableServiceClient, TryStreamExt};

/// The period of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    /// An hour: `Logins2026111608`.
    Hour,
    /// A day: `Logins20261116`.
    Day,
    /// A month: `Logins202611`.
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

/// Tables with a common prefix, one for each period.
///
/// ```no_run
/// # use tablerock_client::{DateTime, Entity, TableServiceClient};
/// # use tablerock_patterns::{Period, PeriodTables};
/// # async fn example(service: TableServiceClient, now: DateTime, month_ago: DateTime) -> tablerock_client::Result<()> {
/// let logins = PeriodTables::new(service, "Logins", Period::Day);
/// logins.insert(now, &Entity::new("jonesj", "0830")).await?;
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
    pub fn table_at(&self, time: DateTime) -> TableClient {
        self.service.table(self.name_at(time))
    }

    /// Inserts an entity into the table of a time. Creates the table if it does not exist.
    pub async fn insert(&self, time: DateTime, entity: &impl TableEntity) -> Result<Etag> {
        let table = self.table_at(time);
        match table.insert(entity).await {
            Err(error) if error.code() == Some(ErrorCode::TableNotFound) => {
                table.create_if_not_exists().await?;
                table.insert(entity).await
            }
            outcome => outcome,
        }
    }

    /// Returns the names of the existing tables, the oldest first.
    pub async fn table_names(&self) -> Result<Vec<String>> {
        let all: Vec<String> = self.service.list_tables().prefix(&self.prefix).stream().try_collect().await?;
        Ok(all.into_iter().filter(|name| self.is_ours(name)).collect())
    }

    /// Deletes the tables of all periods before that of a time, and returns their names.
    pub async fn delete_before(&self, time: DateTime) -> Result<Vec<String>> {
        let first_kept = self.name_at(time);
        let old: Vec<String> = self.table_names().await?.into_iter().filter(|name| *name < first_kept).collect();
        for name in &old {
            self.service.table(name).delete_table_if_exists().await?;
        }
        Ok(old)
    }

    fn name_at(&self, time: DateTime) -> String {
        let digits = time.to_seven_digits();
        let digits = digits.chars().filter(char::is_ascii_digit).take(self.period.digits());
        self.prefix.chars().chain(digits).collect()
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
        for (period, name) in
            [(Period::Hour, "Logins2026111608"), (Period::Day, "Logins20261116"), (Period::Month, "Logins202611")]
        {
            let tables = PeriodTables::new(service.clone(), "Logins", period);
            assert_eq!(tables.table_at(time).name(), name);
            assert!(tables.is_ours(name));
            assert!(!tables.is_ours("LoginsFailed20261116") && !tables.is_ours("Logins"));
        }
    }
}
