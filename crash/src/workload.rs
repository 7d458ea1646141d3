//! Workers that write at the same time, each its own entities, in tables and partitions that they share.

use fastrand::Rng;

use crate::client::{Client, Reply};
use crate::content::{Address, Content, Etag};
use crate::history::{Book as _, History, LogLength};
use crate::ledger::{Ledger, difference};
use crate::observed::point_version;
use crate::operation::{Attempt, Change, Match, Operation};
use crate::shift::Work;

/// Tables that all workers write to and nobody drops.
pub const SHARED_TABLES: [&str; 2] = ["Shared0", "Shared1"];
const PARTITIONS: u8 = 4;
/// Rows of one worker in one partition. Few, so that each is written, deleted and written again many times.
const ROWS: u8 = 6;
/// A worker's own tables, which it creates and drops.
const OWN_TABLES: u8 = 2;

/// How a worker behaves.
#[derive(Debug, Clone)]
pub struct Habits {
    /// The size of most values; some are a good deal larger.
    pub value_bytes: usize,
    pub large_value_bytes: usize,
    /// Whether there are several servers, each with Timestamps of its own.
    pub has_many_servers: bool,
}

impl Default for Habits {
    fn default() -> Self {
        Self { value_bytes: 200, large_value_bytes: 20_000, has_many_servers: false }
    }
}

#[derive(Debug)]
pub struct Worker {
    /// Marks its rows, its tables and all that it writes.
    name: String,
    rng: Rng,
    habits: Habits,
    writes: u64,
    /// ETags of versions that are gone.
    stale: Vec<(Address, Etag)>,
    pub ledger: Ledger,
    /// All that it did on a server with a layer under it.
    pub history: History,
    /// What the server answered that it should not have.
    pub violations: Vec<String>,
    /// The last answer that told of a failure of the server.
    pub failure: Option<String>,
}

impl Work for Worker {
    async fn step(&mut self, client: &mut Client, log: Option<&LogLength>) -> bool {
        if self.rng.u8(0..8) == 0 { self.read(client).await } else { self.write(client, log).await }
    }

    fn has_violations(&self) -> bool {
        !self.violations.is_empty()
    }
}

impl Worker {
    /// A worker that knows of these tables and of no entity.
    pub fn new(name: impl Into<String>, seed: u64, habits: &Habits, tables: &[String]) -> Self {
        let ledger = Ledger::new(tables, habits.has_many_servers);
        Self {
            name: name.into(),
            rng: Rng::with_seed(seed),
            habits: habits.clone(),
            writes: 0,
            stale: Vec::new(),
            history: History::new(ledger.clone()),
            ledger,
            violations: Vec::new(),
            failure: None,
        }
    }

    /// Sends an attempt of its own choice. `false` if no answer came.
    pub async fn write(&mut self, client: &mut Client, log: Option<&LogLength>) -> bool {
        let attempt = self.choose();
        self.perform(client, attempt, log).await
    }

    /// Sends one attempt and takes in its answer. `false` if there was none.
    pub async fn perform(&mut self, client: &mut Client, attempt: Attempt, log: Option<&LogLength>) -> bool {
        let position = || log.map_or(0, |log| log());
        let sent_at = position();
        let reply = client.attempt(&attempt).await;
        let answer = match reply {
            Ok(Reply::Answered(verdict)) => Some(verdict),
            Ok(Reply::NotSent) => return false,
            Ok(Reply::Lost) => None,
            Ok(Reply::Failed(status, text)) => {
                self.failure = Some(format!("{attempt}: {status} {text}"));
                None
            }
            Err(violation) => {
                self.violations.push(violation);
                return false;
            }
        };
        if log.is_some() {
            self.history.add(attempt.clone(), sent_at, answer.clone().map(|verdict| (verdict, position())));
        }
        let Some(verdict) = answer else {
            self.ledger.unanswered(&attempt);
            return false;
        };
        self.remember_old_versions(&attempt);
        if let Err(violation) = self.ledger.answered(&attempt, &verdict) {
            self.violations.push(violation);
        }
        true
    }

