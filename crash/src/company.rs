//! Workers of all services on one server: tables, queues and blobs at once.

use std::time::Duration;

use fastrand::Rng;

use crate::blobs::{BlobCrew, BlobHabits, BlobWorker};
use crate::books::Histories;
use crate::client::{Client, ClockOffset};
use crate::crew::{Crew, CrewShift};
use crate::history::LogLength;
use crate::messages::{MessageCrew, MessageShift};
use crate::server::Server;
use crate::shift::Shift;
use crate::workload::Habits;

/// How many there are for each service, and how they behave.
#[derive(Debug, Clone)]
pub struct Staffing {
    pub tables: usize,
    pub messages: usize,
    pub blobs: usize,
    pub habits: Habits,
    pub blob_habits: BlobHabits,
}

/// Workers that do not work at the moment.
#[derive(Debug)]
pub struct Company {
    pub tables: Crew,
    pub messages: MessageCrew,
    pub blobs: BlobCrew,
}

/// Workers at work.
#[derive(Debug)]
pub struct CompanyShift {
    tables: CrewShift,
    messages: MessageShift,
    blobs: Shift<BlobWorker>,
}

impl Company {
    pub fn new(staffing: &Staffing, rng: &mut Rng) -> Self {
        Self {
            tables: Crew::new(staffing.tables, rng, &staffing.habits),
            messages: MessageCrew::new(staffing.messages, rng),
            blobs: BlobCrew::new(staffing.blobs, rng, &staffing.blob_habits),
        }
    }

    /// Creates what the workers share.
    pub async fn found(&mut self, client: &mut Client, log: Option<&LogLength>) -> Result<(), String> {
        self.tables.found(client, log).await?;
        self.messages.found(client).await?;
        self.blobs.found(client).await
    }

    /// Lets everyone work on a running server.
    pub fn begin(self, server: &Server, clock: &ClockOffset, log: Option<&LogLength>) -> CompanyShift {
        CompanyShift {
            tables: self.tables.begin(server, clock, log),
            messages: self.messages.begin(server, clock, log),
            blobs: self.blobs.begin(server, clock, log),
        }
    }

    /// Lets everyone work on running servers, each through the client that goes with its number.
    pub fn begin_with(self, client: &dyn Fn(usize) -> Client) -> CompanyShift {
        CompanyShift {
            tables: self.tables.begin_with(client),
            messages: self.messages.begin_with(client),
            blobs: Shift::begin_with(self.blobs.workers, client, None),
        }
    }

    /// Has somebody of each service do something.
    pub async fn step(&mut self, client: &mut Client, rng: &mut Rng, log: Option<&LogLength>) {
        let worker = rng.usize(0..self.tables.workers.len());
        self.tables.workers[worker].write(client, log).await;
        self.messages.step(client, rng, log).await;
        self.blobs.step(client, rng, log).await;
    }

    /// Everything that is wrong: answers that should not have been given, and data that is not what it should be.
    pub async fn check(&mut self, client: &mut Client, rng: &mut Rng, log: Option<&LogLength>) -> Vec<String> {
        let mut violations = self.tables.check(client, rng, log).await;
        violations.extend(self.messages.check(client, log).await);
        violations.extend(self.blobs.check(client, log).await);
        violations
    }

    /// What the server said of its own failure, as far as the workers heard it.
    pub fn take_failures(&mut self) -> Vec<String> {
        let beside_tables = [self.messages.take_failures(), self.blobs.take_failures()].concat();
        self.tables.take_failures().into_iter().chain(beside_tables).collect()
    }

    /// What everyone did on servers with a layer under them.
    pub fn into_histories(self) -> Histories {
        Histories {
            tables: self.tables.into_histories(),
            messages: self.messages.into_log(),
            blobs: self.blobs.into_histories(),
        }
    }
}

impl CompanyShift {
    /// Lets everyone work for a while.
    pub async fn last(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    /// Calls everyone back; requests under way are waited for.
    pub async fn end(self) -> Company {
        Company {
            tables: self.tables.end().await,
            messages: self.messages.end().await,
            blobs: BlobCrew { workers: self.blobs.end().await },
        }
    }
}
