//! The load of all servers on a store.
//!
//! Each server stores what is hottest on it every ten seconds, as one record of bounded size that only this server writes. The
//! records of all servers are added up when an operator asks. One that is older than half a minute is of a server that has
//! stopped or idles, and does not count; after an hour another server deletes it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tablerock_kv::{
    Bytes, Clock, Position, Range, Result, Rng, ScanLimits, Store, TICKS_PER_SECOND, Transaction, Wanted,
};
use tablerock_protocol::Service;

use super::{LoadReport, LoadedPartition, Rate, keep_hottest, record};
use crate::namespace::{Namespace, id_of_row, row_key};
use crate::sharing::Sharing;
use crate::{blob, keys, queue, table};

/// The time between two records of a server.
const PERIOD: Duration = Duration::from_secs(10);
/// The age up to which a record counts.
const AGE_TICKS_MAX: u64 = 30 * TICKS_PER_SECOND;
/// The age from which a record is deleted.
const FORGOTTEN_TICKS: u64 = 3_600 * TICKS_PER_SECOND;
/// The rounds between two searches for such records: an hour.
const ROUNDS_BETWEEN_CLEANINGS: u64 = 360;
/// The tables, queues and containers, and the partitions, in a record.
pub(super) const PUBLISHED_MAX: usize = 50;
/// The servers whose records are read.
const SERVERS_MAX: usize = 256;
/// A rate below this one, in events per second, is idle.
const IDLE_RATE: f64 = 0.05;

/// The load of a store, over all its servers.
#[derive(Debug, Clone, Default)]
pub struct StoreLoad {
    /// The sums over the servers, hottest first.
    pub report: LoadReport,
    /// The servers that count.
    pub servers: usize,
    /// The node of the database that has each partition of the report, where nodes have some each.
    pub nodes: Vec<Option<String>>,
    /// The stored partition of each partition of the report; `None` if its table, queue or container is gone.
    pub stored: Vec<Option<Bytes>>,
}

/// The load that servers of a store share with each other.
#[derive(Debug)]
pub struct SharedLoad {
    store: Store,
    clock: Arc<dyn Clock>,
    server: u64,
    rounds: AtomicU64,
    /// Whether the last record had any load.
    was_busy: AtomicBool,
}

impl SharedLoad {
    /// Returns `None` on a store that only this process has.
    pub fn of(store: &Store, clock: Arc<dyn Clock>) -> Option<Self> {
        Sharing::of(store).coordination(|| Self {
            store: store.clone(),
            clock,
            server: Rng::from_os().number(),
            rounds: AtomicU64::new(0),
            was_busy: AtomicBool::new(false),
        })
    }

    /// Stores the load of this server again and again, for as long as the future is polled. Nothing is lost with a failure.
    pub async fn keep_publishing(&self, load: impl Fn() -> LoadReport) {
        loop {
            tokio::time::sleep(PERIOD).await;
            if let Err(error) = self.publish(load()).await {
                tracing::debug!(%error, "cannot store the load of this server, will retry");
            }
        }
    }

    /// Stores the load of this server. An idle server stores nothing after it has stored that it is idle.
    pub async fn publish(&self, mut report: LoadReport) -> Result<()> {
        if self.rounds.fetch_add(1, Ordering::Relaxed).is_multiple_of(ROUNDS_BETWEEN_CLEANINGS) {
            self.forget_old_records().await?;
        }
        report.holdings.retain(|(_, rate)| rate.total() > IDLE_RATE);
        report.partitions.retain(|(_, rate)| rate.total() > IDLE_RATE);
        let is_busy = !report.holdings.is_empty();
        if !is_busy && !self.was_busy.load(Ordering::Relaxed) {
            return Ok(());
        }
        let (key, record) = (keys::load_key(self.server), record::encode(self.clock.ticks(), &report));
        let put = |tx: &mut Transaction| {
            tx.put(key.clone(), record.clone());
            Ok::<_, tablerock_kv::Error>(())
        };
        self.store.transact(&keys::system_partition(), vec![], put).await?;
        self.was_busy.store(is_busy, Ordering::Relaxed);
        Ok(())
    }

