//! The model of one worker's tables and entities.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use tablerock_conformance::target::Service;

use super::operation::interpret;
use super::{Address, Content, Etag, ObservedTables, TableWrite, Timestamp, Version};
use crate::client::{Client, Reply};
use crate::model::{Model, Response};

/// Entities that are read one by one after each restart, in addition to the listing of all.
const SPOT_CHECKS: usize = 20;

/// The effect of a write on the current state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableEffect {
    /// The content of each entity afterwards.
    Entities(Vec<(Address, Option<Content>)>),
    TableCreated(String),
    TableDropped(String),
}

#[derive(Debug, Clone, Default)]
pub struct TableModel {
    /// Tables that another worker created and none drops.
    shared_tables: BTreeSet<String>,
    tables: BTreeSet<String>,
    entities: BTreeMap<Address, Version>,
    /// The fingerprint of every version of an entity so far, by the Timestamp in its ETag.
    versions: BTreeMap<Address, BTreeMap<Timestamp, u64>>,
    /// The newest Timestamp so far.
    latest: Timestamp,
    /// Servers that share a store issue Timestamps independently. A version is then only known to be later than the one
    /// that it replaces.
    has_many_servers: bool,
    pending: Option<TableEffect>,
}

impl TableModel {
    /// A model with these shared tables and without entities.
    pub fn new(shared_tables: &[String], has_many_servers: bool) -> Self {
        Self { shared_tables: shared_tables.iter().cloned().collect(), has_many_servers, ..Self::default() }
    }

    /// The current version of an entity.
    pub fn version(&self, address: &Address) -> Option<&Version> {
        self.entities.get(address)
    }

    pub fn has_table(&self, name: &str) -> bool {
        self.owns_table(name) || self.shared_tables.contains(name)
    }

    pub fn owns_table(&self, name: &str) -> bool {
        self.tables.contains(name)
    }

    pub fn entities(&self) -> impl Iterator<Item = (&Address, &Version)> {
        self.entities.iter()
    }

    /// Whether the version of an entity is unknown because of the pending write.
    pub fn is_pending(&self, address: &Address) -> bool {
        match &self.pending {
            Some(TableEffect::Entities(changes)) => changes.iter().any(|(changed, _)| changed == address),
            Some(TableEffect::TableDropped(table)) => *table == address.table,
            Some(TableEffect::TableCreated(_)) | None => false,
        }
    }

    /// Whether the outcome of a write is unknown.
    pub fn has_pending_write(&self) -> bool {
        self.pending.is_some()
    }

    pub fn latest(&self) -> &Timestamp {
        &self.latest
    }

    /// Requires that all later writes have a later Timestamp than this.
    pub fn raise_latest(&mut self, timestamp: &Timestamp) {
        self.latest = self.latest.clone().max(timestamp.clone());
    }

    /// Describes a group of which only a part took effect.
    fn describe_partial(&self, changes: &[(Address, Option<Content>)], observed: &ObservedTables) -> String {
        let show = |content: Option<&Content>| content.map_or("nothing".to_owned(), Content::to_string);
        let lines = changes.iter().map(|(address, after)| {
            let before = self.entities.get(address).map(|version| &version.content);
            let found = observed.entities.get(address).map(|version| &version.content);
            format!("{address}: before {}, after {}, found {}", show(before), show(after.as_ref()), show(found))
        });
        format!("an unacknowledged write took effect in part: {}", lines.collect::<Vec<_>>().join("; "))
    }

    /// Stores one acknowledged version. Its Timestamp must be later than the newest one before the request, or with many
    /// servers, later than that of the version it replaces.
    fn store(
        &mut self,
        newest: &Timestamp,
        address: Address,
        after: Option<Content>,
        etag: &Option<Etag>,
    ) -> Result<(), String> {
        let Some(content) = after else {
            self.entities.remove(&address);
            return Ok(());
        };
        let Some(etag) = etag.clone() else { return Err(format!("{address}: written, but the response has no ETag")) };
        let timestamp = etag.timestamp();
        let fingerprint = content.fingerprint();
        let known = self.versions.entry(address.clone()).or_default().insert(timestamp.clone(), fingerprint);
        if known.is_some_and(|known| known != fingerprint) {
            return Err(format!("{address}: {} was already the ETag of another version", etag.as_str()));
        }
        let replaced = self.entities.get(&address).map(|version| version.etag.timestamp()).unwrap_or_default();
        let newest = if self.has_many_servers { &replaced } else { newest };
        if timestamp <= *newest {
            return Err(format!("{address}: written at {timestamp}, after another write at {newest}"));
        }
        self.raise_latest(&timestamp);
        self.entities.insert(address, Version { content, etag });
        Ok(())
    }
}

impl Model for TableModel {
    type Write = TableWrite;
    /// One ETag for each entity that was written.
    type Ack = Vec<Option<Etag>>;
    type Effect = TableEffect;
    type Observed = ObservedTables;

    async fn send(client: &mut Client, write: &TableWrite) -> Result<Reply<Response<Self>>, String> {
        let target = client.target();
        let reply = client.send(Service::Table, &write.request(&target)).await;
        reply.and_then(|answer| interpret(client, write, answer))
    }

