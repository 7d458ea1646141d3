//! Where the load is: which tables, queues and containers, and which of their partitions, are read and written most, as this
//! server sees it.
//!
//! An operator uses it to find the hot range of a busy store. Memory is bounded however many ranges there are; what
//! a request pays is a hash and a short lock. Each service counts for itself, so that none crowds out another. A queue is one
//! partition, and so is a blob. Servers that share a store [add up](shared) what they see.

mod hottest;
mod record;
mod shared;

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tablerock_kv::Clock;
use tablerock_protocol::Service;

use hottest::{Event, Hottest};

pub use hottest::Rate;
pub use shared::{SharedLoad, StoreLoad};

/// Tables, queues or containers with a counter.
const HOLDINGS_MAX: usize = 256;
/// Partitions are dealt to so many sketches by a hash, so that requests do not wait for each other.
const SHARDS: usize = 8;
const PARTITIONS_OF_SHARD_MAX: usize = 64;

/// A table, a queue or a container.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoadedHolding {
    pub service: Service,
    pub account: String,
    pub name: String,
}

/// A partition of a table, a queue, or a blob of a container.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoadedPartition {
    pub service: Service,
    pub account: String,
    /// Of the table, queue or container.
    pub name: String,
    /// A PartitionKey or the name of a blob; nothing for a queue.
    pub partition: String,
}

/// The busiest ranges, hottest first, in entities, messages and requests for blobs per second.
#[derive(Debug, Clone, Default)]
pub struct LoadReport {
    pub holdings: Vec<(LoadedHolding, Rate)>,
    pub partitions: Vec<(LoadedPartition, Rate)>,
}

impl LoadReport {
    /// The hottest of several services, at most so many of each.
    pub fn of(services: &[&Load], count_max: usize) -> Self {
        let mut report = Self::default();
        for load in services {
            let seconds = load.seconds();
            report.holdings.extend(load.holdings.lock().rates(seconds));
            load.partitions.iter().for_each(|shard| report.partitions.extend(shard.lock().rates(seconds)));
        }
        keep_hottest(&mut report.holdings, count_max);
        keep_hottest(&mut report.partitions, count_max);
        report
    }
}

/// The load of one service.
#[derive(Debug)]
pub struct Load {
    service: Service,
    clock: Arc<dyn Clock>,
    started: Instant,
    hasher: RandomState,
    holdings: Mutex<Hottest<LoadedHolding>>,
    partitions: [Mutex<Hottest<LoadedPartition>>; SHARDS],
}

impl Load {
    pub(crate) fn new(service: Service, clock: Arc<dyn Clock>) -> Self {
        Self {
            service,
            started: clock.instant(),
            clock,
            hasher: RandomState::new(),
            holdings: Mutex::new(Hottest::new(HOLDINGS_MAX)),
            partitions: std::array::from_fn(|_| Mutex::new(Hottest::new(PARTITIONS_OF_SHARD_MAX))),
        }
    }

    /// Something of one partition was read.
    pub(crate) fn read(&self, account: &str, name: &str, partition: &str, amount: u64) {
        self.count(account, name, Some(partition), Event::Read, amount);
    }

    /// Something of several partitions was read: that is load of the table, and of no partition in particular.
    pub(crate) fn read_across(&self, account: &str, name: &str, amount: u64) {
        self.count(account, name, None, Event::Read, amount);
    }

    /// Something of one partition was to be written.
    pub(crate) fn write(&self, account: &str, name: &str, partition: &str, amount: u64) {
        self.count(account, name, Some(partition), Event::Write, amount);
    }

    fn count(&self, account: &str, name: &str, partition: Option<&str>, event: Event, amount: u64) {
        let (service, seconds) = (self.service, self.seconds());
        let id = self.hasher.hash_one((account, name));
        let holding = || LoadedHolding { service, account: account.to_owned(), name: name.to_owned() };
        self.holdings.lock().count(id, event, amount, seconds, holding);
        let Some(partition) = partition else { return };
        let id = self.hasher.hash_one((account, name, partition));
        let loaded = || LoadedPartition {
            service,
            account: account.to_owned(),
            name: name.to_owned(),
            partition: partition.to_owned(),
        };
        let shard = &self.partitions[id as usize % SHARDS];
        shard.lock().count(id, event, amount, seconds, loaded);
    }

    fn seconds(&self) -> f64 {
        self.clock.instant().saturating_duration_since(self.started).as_secs_f64()
    }
}

fn keep_hottest<N: Ord>(rates: &mut Vec<(N, Rate)>, count_max: usize) {
    rates.sort_by(|one, other| other.1.total().total_cmp(&one.1.total()).then_with(|| one.0.cmp(&other.0)));
    rates.truncate(count_max);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tablerock_kv::ManualClock;

    use super::*;

    #[test]
    fn the_hottest_come_first_and_a_scan_heats_no_partition() {
        let clock = Arc::new(ManualClock::at(0));
        let load = Load::new(Service::Table, clock.clone());
        for number in 0..10_000_u64 {
            load.read("acct", "Wide", &format!("p{number}"), 1);
            load.write("acct", "Hot", "p", 3);
            load.read_across("acct", "Scanned", 100);
            clock.advance(Duration::from_millis(10));
        }
        let report = LoadReport::of(&[&load], 3);
        let tables: Vec<&str> = report.holdings.iter().map(|(holding, _)| holding.name.as_str()).collect();
        assert_eq!(tables, ["Scanned", "Hot", "Wide"]);
        assert_eq!(report.partitions.len(), 3);
        let (hottest, rate) = &report.partitions[0];
        assert_eq!((hottest.name.as_str(), hottest.partition.as_str()), ("Hot", "p"));
        assert!((270.0..301.0).contains(&rate.writes), "{rate:?}");
        assert!(report.partitions.iter().all(|(loaded, _)| loaded.name != "Scanned"));
    }
}