    /// Adds the load of the other servers to that of this one.
    pub async fn with_others(&self, own: LoadReport, count_max: usize) -> Result<StoreLoad> {
        add_up(&self.store, self.clock.ticks(), Some((self.server, own)), count_max).await
    }

    async fn forget_old_records(&self) -> Result<()> {
        let before = self.clock.ticks().saturating_sub(FORGOTTEN_TICKS);
        let old = records(&self.store).await?;
        let old: Vec<Bytes> = old.into_iter().filter(|(_, ticks, _)| *ticks < before).map(|(key, ..)| key).collect();
        if old.is_empty() {
            return Ok(());
        }
        let delete = |tx: &mut Transaction| {
            old.iter().for_each(|key| tx.delete(key.clone()));
            Ok::<_, tablerock_kv::Error>(())
        };
        self.store.transact(&keys::system_partition(), vec![], delete).await
    }
}

impl StoreLoad {
    /// Reads what the servers of a store have stored last.
    pub async fn read(store: &Store, clock: &dyn Clock, count_max: usize) -> Result<Self> {
        add_up(store, clock.ticks(), None, count_max).await
    }
}

async fn add_up(store: &Store, now: u64, own: Option<(u64, LoadReport)>, count_max: usize) -> Result<StoreLoad> {
    let own_key = own.as_ref().map(|(server, _)| keys::load_key(*server));
    let counts = |key: &Bytes, ticks: u64| ticks >= now.saturating_sub(AGE_TICKS_MAX) && Some(key) != own_key.as_ref();
    let others = records(store).await?;
    let others = others.into_iter().filter(|(key, ticks, _)| counts(key, *ticks)).map(|(.., report)| report);
    let reports: Vec<LoadReport> = own.into_iter().map(|(_, report)| report).chain(others).collect();
    let servers = reports.len();
    let report = LoadReport::sum(reports, count_max);
    let stored = stored_partitions(store, &report.partitions).await?;
    let asked: Vec<Bytes> = stored.iter().map(|stored| stored.clone().unwrap_or_default()).collect();
    let nodes =
        store.nodes_of(&asked).await?.into_iter().zip(&stored).map(|(node, stored)| node.filter(|_| stored.is_some()));
    Ok(StoreLoad { servers, nodes: nodes.collect(), stored, report })
}

/// The records of all servers: key, time and load. One of a later format does not count.
async fn records(store: &Store) -> Result<Vec<(Bytes, u64, LoadReport)>> {
    let system = keys::system_partition();
    let (first, end) = (Position::new(system.clone(), keys::LOAD), Position::new(system, keys::LOAD_END));
    let limits = ScanLimits { records_max: SERVERS_MAX, bytes_max: SERVERS_MAX * record::BYTES_MAX, deadline: None };
    let page = store.scan(&Range::between(first, end), limits).await?;
    let decoded = page.records.into_iter().filter_map(|found| {
        let (ticks, report) = record::decode(&found.value).ok()?;
        Some((found.key, ticks, report))
    });
    Ok(decoded.collect())
}

/// The stored partitions of some partitions, by the ids that their tables, queues and containers have now.
async fn stored_partitions(store: &Store, loaded: &[(LoadedPartition, Rate)]) -> Result<Vec<Option<Bytes>>> {
    let mut names: BTreeMap<(Service, &str, &str), Option<u64>> = BTreeMap::new();
    for (LoadedPartition { service, account, name, .. }, _) in loaded {
        names.insert((*service, account, name), None);
    }
    let wanted = |(service, account, name): &(Service, &str, &str)| {
        let (namespace, key) = match service {
            Service::Table => (Namespace::Tables, row_key(&name.to_ascii_lowercase())),
            Service::Queue => (Namespace::Queues, row_key(name)),
            Service::Blob => (Namespace::Containers, row_key(name)),
        };
        Wanted { partition: namespace.directory(account), keys: vec![key] }
    };
    let rows = store.get_many(&names.keys().map(wanted).collect::<Vec<_>>()).await?;
    for (id, row) in names.values_mut().zip(rows) {
        *id = row.into_iter().flatten().next().map(|row| id_of_row(&row)).transpose()?;
    }
    let stored = loaded.iter().map(|(LoadedPartition { service, account, name, partition }, _)| {
        let id = names.get(&(*service, account.as_str(), name.as_str())).copied().flatten()?;
        Some(match service {
            Service::Table => table::keys::entity_partition(id, partition),
            Service::Queue => queue::keys::messages_partition(id),
            Service::Blob => blob::keys::blob_partition(id, partition),
        })
    });
    Ok(stored.collect())
}

