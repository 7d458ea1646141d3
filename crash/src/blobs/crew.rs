//! All clients of the container together, and their ledgers compared with what the server shows.

use fastrand::Rng;
use tablerock_conformance::target::Service;

use super::attempt::{BlobVerdict, request};
use super::ledger::BlobLedger;
use super::observed::ObservedBlobs;
use super::worker::{BlobHabits, BlobWorker};
use crate::client::{Client, ClockOffset, Reply};
use crate::history::{History, LogLength};
use crate::server::Server;
use crate::shift::{Shift, Work as _};

/// Clients that do not work at the moment.
#[derive(Debug, Default)]
pub struct BlobCrew {
    pub workers: Vec<BlobWorker>,
}

impl BlobCrew {
    pub fn new(size: usize, rng: &mut Rng, habits: &BlobHabits) -> Self {
        Self { workers: (0..size).map(|number| BlobWorker::new(format!("b{number}"), rng.u64(..), habits)).collect() }
    }

    /// Creates the container.
    pub async fn found(&mut self, client: &mut Client) -> Result<(), String> {
        if self.workers.is_empty() {
            return Ok(());
        }
        let target = client.target();
        match client.send(Service::Blob, &request(&target, "PUT", None).raw_query("restype=container")).await {
            Reply::Answered(answer) if answer.status == 201 => Ok(()),
            other => Err(format!("the container could not be created: {other:?}")),
        }
    }

    /// Lets everyone work on a running server.
    pub fn begin(self, server: &Server, clock: &ClockOffset, log: Option<&LogLength>) -> Shift<BlobWorker> {
        Shift::begin(self.workers, server, clock, log)
    }

    /// Sends a request of somebody's choice.
    pub async fn step(&mut self, client: &mut Client, rng: &mut Rng, log: Option<&LogLength>) {
        let worker = rng.usize(0..self.workers.len());
        self.workers[worker].step(client, log).await;
    }

    /// Everything that is wrong: answers that should not have been given, and blobs that are not what they should be.
    pub async fn check(&mut self, client: &mut Client, log: Option<&LogLength>) -> Vec<String> {
        if self.workers.is_empty() {
            return vec![];
        }
        let mut violations: Vec<String> =
            self.workers.iter_mut().flat_map(|worker| worker.violations.drain(..)).collect();
        let observed = match ObservedBlobs::read(client).await {
            Ok(observed) => observed,
            Err(error) => {
                violations.push(error);
                return violations;
            }
        };
        let mut ledgers: Vec<&mut BlobLedger> = self.workers.iter_mut().map(|worker| &mut worker.ledger).collect();
        let (settled, wrong) = settle_all(&mut ledgers, &observed);
        violations.extend(wrong);
        if let Some(log) = log {
            let settled = self.workers.iter_mut().zip(settled);
            settled.for_each(|(worker, happened)| worker.history.settle(happened, log()));
        }
        violations
    }

    /// Deletes all blobs.
    pub async fn delete_all(&mut self, client: &mut Client) -> Result<(), String> {
        for worker in &mut self.workers {
            worker.delete_all(client).await?;
        }
        Ok(())
    }

    /// What all blobs hold together.
    pub fn bytes(&self) -> usize {
        self.workers.iter().map(|worker| worker.ledger.bytes()).sum()
    }

    pub fn take_failures(&mut self) -> Vec<String> {
        self.workers.iter_mut().filter_map(|worker| worker.failure.take()).collect()
    }

    /// What everyone did on servers with a layer under them.
    pub fn into_histories(self) -> Vec<History<BlobLedger>> {
        self.workers.into_iter().map(|worker| worker.history).collect()
    }
}

/// Holds all ledgers against what is there, and looks for what is in none of them. Tells which open attempts happened,
/// and what is wrong.
pub fn settle_all(
    ledgers: &mut [&mut BlobLedger],
    observed: &ObservedBlobs,
) -> (Vec<Option<BlobVerdict>>, Vec<String>) {
    let (settled, violations): (Vec<_>, Vec<_>) = ledgers.iter_mut().map(|ledger| ledger.settle(observed)).unzip();
    let mut violations = violations.concat();
    let is_known = |name: &String| ledgers.iter().any(|ledger| ledger.blob(name).is_some());
    let unknown = observed.blobs.iter().filter(|(name, _)| !is_known(name));
    violations.extend(unknown.map(|(name, seen)| format!("{name}: {seen:?} is there and should not be")));
    (settled, violations)
}