    /// Reads an entity of its own, which nobody else changes.
    async fn read(&mut self, client: &mut Client) -> bool {
        let address = self.choose_address();
        if !self.ledger.has_table(&address.table) {
            return true;
        }
        match client.get(&address.path(), &[]).await {
            Reply::Answered(answer) => {
                let found = point_version(&address, &answer).map(|there| {
                    let wrong = difference(&address, self.ledger.version(&address), there.as_ref());
                    wrong.map(|wrong| format!("read: {wrong}"))
                });
                self.violations.extend(found.unwrap_or_else(Some));
                true
            }
            Reply::Failed(status, text) => {
                self.failure = Some(format!("GET {address}: {status} {text}"));
                false
            }
            Reply::Lost | Reply::NotSent => false,
        }
    }

    fn remember_old_versions(&mut self, attempt: &Attempt) {
        let Attempt::Entities(operations) = attempt else { return };
        for operation in operations {
            if let Some(version) = self.ledger.version(&operation.address) {
                self.stale.push((operation.address.clone(), version.etag.clone()));
            }
        }
        let surplus = self.stale.len().saturating_sub(64);
        self.stale.drain(..surplus);
    }

    fn choose(&mut self) -> Attempt {
        match self.rng.u8(0..20) {
            0 => self.choose_table_attempt(),
            1..=5 => self.choose_group(),
            _ => {
                let address = self.choose_address();
                Attempt::Entities(vec![self.choose_operation(address)])
            }
        }
    }

    fn choose_table_attempt(&mut self) -> Attempt {
        let name = self.own_table();
        match (self.ledger.has_table(&name), self.rng.u8(0..8)) {
            // Now and then what must be refused.
            (true, 0) | (false, 1..) => Attempt::CreateTable(name),
            (true, _) | (false, 0) => Attempt::DropTable(name),
        }
    }

    fn choose_group(&mut self) -> Attempt {
        let first = self.choose_address();
        let amount = self.rng.usize(2..=usize::from(ROWS));
        let rows = self.rng.choose_multiple(0..ROWS, amount);
        let addresses = rows.into_iter().map(|row| Address { row: self.row(row), ..first.clone() });
        let addresses: Vec<Address> = addresses.collect();
        Attempt::Entities(addresses.into_iter().map(|address| self.choose_operation(address)).collect())
    }

    fn choose_operation(&mut self, address: Address) -> Operation {
        let change = match self.ledger.version(&address).map(|version| version.etag.clone()) {
            None => match self.rng.u8(0..10) {
                0 => Change::Delete(Match::Any),
                1..=6 => Change::Insert(self.content()),
                7 | 8 => Change::Replace(self.content(), Match::Upsert),
                _ => Change::Merge(self.content(), Match::Upsert),
            },
            Some(etag) => {
                let condition = self.choose_condition(&address, etag);
                match self.rng.u8(0..12) {
                    0 => Change::Insert(self.content()),
                    1..=3 if condition != Match::Upsert => Change::Delete(condition),
                    1..=6 => Change::Replace(self.content(), condition),
                    _ => Change::Merge(self.content(), condition),
                }
            }
        };
        Operation { address, change }
    }

    fn choose_condition(&mut self, address: &Address, etag: Etag) -> Match {
        let stale = self.stale.iter().find(|(other, old)| other == address && *old != etag).map(|(_, old)| old.clone());
        match (self.rng.u8(0..12), stale) {
            (0, Some(stale)) => Match::Version(stale),
            (0..=4, _) => Match::Version(etag),
            (5..=7, _) => Match::Any,
            _ => Match::Upsert,
        }
    }

    fn choose_address(&mut self) -> Address {
        let table = match self.rng.u8(0..5) {
            0 => self.own_table(),
            number => SHARED_TABLES[usize::from(number) % SHARED_TABLES.len()].to_owned(),
        };
        let (partition, row) = (self.rng.u8(0..PARTITIONS), self.rng.u8(0..ROWS));
        Address::new(table, format!("p{partition}"), self.row(row))
    }

    fn own_table(&mut self) -> String {
        format!("Own{}x{}", self.name, self.rng.u8(0..OWN_TABLES))
    }

    fn row(&self, number: u8) -> String {
        format!("{}r{number}", self.name)
    }

    fn content(&mut self) -> Content {
        self.writes += 1;
        let write = format!("{}n{}", self.name, self.writes);
        let bytes = if self.rng.u8(0..20) == 0 { self.habits.large_value_bytes } else { self.habits.value_bytes };
        let bytes = self.rng.usize(0..=bytes.max(1));
        Content::unique(&write, bytes, &mut self.rng)
    }
}
