//! The generator of table writes, and of point reads between them.

use fastrand::Rng;

use super::{
    Address, Content, EntityChange, EntityOperation, Etag, IfMatch, TableModel, TableWorker, TableWorkers, TableWrite,
    entity_difference, parse_point_read,
};
use crate::client::{Client, Reply};
use crate::workers::Generator;

/// Tables that all workers write to and none drops.
pub const SHARED_TABLES: [&str; 2] = ["Shared0", "Shared1"];
const PARTITIONS: u8 = 4;
/// Rows of one worker in one partition. Few, so that each is written, deleted and written again many times.
const ROWS: u8 = 6;
/// A worker's own tables, which it creates and drops.
const OWN_TABLES: u8 = 2;
const STALE_ETAGS_MAX: usize = 64;

#[derive(Debug, Clone)]
pub struct TableOptions {
    /// The size of most values; some are much larger.
    pub value_bytes: usize,
    pub large_value_bytes: usize,
    /// Whether several servers issue Timestamps independently.
    pub has_many_servers: bool,
    /// The shared tables that exist.
    pub shared_tables: Vec<String>,
}

impl Default for TableOptions {
    fn default() -> Self {
        let shared_tables = SHARED_TABLES.map(str::to_owned).to_vec();
        Self { value_bytes: 200, large_value_bytes: 20_000, has_many_servers: false, shared_tables }
    }
}

#[derive(Debug)]
pub struct TableGenerator {
    /// Marks the worker's rows, tables and values.
    name: String,
    rng: Rng,
    options: TableOptions,
    writes: u64,
    /// ETags of replaced versions.
    stale: Vec<(Address, Etag)>,
}

impl Generator for TableGenerator {
    type Model = TableModel;
    type Options = TableOptions;

    fn new(name: String, seed: u64, options: &TableOptions) -> Self {
        Self { name, rng: Rng::with_seed(seed), options: options.clone(), writes: 0, stale: Vec::new() }
    }

    fn initial_model(&self) -> TableModel {
        TableModel::new(&self.options.shared_tables, self.options.has_many_servers)
    }

    fn choose(&mut self, model: &TableModel) -> TableWrite {
        match self.rng.u8(0..20) {
            0 => self.choose_table_write(model),
            1..=5 => self.choose_group(model),
            _ => {
                let address = self.choose_address();
                TableWrite::Entities(vec![self.choose_operation(model, address)])
            }
        }
    }

    fn on_response(&mut self, model: &TableModel, write: &TableWrite) {
        let TableWrite::Entities(operations) = write else { return };
        for operation in operations {
            if let Some(version) = model.version(&operation.address) {
                self.stale.push((operation.address.clone(), version.etag.clone()));
            }
        }
        let surplus = self.stale.len().saturating_sub(STALE_ETAGS_MAX);
        self.stale.drain(..surplus);
    }

    async fn step(worker: &mut TableWorker, client: &mut Client) -> bool {
        if worker.generator.rng.u8(0..8) == 0 { read(worker, client).await } else { worker.write(client).await }
    }

    async fn set_up(worker: &mut TableWorker, client: &mut Client) -> Result<(), String> {
        for name in SHARED_TABLES {
            if !worker.send(client, TableWrite::CreateTable(name.to_owned())).await {
                return Err(format!("cannot create table {name}"));
            }
        }
        Ok(())
    }
}

/// Reads an entity of the worker, which no other worker changes.
async fn read(worker: &mut TableWorker, client: &mut Client) -> bool {
    let address = worker.generator.choose_address();
    if !worker.model.has_table(&address.table) {
        return true;
    }
    let reply = client.get(&address.path(), &[]).await;
    let found = reply.and_then(|answer| Ok(Reply::Response(parse_point_read(&address, &answer)?)));
    let Some(Some(found)) = worker.findings.take_reply(format_args!("GET {address}"), found) else { return false };
    let difference = entity_difference(&address, worker.model.version(&address), found.as_ref());
    worker.findings.violations.extend(difference.map(|difference| format!("read: {difference}")));
    true
}

impl TableGenerator {
    fn choose_table_write(&mut self, model: &TableModel) -> TableWrite {
        let name = self.own_table();
        match (model.has_table(&name), self.rng.u8(0..8)) {
            // Sometimes a write that must be rejected.
            (true, 0) | (false, 1..) => TableWrite::CreateTable(name),
            (true, _) | (false, 0) => TableWrite::DropTable(name),
        }
    }

    fn choose_group(&mut self, model: &TableModel) -> TableWrite {
        let first = self.choose_address();
        let count = self.rng.usize(2..=usize::from(ROWS));
        let rows = self.rng.choose_multiple(0..ROWS, count);
        let addresses = rows.into_iter().map(|row| Address { row: self.row(row), ..first.clone() });
        let addresses: Vec<Address> = addresses.collect();
        TableWrite::Entities(addresses.into_iter().map(|address| self.choose_operation(model, address)).collect())
    }

    fn choose_operation(&mut self, model: &TableModel, address: Address) -> EntityOperation {
        let change = match model.version(&address).map(|version| version.etag.clone()) {
            None => match self.rng.u8(0..10) {
                0 => EntityChange::Delete(IfMatch::Any),
                1..=6 => EntityChange::Insert(self.content()),
                7 | 8 => EntityChange::Replace(self.content(), IfMatch::Upsert),
                _ => EntityChange::Merge(self.content(), IfMatch::Upsert),
            },
            Some(etag) => {
                let condition = self.choose_condition(&address, etag);
                match self.rng.u8(0..12) {
                    0 => EntityChange::Insert(self.content()),
                    1..=3 if condition != IfMatch::Upsert => EntityChange::Delete(condition),
                    1..=6 => EntityChange::Replace(self.content(), condition),
                    _ => EntityChange::Merge(self.content(), condition),
                }
            }
        };
        EntityOperation { address, change }
    }

    fn choose_condition(&mut self, address: &Address, etag: Etag) -> IfMatch {
        let stale = self.stale.iter().find(|(other, old)| other == address && *old != etag).map(|(_, old)| old.clone());
        match (self.rng.u8(0..12), stale) {
            (0, Some(stale)) => IfMatch::Version(stale),
            (0..=4, _) => IfMatch::Version(etag),
            (5..=7, _) => IfMatch::Any,
            _ => IfMatch::Upsert,
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
        let bytes = if self.rng.u8(0..20) == 0 { self.options.large_value_bytes } else { self.options.value_bytes };
        let bytes = self.rng.usize(0..=bytes.max(1));
        Content::unique(&write, bytes, &mut self.rng)
    }
}

impl TableWorkers {
    /// The number of entities of all workers.
    pub fn entity_count(&self) -> usize {
        self.workers.iter().map(|worker| worker.model.entities().count()).sum()
    }
}
