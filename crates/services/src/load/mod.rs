//! Where the load is: which tables and which partitions are read and written most, as this server sees it.
//!
//! It is for whoever looks at a busy store and wants to know which range is hot. Memory is bounded however many tables and
//! partitions there are; what a request pays is a hash and a short lock.

mod hottest;

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tablerock_kv::Clock;

use hottest::{Event, Hottest};

pub use hottest::Rate;

/// Tables with a counter.
const TABLES_MAX: usize = 256;
/// Partitions are dealt to so many sketches by a hash, so that requests do not wait for each other.
const SHARDS: usize = 8;
const PARTITIONS_OF_SHARD_MAX: usize = 64;

/// A table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoadedTable {
    pub account: String,
    pub table: String,
}

/// A partition of a table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoadedPartition {
    pub account: String,
    pub table: String,
    pub partition_key: String,
}

/// What is busiest, hottest first, in entities per second.
#[derive(Debug, Clone, Default)]
pub struct LoadReport {
    pub tables: Vec<(LoadedTable, Rate)>,
    pub partitions: Vec<(LoadedPartition, Rate)>,
}

#[derive(Debug)]
pub struct Load {
    clock: Arc<dyn Clock>,
    started: Instant,
    hasher: RandomState,
    tables: Mutex<Hottest<LoadedTable>>,
    partitions: [Mutex<Hottest<LoadedPartition>>; SHARDS],
}

impl Load {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            started: clock.instant(),
            clock,
            hasher: RandomState::new(),
            tables: Mutex::new(Hottest::new(TABLES_MAX)),
            partitions: std::array::from_fn(|_| Mutex::new(Hottest::new(PARTITIONS_OF_SHARD_MAX))),
        }
    }

    /// Entities of one partition were read.
    pub(crate) fn read(&self, account: &str, table: &str, partition_key: &str, entities: u64) {
        self.count(account, table, Some(partition_key), Event::Read, entities);
    }

    /// Entities of several partitions were read: that is load of the table, and of no partition in particular.
    pub(crate) fn read_across(&self, account: &str, table: &str, entities: u64) {
        self.count(account, table, None, Event::Read, entities);
    }

    /// Entities of one partition were to be written.
    pub(crate) fn write(&self, account: &str, table: &str, partition_key: &str, entities: u64) {
        self.count(account, table, Some(partition_key), Event::Write, entities);
    }

    fn count(&self, account: &str, table: &str, partition_key: Option<&str>, event: Event, entities: u64) {
        let seconds = self.seconds();
        let id = self.hasher.hash_one((account, table));
        let name = || LoadedTable { account: account.to_owned(), table: table.to_owned() };
        self.tables.lock().count(id, event, entities, seconds, name);
        let Some(partition_key) = partition_key else { return };
        let id = self.hasher.hash_one((account, table, partition_key));
        let name = || LoadedPartition {
            account: account.to_owned(),
            table: table.to_owned(),
            partition_key: partition_key.to_owned(),
        };
        let shard = &self.partitions[id as usize % SHARDS];
        shard.lock().count(id, event, entities, seconds, name);
    }

    fn seconds(&self) -> f64 {
        self.clock.instant().saturating_duration_since(self.started).as_secs_f64()
    }

    /// The hottest tables and partitions, at most so many of each.
    pub fn report(&self, count_max: usize) -> LoadReport {
        let seconds = self.seconds();
        let partitions = self.partitions.iter().flat_map(|shard| shard.lock().rates(seconds)).collect();
        LoadReport {
            tables: hottest_first(self.tables.lock().rates(seconds), count_max),
            partitions: hottest_first(partitions, count_max),
        }
    }
}

fn hottest_first<N: Ord>(mut rates: Vec<(N, Rate)>, count_max: usize) -> Vec<(N, Rate)> {
    rates.sort_by(|one, other| other.1.total().total_cmp(&one.1.total()).then_with(|| one.0.cmp(&other.0)));
    rates.truncate(count_max);
    rates
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tablerock_kv::ManualClock;

    use super::*;

    #[test]
    fn the_hottest_come_first_and_a_scan_heats_no_partition() {
        let clock = Arc::new(ManualClock::at(0));
        let load = Load::new(clock.clone());
        for number in 0..10_000_u64 {
            load.read("acct", "Wide", &format!("p{number}"), 1);
            load.write("acct", "Hot", "p", 3);
            load.read_across("acct", "Scanned", 100);
            clock.advance(Duration::from_millis(10));
        }
        let report = load.report(3);
        let tables: Vec<&str> = report.tables.iter().map(|(name, _)| name.table.as_str()).collect();
        assert_eq!(tables, ["Scanned", "Hot", "Wide"]);
        assert_eq!(report.partitions.len(), 3);
        let (hottest, rate) = &report.partitions[0];
        assert_eq!((hottest.table.as_str(), hottest.partition_key.as_str()), ("Hot", "p"));
        assert!((270.0..301.0).contains(&rate.writes), "{rate:?}");
        assert!(report.partitions.iter().all(|(name, _)| name.table != "Scanned"));
    }
}
