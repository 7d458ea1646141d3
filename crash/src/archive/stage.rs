//! The server, the two tables and the queue that an archive worker works with.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fastrand::Rng;

use super::worker::{ARCHIVE, Archivist, Ending, HIDDEN, LIVE, Order, PARTITION, Step};
use crate::client::{Client, ClockOffset, Reply, Verdict};
use crate::content::{Address, Content};
use crate::messages::{Deed, Fulfilment, Outcome, Wish, ask, create};
use crate::observed::Observed;
use crate::operation::{Attempt, Change, Operation};
use crate::run::{Place, Run};
use crate::server::Server;

/// What the dead left behind must be done by then.
const PATIENCE: Duration = Duration::from_secs(60);
const VALUE_BYTES: usize = 100;

#[derive(Debug)]
pub(super) struct Stage<'r> {
    run: &'r Run,
    place: Place,
    server: Option<Server>,
    /// All entities, and whether a message asks for their removal to the archive.
    entities: BTreeMap<String, (Content, bool)>,
}

impl<'r> Stage<'r> {
    /// A server with entities that a message asks for, and with some that none does.
    pub(super) async fn set(run: &'r Run, asked: usize, bystanders: usize, rng: &mut Rng) -> Result<Self, String> {
        let place = Place::make_in_memory(run, "archive")?;
        let server = Server::start(&run.program, &place.location, None).await?;
        let mut stage = Self { run, place, server: Some(server), entities: BTreeMap::new() };
        let mut client = stage.client();
        for table in [LIVE, ARCHIVE] {
            write(&mut client, Attempt::CreateTable(table.to_owned())).await?;
        }
        create(&mut client).await?;
        for number in 0..asked + bystanders {
            let (row, is_asked) = (format!("r{number:03}"), number < asked);
            let content = Content::unique(&row, VALUE_BYTES, rng);
            let address = Address::new(LIVE, PARTITION, row.clone());
            let insert = Operation { address, change: Change::Insert(content.clone()) };
            write(&mut client, Attempt::Entities(vec![insert])).await?;
            if is_asked {
                let put = Deed::Put { text: row.clone(), hidden: Duration::ZERO, receipt: None };
                match ask(&mut client, Wish::new(put)).await? {
                    Fulfilment::Known(_, Outcome::Done, _) => {}
                    other => return Err(format!("a message could not be put: {other:?}")),
                }
            }
            stage.entities.insert(row, (content, is_asked));
        }
        Ok(stage)
    }

    pub(super) fn client(&self) -> Client {
        Client::new(self.run.program.target(), ClockOffset::default())
    }

    /// Kills the server and starts the next one.
    pub(super) async fn kill_server(&mut self) -> Result<(), String> {
        if let Some(server) = self.server.take() {
            server.kill();
        }
        self.server = Some(Server::start(&self.run.program, &self.place.location, None).await?);
        Ok(())
    }

    /// A worker that nobody kills does what is left to do, until there is no message any more, not even an invisible one.
    pub(super) async fn finish(&self, order: Order) -> Result<(), String> {
        let started = Instant::now();
        let mut archivist = Archivist::new(self.client());
        while started.elapsed() < PATIENCE {
            for step in Step::in_order(order) {
                match archivist.perform(step).await? {
                    Ending::Done => {}
                    Ending::NothingToDo => break,
                    Ending::NoAnswer => return Err("the server does not answer".to_owned()),
                }
            }
            if count(&mut self.client()).await? == 0 {
                return Ok(());
            }
            // What there is may be invisible for as long as this.
            tokio::time::sleep(HIDDEN / 100).await;
        }
        Err(format!("after {PATIENCE:?} there are still messages"))
    }

    /// Each entity is whole, and in one table only.
    pub(super) async fn judge(mut self) -> Result<(), String> {
        let observed = Observed::read(&mut self.client()).await?;
        let mut violations = Vec::new();
        for (row, (content, is_asked)) in &self.entities {
            let there = [LIVE, ARCHIVE].map(|table| {
                let found = observed.entities.get(&Address::new(table, PARTITION, row.clone()));
                found.map(|version| version.content == *content)
            });
            let wanted = if *is_asked { [None, Some(true)] } else { [Some(true), None] };
            if there != wanted {
                violations.push(format!("{row}: whole in (live, archive): {there:?}, expected {wanted:?}"));
            }
        }
        if let Some(server) = self.server.take() {
            server.stop().await?;
        }
        self.place.judge("in the end", violations)?;
        self.place.clean_up();
        Ok(())
    }
}

async fn write(client: &mut Client, attempt: Attempt) -> Result<(), String> {
    match client.attempt(&attempt).await? {
        Reply::Answered(Verdict::Done(_)) => Ok(()),
        other => Err(format!("{attempt}: {other:?}")),
    }
}

async fn count(client: &mut Client) -> Result<u64, String> {
    match ask(client, Wish::new(Deed::Count { messages: 0 })).await? {
        Fulfilment::Known(Deed::Count { messages }, Outcome::Done, _) => Ok(messages),
        other => Err(format!("messages cannot be counted: {other:?}")),
    }
}