impl LoadReport {
    /// Adds up the reports of several servers, and keeps the hottest of each list.
    pub fn sum(reports: impl IntoIterator<Item = Self>, count_max: usize) -> Self {
        let (mut holdings, mut partitions) = (BTreeMap::new(), BTreeMap::new());
        for report in reports {
            report.holdings.into_iter().for_each(|(name, rate)| add(holdings.entry(name).or_default(), rate));
            report.partitions.into_iter().for_each(|(name, rate)| add(partitions.entry(name).or_default(), rate));
        }
        let mut sum = Self { holdings: holdings.into_iter().collect(), partitions: partitions.into_iter().collect() };
        keep_hottest(&mut sum.holdings, count_max);
        keep_hottest(&mut sum.partitions, count_max);
        sum
    }
}

fn add(sum: &mut Rate, rate: Rate) {
    sum.reads += rate.reads;
    sum.writes += rate.writes;
    sum.unseen += rate.unseen;
}

#[cfg(test)]
mod tests {
    use tablerock_kv::{ManualClock, MemoryEngine};

    use super::*;
    use crate::load::LoadedHolding;

    fn report(reads: f64) -> LoadReport {
        let rate = Rate { reads, writes: 1.0, unseen: 0.0 };
        let (service, account, name) = (Service::Queue, "acct".to_owned(), "jobs".to_owned());
        let partition =
            LoadedPartition { service, account: account.clone(), name: name.clone(), partition: String::new() };
        LoadReport {
            holdings: vec![(LoadedHolding { service, account, name }, rate)],
            partitions: vec![(partition, rate)],
        }
    }

    #[tokio::test]
    async fn the_load_of_all_servers_is_added_up_until_one_stops() {
        let store = Store::new(Arc::new(MemoryEngine::shared()));
        let clock = Arc::new(ManualClock::at(638_000_000_000_000_000));
        let [one, other] = [0, 1].map(|_| SharedLoad::of(&store, clock.clone()).unwrap());
        one.publish(report(100.0)).await.unwrap();
        other.publish(report(10.0)).await.unwrap();
        let sum = one.with_others(report(200.0), 10).await.unwrap();
        assert_eq!((sum.servers, sum.report.holdings[0].1.reads), (2, 210.0), "its own load is the newest");
        let read = StoreLoad::read(&store, &*clock, 10).await.unwrap();
        assert_eq!((read.servers, read.report.partitions[0].1.reads), (2, 110.0));
        assert_eq!((&read.stored[..], &read.nodes[..]), (&[None][..], &[None][..]), "there is no such queue");
        clock.advance(Duration::from_secs(31));
        assert_eq!(StoreLoad::read(&store, &*clock, 10).await.unwrap().servers, 0);
        clock.advance(Duration::from_secs(3_600));
        assert_eq!(records(&store).await.unwrap().len(), 2);
        SharedLoad::of(&store, clock.clone()).unwrap().publish(LoadReport::default()).await.unwrap();
        assert!(records(&store).await.unwrap().is_empty(), "an idle server stores nothing, and deletes what is old");
    }

    #[tokio::test]
    async fn a_store_of_one_process_has_no_such_records() {
        assert!(SharedLoad::of(&Store::in_memory(), Arc::new(ManualClock::at(0))).is_none());
    }
}
