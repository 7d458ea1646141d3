//! Names of the tables in which Storage Analytics counts requests. Their `$` is valid for no other table.

use super::TableName;
use crate::{DateTime, Service};

/// Begins the older names of the tables of hours, of which the newer ones are
/// `$MetricsHourPrimaryTransactions…`.
const OLD_PREFIX: &str = "$metricstransactions";

/// For how long requests are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsPeriod {
    /// One row per hour.
    Hour,
    /// One row per minute.
    Minute,
}

/// The table of a service's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricsTable {
    /// The period of its rows.
    pub period: MetricsPeriod,
    /// The service that it is about.
    pub service: Service,
}

impl MetricsPeriod {
    /// All periods.
    pub const ALL: [Self; 2] = [Self::Hour, Self::Minute];

    /// Returns the length of the period.
    pub const fn seconds(self) -> u64 {
        match self {
            Self::Hour => 3600,
            Self::Minute => 60,
        }
    }

    /// The PartitionKey of a period that begins then: `20260731T1800`.
    pub fn partition_key(start: DateTime) -> String {
        start.to_seven_digits().chars().filter(|letter| !matches!(letter, '-' | ':')).take(13).collect()
    }
}

impl MetricsTable {
    /// Returns the name of the table.
    pub fn name(self) -> TableName {
        let period = match self.period {
            MetricsPeriod::Hour => "Hour",
            MetricsPeriod::Minute => "Minute",
        };
        let service = match self.service {
            Service::Blob => "Blob",
            Service::Queue => "Queue",
            Service::Table => "Table",
        };
        TableName::of_analytics(format!("$Metrics{period}PrimaryTransactions{service}"))
    }
}

/// Returns the name of the table of the Blob service's capacity, which has two rows a day.
pub fn capacity_table() -> TableName {
    TableName::of_analytics("$MetricsCapacityBlob".to_owned())
}

/// The one form of a folded name: what the oldest versions called a table is the same table.
pub(super) fn newer_name(folded: String) -> String {
    match folded.strip_prefix(OLD_PREFIX) {
        Some(service) => format!("$metricshourprimarytransactions{service}"),
        None => folded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_their_partitions_have_the_services_names() {
        let table = MetricsTable { period: MetricsPeriod::Hour, service: Service::Table };
        assert_eq!(table.name().as_str(), "$MetricsHourPrimaryTransactionsTable");
        assert_eq!(TableName::fold("$MetricsTransactionsTable"), table.name().folded());
        let start = DateTime::parse("2011-08-09T08:05").unwrap();
        assert_eq!(MetricsPeriod::partition_key(start), "20110809T0805");
    }
}
