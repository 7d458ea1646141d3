//! The server, the two tables and the queue of the archive worker.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fastrand::Rng;

use super::worker::{ARCHIVE, ArchiveWorker, LIVE, PARTITION, Step, StepOrder, StepOutcome, VISIBILITY_TIMEOUT};
use crate::client::{Client, Reply};
use crate::model::{Model as _, Outcome};
use crate::queues::{QueueOperation, create, send};
use crate::run::{DataDirectory, Run};
use crate::server::Server;
use crate::tables::{Address, Content, EntityChange, EntityOperation, ObservedTables, TableModel, TableWrite};

/// The limit for finishing the rest.
const FINISH_TIME_MAX: Duration = Duration::from_secs(60);
const VALUE_BYTES: usize = 100;

/// The violation for a lost entity.
pub(super) const IN_NO_TABLE: &str = "the entity is in neither table";

#[derive(Debug)]
pub(super) struct ArchiveEnvironment<'r> {
    run: &'r Run,
    directory: DataDirectory,
    server: Option<Server>,
    /// All entities, and whether a message requests their move to the archive.
    entities: BTreeMap<String, (Content, bool)>,
}

impl<'r> ArchiveEnvironment<'r> {
    /// Starts a server with entities that messages request, and with others.
    pub(super) async fn create(run: &'r Run, requested: usize, others: usize, rng: &mut Rng) -> Result<Self, String> {
        let directory = DataDirectory::create_in_memory(run, "archive")?;
        let server = directory.start().await?;
        let mut environment = Self { run, directory, server: Some(server), entities: BTreeMap::new() };
        let mut client = environment.client();
        for table in [LIVE, ARCHIVE] {
            write_done(&mut client, TableWrite::CreateTable(table.to_owned())).await?;
        }
        create(&mut client).await?;
        for number in 0..requested + others {
            let (row, is_requested) = (format!("r{number:03}"), number < requested);
            let content = Content::unique(&row, VALUE_BYTES, rng);
            let address = Address::new(LIVE, PARTITION, row.clone());
            let insert = EntityOperation { address, change: EntityChange::Insert(content.clone()) };
            write_done(&mut client, TableWrite::Entities(vec![insert])).await?;
            if is_requested {
                match send(&mut client, QueueOperation::put(row.clone(), Duration::ZERO)).await? {
                    Reply::Response(_) => {}
                    other => return Err(format!("cannot put a message: {other:?}")),
                }
            }
            environment.entities.insert(row, (content, is_requested));
        }
        Ok(environment)
    }

    pub(super) fn client(&self) -> Client {
        Client::new(self.run.program.target())
    }

    /// Kills the server and starts the next one.
    pub(super) async fn kill_server(&mut self) -> Result<(), String> {
        if let Some(server) = self.server.take() {
            server.kill();
        }
        self.server = Some(self.directory.start().await?);
        Ok(())
    }

    /// Runs a worker until no message is left, not even an invisible one.
    pub(super) async fn finish(&self, order: StepOrder) -> Result<(), String> {
        let started = Instant::now();
        let mut worker = ArchiveWorker::new(self.client());
        while started.elapsed() < FINISH_TIME_MAX {
            for step in Step::in_order(order) {
                match worker.perform(step).await? {
                    StepOutcome::Done => {}
                    StepOutcome::NothingToDo => break,
                    StepOutcome::NoResponse => return Err("the server does not respond".to_owned()),
                }
            }
            if count(&mut self.client()).await? == 0 {
                return Ok(());
            }
            // The remaining messages may be invisible.
            tokio::time::sleep(VISIBILITY_TIMEOUT / 100).await;
        }
        Err(format!("after {FINISH_TIME_MAX:?} there are still messages"))
    }

    /// Checks that each entity is complete and in one table only.
    pub(super) async fn check(mut self) -> Result<(), String> {
        let observed = ObservedTables::read(&mut self.client()).await?;
        let mut violations = Vec::new();
        for (row, (content, is_requested)) in &self.entities {
            let there = [LIVE, ARCHIVE].map(|table| {
                let found = observed.entities.get(&Address::new(table, PARTITION, row.clone()));
                found.map(|version| version.content == *content)
            });
            match (there, is_requested) {
                ([None, Some(true)], true) | ([Some(true), None], false) => {}
                ([None, None], _) => violations.push(format!("{row}: {IN_NO_TABLE}")),
                _ => {
                    violations.push(format!("{row}: complete in (live, archive): {there:?}, requested: {is_requested}"))
                }
            }
        }
        if let Some(server) = self.server.take() {
            server.stop().await?;
        }
        self.directory.verify("at the end", violations)?;
        self.directory.clean_up();
        Ok(())
    }
}

async fn write_done(client: &mut Client, write: TableWrite) -> Result<(), String> {
    match TableModel::send(client, &write).await? {
        Reply::Response(Outcome::Done(_)) => Ok(()),
        other => Err(format!("{write}: {other:?}")),
    }
}

async fn count(client: &mut Client) -> Result<u64, String> {
    match send(client, QueueOperation::Count { messages: 0 }).await? {
        Reply::Response((QueueOperation::Count { messages }, _)) => Ok(messages),
        other => Err(format!("cannot count messages: {other:?}")),
    }
}
