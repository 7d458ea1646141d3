//! Clients that contend for a few rows, and the history that they record.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fastrand::Rng;
use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;

use crate::client::{Client, Reply};
use crate::linearizability::{
    Invocation, PartitionOperation, PartitionState, Row, RowChange, RowCondition, VersionId, WriteOutcome, check,
};
use crate::model::{Model as _, Outcome};
use crate::tables::{
    Address, Content, EntityChange, EntityOperation, Etag, IfMatch, TableModel, TableWrite, Version, parse_entity,
    parse_page, parse_point_read,
};

const TABLE: &str = "Contended";
const PARTITIONS: usize = 2;
const ROWS: usize = 3;
const CLIENTS: usize = 12;

/// The delay before a client tries again to reach a killed server.
const RETRY_DELAY: Duration = Duration::from_millis(5);
const TIMEOUT: Duration = Duration::from_secs(60);

/// Invocations with the number of their partition.
type Recorded = Vec<(usize, Invocation<PartitionOperation>)>;

/// Clients at work.
pub(crate) struct Contention {
    shared: Arc<Shared>,
    tasks: Vec<JoinHandle<Result<Recorded, String>>>,
}

/// The recorded invocations of each partition.
pub(crate) struct RecordedHistory {
    shared: Arc<Shared>,
    partitions: Vec<Vec<Invocation<PartitionOperation>>>,
}

impl Contention {
    /// Creates the table and starts the clients, each with one connection to every server.
    pub(crate) async fn start(
        clients: &dyn Fn() -> Vec<Client>,
        operations: usize,
        may_fail: bool,
        rng: &mut Rng,
    ) -> Result<Self, String> {
        TableModel::send(&mut clients()[0], &TableWrite::CreateTable(TABLE.to_owned())).await?;
        let shared = Arc::new(Shared {
            may_fail,
            started: Instant::now(),
            versions: AtomicU32::new(1),
            etags: Mutex::default(),
            violations: Mutex::default(),
        });
        let start = |number| {
            let client = ContendingClient::new(number, rng.u64(..), clients(), Arc::clone(&shared));
            tokio::spawn(client.run(operations))
        };
        Ok(Self { tasks: (0..CLIENTS).map(start).collect(), shared })
    }

    /// Waits until all clients have done their operations.
    pub(crate) async fn finish(self) -> Result<RecordedHistory, String> {
        let mut partitions = vec![Vec::new(); PARTITIONS];
        for task in self.tasks {
            let recorded = task.await.map_err(|error| error.to_string())??;
            recorded.into_iter().for_each(|(partition, invocation)| partitions[partition].push(invocation));
        }
        Ok(RecordedHistory { shared: self.shared, partitions })
    }
}

impl RecordedHistory {
    /// The number of invocations without a response.
    pub(crate) fn unknown_count(&self) -> usize {
        self.partitions.iter().flatten().filter(|invocation| invocation.returned.is_none()).count()
    }

    /// Adds the final state of each partition, and checks linearizability. Returns the number of operations, and the
    /// violations.
    pub(crate) async fn check(mut self, client: &mut Client) -> Result<(usize, Vec<String>), String> {
        for (partition, invocations) in self.partitions.iter_mut().enumerate() {
            let called = self.shared.now();
            let rows = query(client, partition, false).await?.ok_or("the server is gone")?;
            let operation = PartitionOperation::ReadAll(versions(&rows)?);
            invocations.push(Invocation { called, returned: Some(self.shared.now()), operation });
        }
        let total = self.partitions.iter().map(Vec::len).sum();
        let mut violations = self.shared.take_violations();
        for (partition, invocations) in self.partitions.into_iter().enumerate() {
            if let Err(stuck) = check(&vec![None; ROWS], invocations) {
                violations.push(format!("partition {partition} is not linearizable; the search ends at {stuck:?}"));
            }
        }
        Ok((total, violations))
    }
}

/// The state that all clients share.
#[derive(Debug)]
struct Shared {
    started: Instant,
    versions: AtomicU32,
    /// The version of each ETag of a row.
    etags: Mutex<HashMap<(usize, Row, String), VersionId>>,
    violations: Mutex<Vec<String>>,
    /// Whether 5xx responses are allowed, because the database is killed. Their outcome is unknown.
    may_fail: bool,
}

