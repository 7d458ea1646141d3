//! A client among many: what it chooses to do, and what it writes down.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::{PARTITIONS, ROWS, TABLE};
use crate::client::{Client, Reply, Verdict};
use crate::content::{Address, Content, Etag, Version};
use crate::linear::{self, Call, Condition, Outcome, PartitionState, Row, RowChange, VersionId};
use crate::observed::{collection, entity, point_version};
use crate::operation::{Attempt, Change, Match, Operation};

/// How long a client waits before it looks again for a server that is gone.
const PAUSE: Duration = Duration::from_millis(5);
const PATIENCE: Duration = Duration::from_secs(60);

type Recorded = Vec<(usize, Call<linear::Operation>)>;

/// What all clients have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    started: Instant,
    versions: AtomicU32,
    /// Which version each ETag of a row belongs to.
    etags: Mutex<HashMap<(usize, Row, String), VersionId>>,
    violations: Mutex<Vec<String>>,
    /// Whether a server may say that it failed, because the database is taken away from it: that is no answer then.
    may_fail: bool,
}

impl Shared {
    pub(crate) fn new(may_fail: bool) -> Self {
        Self {
            may_fail,
            started: Instant::now(),
            versions: AtomicU32::new(1),
            etags: Mutex::default(),
            violations: Mutex::default(),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// An ETag belongs to one version, for ever.
    fn note(&self, partition: usize, row: Row, etag: &Etag, version: VersionId) {
        let key = (partition, row, etag.as_str().to_owned());
        let mut etags = self.etags.lock().unwrap_or_else(PoisonError::into_inner);
        let known = *etags.entry(key).or_insert(version);
        if known != version {
            let text = format!("{} was the ETag of version {known} and of version {version}", etag.as_str());
            self.violations.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        }
    }

    pub(crate) fn violations(&self) -> Vec<String> {
        std::mem::take(&mut self.violations.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds what everybody can see in the end.
    pub(crate) async fn read_all(
        &self,
        client: &mut Client,
        calls: &mut [Vec<Call<linear::Operation>>],
    ) -> Result<(), String> {
        for (partition, calls) in calls.iter_mut().enumerate() {
            let called = self.now();
            let Some(state) = query(client, partition, false).await? else {
                return Err("the server is gone".to_owned());
            };
            let operation = linear::Operation::ReadAll(versions(&state)?);
            calls.push(Call { called, returned: Some(self.now()), operation });
        }
        Ok(())
    }
}

pub(crate) struct Contender {
    rng: Rng,
    /// One for each server; whom it asks is left to chance.
    clients: Vec<Client>,
    /// Whether the last write got no answer. Then this client looks before it writes again, so that there is not an open
    /// write for each time that it asks in vain.
    is_unsure: bool,
    shared: Arc<Shared>,
    /// What this client last saw of each row.
    seen: HashMap<(usize, Row), (Etag, VersionId)>,
    recorded: Recorded,
}

impl Contender {
    pub(crate) fn new(number: usize, seed: u64, clients: Vec<Client>, shared: Arc<Shared>) -> Self {
        let rng = Rng::with_seed(seed ^ number as u64);
        Self { rng, clients, is_unsure: false, shared, seen: HashMap::new(), recorded: Vec::new() }
    }

    /// Does so many operations that came through, and tells what was called and answered.
    pub(crate) async fn run(mut self, operations: usize) -> Result<Recorded, String> {
        let give_up = Instant::now() + PATIENCE;
        let mut answered = 0;
        while answered < operations {
            let partition = self.rng.usize(0..PARTITIONS);
            let is_answered = match self.rng.u8(0..10) {
                3 | 4 => self.read_all(partition).await?,
                5.. if !self.is_unsure => self.write(partition).await?,
                _ => self.read(partition).await?,
            };
            self.is_unsure = !is_answered;
            match is_answered {
                true => answered += 1,
                false => tokio::time::sleep(PAUSE).await,
            }
            if Instant::now() > give_up {
                return Err("the server does not come back".to_owned());
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
        let Reply::Answered(answer) = self.client().get(&address.path(), &[]).await else { return Ok(false) };
        let returned = Some(self.shared.now());
        let found = point_version(&address, &answer)?;
        let version = self.take_in(partition, row, found.as_ref())?;
        self.recorded.push((partition, Call { called, returned, operation: linear::Operation::Read(row, version) }));
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
        let operation = linear::Operation::ReadAll(versions(&rows)?);
        self.recorded.push((partition, Call { called, returned, operation }));
        Ok(true)
    }

    async fn write(&mut self, partition: usize) -> Result<bool, String> {
        let count = if self.rng.u8(0..3) == 0 { self.rng.usize(2..=ROWS) } else { 1 };
        let rows = self.rng.choose_multiple(0..ROWS, count);
        let changes: Vec<(Row, RowChange)> =
            rows.into_iter().map(|row| (row, self.choose_change(partition, row))).collect();
        let operations = changes.iter().map(|&(row, change)| self.operation(partition, row, change)).collect();
        let called = self.shared.now();
        let reply = self.client().attempt(&Attempt::Entities(operations)).await?;
        let now = self.shared.now();
        let (outcome, returned) = match reply {
            Reply::Answered(Verdict::Done(etags)) => {
                for ((row, change), etag) in changes.iter().zip(&etags) {
                    self.take_in_own(partition, *row, *change, etag.as_ref());
                }
                (Outcome::Done, Some(now))
            }
            Reply::Answered(Verdict::Refused(status)) => (Outcome::Refused(status), Some(now)),
            Reply::Lost => (Outcome::Unknown, None),
            Reply::NotSent => return Ok(false),
            Reply::Failed(..) if self.shared.may_fail => (Outcome::Unknown, None),
            Reply::Failed(status, text) => return Err(format!("{status} {text}")),
        };
        let operation = linear::Operation::Write(changes, outcome);
        self.recorded.push((partition, Call { called, returned, operation }));
        Ok(returned.is_some())
    }

    fn choose_change(&mut self, partition: usize, row: Row) -> RowChange {
        let seen = self.seen.get(&(partition, row)).map(|(_, version)| *version);
        let condition = match (self.rng.u8(0..6), seen) {
            (0..=3, Some(version)) => Condition::Version(version),
            (4, _) | (_, None) => Condition::Any,
            _ => Condition::Upsert,
        };
        let version = self.shared.versions.fetch_add(1, Ordering::Relaxed);
        match (self.rng.u8(0..8), condition) {
            (0 | 1, _) => RowChange::Insert(version),
            (2, Condition::Any | Condition::Version(_)) => RowChange::Delete(condition),
            _ => RowChange::Replace(version, condition),
        }
    }

    fn operation(&mut self, partition: usize, row: Row, change: RowChange) -> Operation {
        let etag = |condition: Condition| match condition {
            Condition::Upsert => Match::Upsert,
            Condition::Any => Match::Any,
            Condition::Version(_) => Match::Version(self.seen[&(partition, row)].0.clone()),
        };
        let change = match change {
            RowChange::Insert(version) => Change::Insert(content(version)),
            // All versions have the same properties, so a merge is a replacement.
            RowChange::Replace(version, condition) if version % 2 == 0 => {
                Change::Merge(content(version), etag(condition))
            }
            RowChange::Replace(version, condition) => Change::Replace(content(version), etag(condition)),
            RowChange::Delete(condition) => Change::Delete(etag(condition)),
        };
        Operation { address: address(partition, row), change }
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

/// All rows of a partition, from one query; `None` if no answer came.
async fn query(client: &mut Client, partition: usize, may_fail: bool) -> Result<Option<Vec<Option<Version>>>, String> {
    let filter = format!("PartitionKey eq 'p{partition}'");
    let answer = match client.get(&format!("/{TABLE}()"), &[("$filter", &filter)]).await {
        Reply::Answered(answer) if answer.status == 200 => answer,
        Reply::Answered(answer) => return Err(format!("a query was answered with {}", answer.status)),
        Reply::Failed(..) if may_fail => return Ok(None),
        Reply::Failed(status, text) => return Err(format!("a query failed: {status} {text}")),
        Reply::Lost | Reply::NotSent => return Ok(None),
    };
    let found = collection(&answer.body)?;
    let found = found.into_iter().map(|item: Map<String, Value>| entity(TABLE, item));
    let found: HashMap<Address, Version> = found.collect::<Result<_, String>>()?;
    Ok(Some((0..ROWS).map(|row| found.get(&address(partition, row)).cloned()).collect()))
}
