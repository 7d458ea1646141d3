//! All workers together: put to work, called back, and their ledgers compared with what the server shows.

use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::client::{Client, ClockOffset};
use crate::content::{Address, Timestamp};
use crate::history::{History, LogLength};
use crate::ledger::{Ledger, Settlement};
use crate::observed::Observed;
use crate::operation::Attempt;
use crate::server::Server;
use crate::shift::Shift;
use crate::workload::{Habits, SHARED_TABLES, Worker};

/// Entities that are read one by one after each restart, beside the listing of all.
const POINTS_CHECKED: usize = 20;

const POLL: Duration = Duration::from_millis(5);

/// Workers that do not work at the moment.
#[derive(Debug)]
pub struct Crew {
    pub workers: Vec<Worker>,
    /// Made the tables that the others share, and does nothing more.
    pub founder: Worker,
}

/// Workers at work.
#[derive(Debug)]
pub struct CrewShift {
    founder: Worker,
    workers: Shift<Worker>,
}

impl Crew {
    pub fn new(size: usize, rng: &mut Rng, habits: &Habits) -> Self {
        let tables = SHARED_TABLES.map(str::to_owned);
        let worker = |number| Worker::new(format!("w{number}"), rng.u64(..), habits, &tables);
        let workers = (0..size).map(worker).collect();
        Self { workers, founder: Worker::new("founder", 0, habits, &[]) }
    }

    /// Creates the tables that the workers share.
    pub async fn found(&mut self, client: &mut Client, log: Option<&LogLength>) -> Result<(), String> {
        for name in SHARED_TABLES {
            if !self.founder.perform(client, Attempt::CreateTable(name.to_owned()), log).await {
                return Err(format!("table {name} could not be created"));
            }
        }
        Ok(())
    }

    /// Lets everyone work on a running server.
    pub fn begin(self, server: &Server, clock: &ClockOffset, log: Option<&LogLength>) -> CrewShift {
        CrewShift { founder: self.founder, workers: Shift::begin(self.workers, server, clock, log) }
    }

    /// Lets everyone work on running servers, each through the client that goes with its number.
    pub fn begin_with(self, client: &dyn Fn(usize) -> Client) -> CrewShift {
        CrewShift { founder: self.founder, workers: Shift::begin_with(self.workers, client, None) }
    }

    /// Everything that is wrong: answers that should not have been given, and data that is not what it should be.
    pub async fn check(&mut self, client: &mut Client, rng: &mut Rng, log: Option<&LogLength>) -> Vec<String> {
        let mut violations = self.take_violations();
        let observed = match Observed::read(client).await {
            Ok(observed) => observed,
            Err(error) => {
                violations.push(error);
                return violations;
            }
        };
        let mut ledgers: Vec<&mut Ledger> = self.everyone().map(|worker| &mut worker.ledger).collect();
        let (settlements, wrong) = settle_all(&mut ledgers, &observed);
        violations.extend(wrong);
        if let Some(log) = log {
            let settled = self.everyone().zip(settlements);
            settled.for_each(|(worker, settlement)| {
                worker.history.settle(settlement.and_then(Settlement::into_verdict), log())
            });
        }
        let everything: Vec<&Address> = observed.entities.keys().collect();
        let some = rng.choose_multiple(everything.iter().copied(), POINTS_CHECKED);
        violations.extend(observed.check_points(client, &some).await.err());
        violations
    }

    fn everyone(&mut self) -> impl Iterator<Item = &mut Worker> {
        self.workers.iter_mut().chain([&mut self.founder])
    }

    /// What everyone knows.
    pub fn ledgers(&mut self) -> impl Iterator<Item = &mut Ledger> {
        self.everyone().map(|worker| &mut worker.ledger)
    }

    /// What everyone did on servers with a layer under them.
    pub fn into_histories(self) -> Vec<History> {
        self.workers.into_iter().chain([self.founder]).map(|worker| worker.history).collect()
    }

    pub fn entity_count(&self) -> usize {
        self.workers.iter().map(|worker| worker.ledger.entity_count()).sum()
    }

    /// Answers that should not have been given.
    pub fn take_violations(&mut self) -> Vec<String> {
        self.everyone().flat_map(|worker| worker.violations.drain(..)).collect()
    }

    /// What the server said of its own failure, as far as the workers heard it.
    pub fn take_failures(&mut self) -> Vec<String> {
        self.everyone().filter_map(|worker| worker.failure.take()).collect()
    }
}

impl CrewShift {
    /// Lets everyone work for a while.
    pub async fn last(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    /// Lets everyone work until somebody has stopped, because an answer did not come or told of a failure; or for so long.
    pub async fn last_until_failure(&self, time_max: Duration) {
        let started = Instant::now();
        while started.elapsed() < time_max && !self.workers.is_anyone_back() {
            tokio::time::sleep(POLL).await;
        }
    }

    /// Calls everyone back; requests under way are waited for.
    pub async fn end(self) -> Crew {
        Crew { workers: self.workers.end().await, founder: self.founder }
    }
}

/// Holds all ledgers against what is there, and looks for what is in none of them. Tells what became of each one's open
/// attempt, and what is wrong.
pub fn settle_all(ledgers: &mut [&mut Ledger], observed: &Observed) -> (Vec<Option<Settlement>>, Vec<String>) {
    let settled = ledgers.iter_mut().map(|ledger| ledger.settle(observed));
    let (settlements, violations): (Vec<_>, Vec<_>) = settled.unzip();
    let mut violations = violations.concat();
    let is_known = |address: &Address| ledgers.iter().any(|ledger| ledger.version(address).is_some());
    for (address, version) in observed.entities.iter().filter(|(address, _)| !is_known(address)) {
        violations.push(format!("{address}: {} is there and should not be", version.content));
    }
    for table in observed.tables.iter().filter(|table| !ledgers.iter().any(|ledger| ledger.owns_table(table))) {
        violations.push(format!("table {table} is there and should not be"));
    }
    // From here on, every write must be later than everything that anyone has seen.
    let latest = ledgers.iter().map(|ledger| ledger.latest().clone()).max().unwrap_or_default();
    let shown = observed.entities.values().map(|version| version.etag.timestamp()).max().unwrap_or_default();
    let latest: Timestamp = latest.max(shown);
    ledgers.iter_mut().for_each(|ledger| ledger.raise_latest(&latest));
    (settlements, violations)
}
