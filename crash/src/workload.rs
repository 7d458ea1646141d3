//! The workload: workers of tables, queues and blobs on one server at the same time.

use std::time::Duration;

use fastrand::Rng;

use crate::blobs::{BlobOptions, BlobWorkers};
use crate::client::Client;
use crate::expected_state::Histories;
use crate::queues::QueueWorkers;
use crate::running_workers::{RunningWorkers, WorkerGroup as _};
use crate::server::Server;
use crate::tables::{TableOptions, TableWorkers};

/// The number of workers of each service, and their options.
#[derive(Debug, Clone)]
pub struct WorkloadOptions {
    pub tables: usize,
    pub queues: usize,
    pub blobs: usize,
    pub table_options: TableOptions,
    pub blob_options: BlobOptions,
}

#[derive(Debug)]
pub struct Workload {
    pub tables: TableWorkers,
    pub queues: QueueWorkers,
    pub blobs: BlobWorkers,
}

#[derive(Debug)]
pub struct RunningWorkload {
    tables: RunningWorkers<TableWorkers>,
    queues: RunningWorkers<QueueWorkers>,
    blobs: RunningWorkers<BlobWorkers>,
}

impl Workload {
    pub fn new(options: &WorkloadOptions, rng: &mut Rng) -> Self {
        Self {
            tables: TableWorkers::new(options.tables, rng, &options.table_options),
            queues: QueueWorkers::new(options.queues, rng),
            blobs: BlobWorkers::new(options.blobs, rng, &options.blob_options),
        }
    }

    /// Creates the tables, the queue and the container that the workers share.
    pub async fn set_up(&mut self, client: &mut Client) -> Result<(), String> {
        self.tables.set_up(client).await?;
        self.queues.set_up(client).await?;
        self.blobs.set_up(client).await
    }

    /// Starts all workers on a running server.
    pub fn start(self, server: &Server) -> RunningWorkload {
        self.start_with(&|_| server.client())
    }

    /// Starts all workers, each with the client of its number.
    pub fn start_with(self, client: &dyn Fn(usize) -> Client) -> RunningWorkload {
        RunningWorkload {
            tables: self.tables.start_with(client),
            queues: self.queues.start_with(client),
            blobs: self.blobs.start_with(client),
        }
    }

    /// Sends one write to tables, and one request each to the queue and to blobs.
    pub async fn step(&mut self, client: &mut Client, rng: &mut Rng) {
        let worker = rng.usize(0..self.tables.workers.len());
        self.tables.workers[worker].write(client).await;
        self.queues.step_one(client, rng).await;
        self.blobs.step_one(client, rng).await;
    }

    /// Returns all violations: responses that the server may not give, and data that differs from the expected state.
    pub async fn check(&mut self, client: &mut Client) -> Vec<String> {
        let mut violations = self.tables.check(client).await;
        violations.extend(self.queues.check(client).await);
        violations.extend(self.blobs.check(client).await);
        violations
    }

    /// Takes the 5xx responses that the workers got, the last of each.
    pub fn take_failures(&mut self) -> Vec<String> {
        [self.tables.take_failures(), self.queues.take_failures(), self.blobs.take_failures()].concat()
    }

    /// The histories of all requests that were sent with a logical clock.
    pub fn into_histories(self) -> Histories {
        Histories {
            tables: self.tables.into_histories(),
            queues: self.queues.into_history(),
            blobs: self.blobs.into_histories(),
        }
    }
}

impl RunningWorkload {
    pub async fn run_for(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    /// Stops all workers, each after its current request.
    pub async fn stop(self) -> Workload {
        Workload { tables: self.tables.stop().await, queues: self.queues.stop().await, blobs: self.blobs.stop().await }
    }
}