impl Shared {
    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Checks that an ETag belongs to one version only.
    fn note(&self, partition: usize, row: Row, etag: &Etag, version: VersionId) {
        let key = (partition, row, etag.as_str().to_owned());
        let mut etags = self.etags.lock().unwrap_or_else(PoisonError::into_inner);
        let known = *etags.entry(key).or_insert(version);
        if known != version {
            let text = format!("{} was the ETag of version {known} and of version {version}", etag.as_str());
            self.violations.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        }
    }

    fn take_violations(&self) -> Vec<String> {
        std::mem::take(&mut self.violations.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

struct ContendingClient {
    rng: Rng,
    /// One for each server; each request goes to a random one.
    clients: Vec<Client>,
    /// Whether the last write got no response. The client then reads before it writes again, which limits the number of
    /// unknown outcomes.
    is_unsure: bool,
    shared: Arc<Shared>,
    /// The last version of each row that this client has seen.
    seen: HashMap<(usize, Row), (Etag, VersionId)>,
    recorded: Recorded,
}

impl ContendingClient {
    fn new(number: usize, seed: u64, clients: Vec<Client>, shared: Arc<Shared>) -> Self {
        let rng = Rng::with_seed(seed ^ number as u64);
        Self { rng, clients, is_unsure: false, shared, seen: HashMap::new(), recorded: Vec::new() }
    }

    /// Runs until so many operations have got a response. Returns all invocations.
    async fn run(mut self, operations: usize) -> Result<Recorded, String> {
        let give_up = Instant::now() + TIMEOUT;
        let mut completed = 0;
        while completed < operations {
            let partition = self.rng.usize(0..PARTITIONS);
            let has_response = match self.rng.u8(0..10) {
                3 | 4 => self.read_all(partition).await?,
                5.. if !self.is_unsure => self.write(partition).await?,
                _ => self.read(partition).await?,
            };
            self.is_unsure = !has_response;
            match has_response {
                true => completed += 1,
                false => tokio::time::sleep(RETRY_DELAY).await,
            }
            if Instant::now() > give_up {
                return Err("the server does not respond".to_owned());
            }
        }
        Ok(self.recorded)
    }

    fn client(&mut self) -> &mut Client {
        let chosen = self.rng.usize(0..self.clients.len());
        &mut self.clients[chosen]
    }

    async fn read(&mut self, partition: usize) -> Result<bool, String> {
        let row = self.rng.usize(0..ROWS);
        let address = address(partition, row);
        let called = self.shared.now();
        let Reply::Response(answer) = self.client().get(&address.path(), &[]).await else { return Ok(false) };
        let returned = Some(self.shared.now());
        let found = parse_point_read(&address, &answer)?;
        let version = self.take_in(partition, row, found.as_ref())?;
        self.recorded
            .push((partition, Invocation { called, returned, operation: PartitionOperation::Read(row, version) }));
        Ok(true)
    }

    async fn read_all(&mut self, partition: usize) -> Result<bool, String> {
        let called = self.shared.now();
        let may_fail = self.shared.may_fail;
        let Some(rows) = query(self.client(), partition, may_fail).await? else { return Ok(false) };
        let returned = Some(self.shared.now());
        for (row, found) in rows.iter().enumerate() {
            self.take_in(partition, row, found.as_ref())?;
        }
        let operation = PartitionOperation::ReadAll(versions(&rows)?);
        self.recorded.push((partition, Invocation { called, returned, operation }));
        Ok(true)
    }

    async fn write(&mut self, partition: usize) -> Result<bool, String> {
        let count = if self.rng.u8(0..3) == 0 { self.rng.usize(2..=ROWS) } else { 1 };
        let rows = self.rng.choose_multiple(0..ROWS, count);
        let changes: Vec<(Row, RowChange)> =
            rows.into_iter().map(|row| (row, self.choose_change(partition, row))).collect();
        let operations = changes.iter().map(|&(row, change)| self.operation(partition, row, change)).collect();
        let called = self.shared.now();
        let reply = TableModel::send(self.client(), &TableWrite::Entities(operations)).await?;
        let now = self.shared.now();
        let (outcome, returned) = match reply {
            Reply::Response(Outcome::Done(etags)) => {
                for ((row, change), etag) in changes.iter().zip(&etags) {
                    self.take_in_own(partition, *row, *change, etag.as_ref());
                }
                (WriteOutcome::Done, Some(now))
            }
            Reply::Response(Outcome::Rejected(status)) => (WriteOutcome::Rejected(status), Some(now)),
            Reply::NoResponse => (WriteOutcome::Unknown, None),
            Reply::NotSent => return Ok(false),
            Reply::ServerError(..) if self.shared.may_fail => (WriteOutcome::Unknown, None),
            Reply::ServerError(status, text) => return Err(format!("{status} {text}")),
        };
        let operation = PartitionOperation::Write(changes, outcome);
        self.recorded.push((partition, Invocation { called, returned, operation }));
        Ok(returned.is_some())
    }

    fn choose_change(&mut self, partition: usize, row: Row) -> RowChange {
        let seen = self.seen.get(&(partition, row)).map(|(_, version)| *version);
        let condition = match (self.rng.u8(0..6), seen) {
            (0..=3, Some(version)) => RowCondition::Version(version),
            (4, _) | (_, None) => RowCondition::Any,
            _ => RowCondition::Upsert,
        };
        let version = self.shared.versions.fetch_add(1, Ordering::Relaxed);
        match (self.rng.u8(0..8), condition) {
            (0 | 1, _) => RowChange::Insert(version),
            (2, RowCondition::Any | RowCondition::Version(_)) => RowChange::Delete(condition),
            _ => RowChange::Replace(version, condition),
        }
    }

    fn operation(&mut self, partition: usize, row: Row, change: RowChange) -> EntityOperation {
        let etag = |condition: RowCondition| match condition {
            RowCondition::Upsert => IfMatch::Upsert,
            RowCondition::Any => IfMatch::Any,
            RowCondition::Version(_) => IfMatch::Version(self.seen[&(partition, row)].0.clone()),
        };
        let change = match change {
            RowChange::Insert(version) => EntityChange::Insert(content(version)),
            // All versions have the same properties, so a merge equals a replace.
            RowChange::Replace(version, condition) if version % 2 == 0 => {
                EntityChange::Merge(content(version), etag(condition))
            }
            RowChange::Replace(version, condition) => EntityChange::Replace(content(version), etag(condition)),
            RowChange::Delete(condition) => EntityChange::Delete(etag(condition)),
        };
        EntityOperation { address: address(partition, row), change }
    }

    fn take_in(&mut self, partition: usize, row: Row, found: Option<&Version>) -> Result<Option<VersionId>, String> {
        let Some(found) = found else {
            self.seen.remove(&(partition, row));
            return Ok(None);
        };
        let version = version_of(found)?;
        self.shared.note(partition, row, &found.etag, version);
        self.seen.insert((partition, row), (found.etag.clone(), version));
        Ok(Some(version))
    }

    fn take_in_own(&mut self, partition: usize, row: Row, change: RowChange, etag: Option<&Etag>) {
        match (change, etag) {
            (RowChange::Insert(version) | RowChange::Replace(version, _), Some(etag)) => {
                self.shared.note(partition, row, etag, version);
                self.seen.insert((partition, row), (etag.clone(), version));
            }
            _ => drop(self.seen.remove(&(partition, row))),
        }
    }
}

fn address(partition: usize, row: Row) -> Address {
    Address::new(TABLE, format!("p{partition}"), format!("r{row}"))
}

fn content(version: VersionId) -> Content {
    let Value::Object(properties) = json!({ "Version": version }) else { unreachable!("an object was written") };
    Content::from(properties)
}

fn version_of(found: &Version) -> Result<VersionId, String> {
    let version = found.content.property("Version").and_then(Value::as_u64);
    version.and_then(|version| VersionId::try_from(version).ok()).ok_or_else(|| format!("{:?} has no version", found))
}

fn versions(rows: &[Option<Version>]) -> Result<PartitionState, String> {
    rows.iter().map(|row| row.as_ref().map(version_of).transpose()).collect()
}

/// Queries all rows of a partition; `None` without a response.
async fn query(client: &mut Client, partition: usize, may_fail: bool) -> Result<Option<Vec<Option<Version>>>, String> {
    let filter = format!("PartitionKey eq 'p{partition}'");
    let answer = match client.get(&format!("/{TABLE}()"), &[("$filter", &filter)]).await {
        Reply::Response(answer) if answer.status == 200 => answer,
        Reply::Response(answer) => return Err(format!("a query got {}", answer.status)),
        Reply::ServerError(..) if may_fail => return Ok(None),
        Reply::ServerError(status, text) => return Err(format!("a query failed: {status} {text}")),
        Reply::NoResponse | Reply::NotSent => return Ok(None),
    };
    let found = parse_page(&answer.body)?;
    let found = found.into_iter().map(|item: Map<String, Value>| parse_entity(TABLE, item));
    let found: HashMap<Address, Version> = found.collect::<Result<_, String>>()?;
    Ok(Some((0..ROWS).map(|row| found.get(&address(partition, row)).cloned()).collect()))
}