    async fn observe(client: &mut Client) -> Result<ObservedTables, String> {
        ObservedTables::read(client).await
    }

    async fn spot_check(observed: &ObservedTables, client: &mut Client, rng: &mut Rng) -> Result<(), String> {
        observed.check_points(client, &rng.choose_multiple(observed.entities.keys(), SPOT_CHECKS)).await
    }

    fn effect(&self, write: &TableWrite) -> Result<TableEffect, u16> {
        match write {
            TableWrite::Entities(operations) => {
                let after = operations.iter().map(|operation| {
                    if !self.has_table(&operation.address.table) {
                        return Err(404);
                    }
                    let after = operation.apply(self.entities.get(&operation.address))?;
                    Ok((operation.address.clone(), after))
                });
                after.collect::<Result<_, u16>>().map(TableEffect::Entities)
            }
            TableWrite::CreateTable(name) if self.tables.contains(name) => Err(409),
            TableWrite::CreateTable(name) => Ok(TableEffect::TableCreated(name.clone())),
            TableWrite::DropTable(name) if self.tables.contains(name) => Ok(TableEffect::TableDropped(name.clone())),
            TableWrite::DropTable(_) => Err(404),
        }
    }

    fn apply(&mut self, effect: TableEffect, etags: &Vec<Option<Etag>>) -> Result<(), String> {
        match effect {
            TableEffect::TableCreated(name) => {
                self.tables.insert(name);
            }
            TableEffect::TableDropped(name) => {
                self.entities.retain(|address, _| address.table != name);
                self.tables.remove(&name);
            }
            TableEffect::Entities(changes) => {
                if changes.len() != etags.len() {
                    return Err(format!("{} operations, but {} responses", changes.len(), etags.len()));
                }
                let newest = self.latest.clone();
                for ((address, after), etag) in std::iter::zip(changes, etags) {
                    self.store(&newest, address, after, etag)?;
                }
            }
        }
        Ok(())
    }

    fn find_ack(&self, effect: &TableEffect, observed: &ObservedTables) -> Result<Option<Vec<Option<Etag>>>, String> {
        let changes = match effect {
            TableEffect::TableCreated(name) => return Ok(observed.tables.contains(name).then(Vec::new)),
            TableEffect::TableDropped(name) => return Ok((!observed.tables.contains(name)).then(Vec::new)),
            TableEffect::Entities(changes) => changes,
        };
        let found = |address: &Address| observed.entities.get(address);
        let is_after = |(address, after): &(Address, Option<Content>)| {
            found(address).map(|version| &version.content) == after.as_ref()
        };
        if changes.iter().all(is_after) {
            let etag = |address| found(address).map(|version| version.etag.clone());
            return Ok(Some(changes.iter().map(|(address, _)| etag(address)).collect()));
        }
        match changes.iter().all(|(address, _)| found(address) == self.entities.get(address)) {
            true => Ok(None),
            false => Err(self.describe_partial(changes, observed)),
        }
    }

    fn differences(&self, observed: &ObservedTables) -> Vec<String> {
        let missing = self.tables.iter().filter(|table| !observed.tables.contains(*table));
        let tables = missing.map(|table| format!("table {table} is gone"));
        let found = |address| observed.entities.get(address);
        let entities = self.entities.iter();
        let entities =
            entities.filter_map(|(address, version)| entity_difference(address, Some(version), found(address)));
        tables.chain(entities).collect()
    }

    /// Searches for entities and tables that no worker wrote. From here on, every write must be later than all others.
    fn check_together(models: &mut [&mut Self], observed: &ObservedTables) -> Vec<String> {
        let mut violations = Vec::new();
        let is_known = |address: &Address| models.iter().any(|model| model.version(address).is_some());
        for (address, version) in observed.entities.iter().filter(|(address, _)| !is_known(address)) {
            violations.push(format!("{address}: {} exists and should not", version.content));
        }
        for table in observed.tables.iter().filter(|table| !models.iter().any(|model| model.owns_table(table))) {
            violations.push(format!("table {table} exists and should not"));
        }
        let known = models.iter().map(|model| model.latest().clone());
        let shown = observed.entities.values().map(|version| version.etag.timestamp());
        let latest = known.chain(shown).max().unwrap_or_default();
        models.iter_mut().for_each(|model| model.raise_latest(&latest));
        violations
    }

    fn pending(&mut self) -> &mut Option<TableEffect> {
        &mut self.pending
    }
}

/// The difference between the expected and the observed version of an entity, if there is one.
pub fn entity_difference(address: &Address, expected: Option<&Version>, found: Option<&Version>) -> Option<String> {
    match (expected, found) {
        (None, None) => None,
        (Some(expected), None) => Some(format!("{address}: {} was acknowledged and is gone", expected.content)),
        (None, Some(found)) => Some(format!("{address}: {} exists and should not", found.content)),
        (Some(expected), Some(found)) if expected.content != found.content => {
            Some(format!("{address}: expected {}, found {}", expected.content, found.content))
        }
        (Some(expected), Some(found)) if expected.etag != found.etag => {
            let (expected, found) = (expected.etag.as_str(), found.etag.as_str());
            Some(format!("{address}: its ETag was {expected} and is now {found}"))
        }
        _ => None,
    }
}
