//! All clients of the queue, and the drain that shows which messages are left.

use std::time::{Duration, Instant};

use fastrand::Rng;

use super::checker::{check, check_drained};
use super::history::{MessageHandle, QueueEvent, QueueHistory, QueueOperation, QueueOutcome};
use super::requests::create;
use super::worker::QueueWorker;
use crate::client::Client;
use crate::running_workers::WorkerGroup;

/// The visibility timeout of a drain: longer than a drain takes, and short enough to wait for before the next.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub struct QueueWorkers {
    workers: Vec<QueueWorker>,
    history: QueueHistory,
}

impl WorkerGroup for QueueWorkers {
    type Worker = QueueWorker;

    fn workers(&mut self) -> &mut Vec<QueueWorker> {
        &mut self.workers
    }
}

impl QueueWorkers {
    pub fn new(count: usize, rng: &mut Rng) -> Self {
        let workers = (0..count).map(|number| QueueWorker::new(format!("m{number}"), rng.u64(..))).collect();
        Self { workers, history: QueueHistory::default() }
    }

    /// Creates the queue.
    pub async fn set_up(&mut self, client: &mut Client) -> Result<(), String> {
        create(client).await
    }

    /// Extends all unknown requests since then until now: a database may complete a request after its server was killed.
    pub fn extend_unknown(&mut self, since: Instant) {
        self.gather();
        let now = Instant::now();
        let is_unknown = |event: &&mut QueueEvent| event.outcome == QueueOutcome::Unknown && event.ended >= since;
        self.history.events.iter_mut().filter(is_unknown).for_each(|event| event.ended = now);
    }

    /// Returns all violations so far, including the server's current message count.
    pub async fn check(&mut self, client: &mut Client) -> Vec<String> {
        if let Some(worker) = self.workers.first_mut() {
            worker.send(client, QueueOperation::Count { messages: 0 }).await;
        }
        self.gather();
        self.take_violations().into_iter().chain(check(&self.history)).collect()
    }

    /// Waits until all messages are visible, receives and deletes them, and returns the violations.
    pub async fn drain_and_check(&mut self, client: &mut Client) -> Vec<String> {
        self.gather();
        let mut violations = self.take_violations();
        match self.history.drain(client).await {
            Ok((received, wrong)) => {
                violations.extend(wrong);
                violations.extend(self.history.delete_all(client, received).await.err());
            }
            Err(why) => violations.push(why),
        }
        self.history.restart_empty();
        violations
    }

    /// The number of messages that were put since the queue was last empty.
    pub fn put_count(&self) -> usize {
        self.history.events.iter().filter(|event| matches!(event.operation, QueueOperation::Put { .. })).count()
    }

    pub fn into_history(mut self) -> QueueHistory {
        self.gather();
        self.history
    }

    fn gather(&mut self) {
        self.workers.iter_mut().for_each(|worker| self.history.events.append(&mut worker.events));
    }
}

impl QueueHistory {
    /// Waits until all messages are visible and receives them. Returns the messages and the violations.
    pub async fn drain(&mut self, client: &mut Client) -> Result<(Vec<MessageHandle>, Vec<String>), String> {
        let Some(all_visible_at) = self.all_visible_at() else {
            let is_empty = if self.deleted.is_empty() { Ok(()) } else { check_empty(client).await };
            return Ok((vec![], is_empty.err().into_iter().collect()));
        };
        // With a margin for clock drift.
        tokio::time::sleep_until((all_visible_at + Duration::from_millis(50)).into()).await;
        let since = Instant::now();
        let mut worker = QueueWorker::new("drain", 0);
        let received = worker.get_all(client, DRAIN_TIMEOUT).await;
        self.events.append(&mut worker.events);
        Ok((received?, check_drained(self, since)))
    }

    /// Deletes the messages that a drain received. The queue must be empty then.
    pub async fn delete_all(&mut self, client: &mut Client, received: Vec<MessageHandle>) -> Result<(), String> {
        let mut worker = QueueWorker::new("drain", 0);
        for message in received {
            if !worker.send(client, QueueOperation::Delete(message)).await {
                return Err("cannot delete a message".to_owned());
            }
        }
        self.events.append(&mut worker.events);
        check_empty(client).await
    }
}

/// Fails unless the queue has no messages, visible or not.
async fn check_empty(client: &mut Client) -> Result<(), String> {
    let mut worker = QueueWorker::new("drain", 0);
    worker.send(client, QueueOperation::Count { messages: 0 }).await;
    match worker.events.first().map(|event| &event.operation) {
        Some(QueueOperation::Count { messages: 0 }) => Ok(()),
        other => Err(format!("all messages were deleted, but the queue returns {other:?}")),
    }
}
