//! All clients of the queue together, and the drain that shows what is left in it.

use std::time::{Duration, Instant};

use fastrand::Rng;

use super::client::{Wish, create};
use super::log::{Deed, Event, Given, MessageLog, Outcome, mark};
use super::oracle::{judge, judge_drained};
use super::worker::MessageWorker;
use crate::client::{Client, ClockOffset};
use crate::history::LogLength;
use crate::server::Server;
use crate::shift::{Shift, Work as _};

/// How long a drain keeps what it was given: longer than it takes, and not so long that the next one has to wait.
const DRAIN_HIDDEN: Duration = Duration::from_secs(2);

/// Clients that do not work at the moment.
#[derive(Debug, Default)]
pub struct MessageCrew {
    pub workers: Vec<MessageWorker>,
    log: MessageLog,
}

/// Clients at work.
#[derive(Debug)]
pub struct MessageShift {
    workers: Shift<MessageWorker>,
    log: MessageLog,
}

impl MessageCrew {
    pub fn new(size: usize, rng: &mut Rng) -> Self {
        let workers = (0..size).map(|number| MessageWorker::new(format!("m{number}"), rng.u64(..))).collect();
        Self { workers, log: MessageLog::default() }
    }

    /// Creates the queue.
    pub async fn found(&mut self, client: &mut Client) -> Result<(), String> {
        if self.workers.is_empty() { Ok(()) } else { create(client).await }
    }

    /// Lets everyone work on a running server.
    pub fn begin(self, server: &Server, clock: &ClockOffset, log: Option<&LogLength>) -> MessageShift {
        MessageShift { workers: Shift::begin(self.workers, server, clock, log), log: self.log }
    }

    /// Lets everyone work on running servers, each through the client that goes with its number.
    pub fn begin_with(self, client: &dyn Fn(usize) -> Client) -> MessageShift {
        MessageShift { workers: Shift::begin_with(self.workers, client, None), log: self.log }
    }

    /// What got no answer since then may have come about until now: others were still at it when the one who was asked had
    /// gone.
    pub fn lost_until_now(&mut self, since: Instant) {
        self.gather();
        let now = Instant::now();
        let lost = |event: &&mut Event| event.outcome == Outcome::Lost && event.ended >= since;
        self.log.events.iter_mut().filter(lost).for_each(|event| event.ended = now);
    }

    /// Sends a request of somebody's choice.
    pub async fn step(&mut self, client: &mut Client, rng: &mut Rng, log: Option<&LogLength>) {
        let worker = rng.usize(0..self.workers.len());
        self.workers[worker].step(client, log).await;
    }

    /// Everything that is wrong so far, with the count that the server shows now.
    pub async fn check(&mut self, client: &mut Client, log: Option<&LogLength>) -> Vec<String> {
        if let Some(worker) = self.workers.first_mut() {
            worker.perform(client, Wish::new(Deed::Count { messages: 0 }), log).await;
        }
        self.gather();
        self.take_violations().into_iter().chain(judge(&self.log)).collect()
    }

    /// Waits until everything is visible, takes it all and deletes it, and tells what is wrong. The queue is empty then.
    pub async fn empty(&mut self, client: &mut Client) -> Vec<String> {
        self.gather();
        if self.workers.is_empty() {
            return vec![];
        }
        let mut violations = self.take_violations();
        match self.log.drain(client, None).await {
            Ok((given, wrong)) => {
                violations.extend(wrong);
                violations.extend(self.log.delete_all(client, given).await.err());
            }
            Err(why) => violations.push(why),
        }
        self.log.close();
        violations
    }

    /// How many messages were put since the queue was last empty.
    pub fn put_count(&self) -> usize {
        self.log.events.iter().filter(|event| matches!(event.deed, Deed::Put { .. })).count()
    }

    pub fn take_failures(&mut self) -> Vec<String> {
        self.workers.iter_mut().filter_map(|worker| worker.failure.take()).collect()
    }

    /// Everything that was asked and answered.
    pub fn into_log(mut self) -> MessageLog {
        self.gather();
        self.log
    }

    fn take_violations(&mut self) -> Vec<String> {
        self.workers.iter_mut().flat_map(|worker| worker.violations.drain(..)).collect()
    }

    fn gather(&mut self) {
        self.workers.iter_mut().for_each(|worker| self.log.events.append(&mut worker.events));
    }
}

impl MessageShift {
    /// Calls everyone back.
    pub async fn end(self) -> MessageCrew {
        MessageCrew { workers: self.workers.end().await, log: self.log }
    }
}

impl MessageLog {
    /// Waits until everything is visible and takes it all. Gives what is there, and tells what is wrong.
    pub async fn drain(
        &mut self,
        client: &mut Client,
        log: Option<&LogLength>,
    ) -> Result<(Vec<Given>, Vec<String>), String> {
        let Some(quiet_at) = self.quiet_at() else {
            let is_over = !self.gone.is_empty();
            return Ok((vec![], if is_over { check_empty(client).await.err().into_iter().collect() } else { vec![] }));
        };
        // A little more than needed, for the clocks may have drifted apart.
        tokio::time::sleep_until((quiet_at + Duration::from_millis(50)).into()).await;
        let since = Instant::now();
        let mut worker = MessageWorker::new("drain", 0);
        let given = worker.take_all(client, DRAIN_HIDDEN, log).await;
        self.events.append(&mut worker.events);
        Ok((given?, judge_drained(self, since)))
    }

    /// Deletes what a drain gave out. Then the queue is empty.
    pub async fn delete_all(&mut self, client: &mut Client, given: Vec<Given>) -> Result<(), String> {
        let mut worker = MessageWorker::new("drain", 0);
        for Given { id, receipt, text, .. } in given {
            let deed = Deed::Delete { mark: mark(&text).to_owned(), receipt };
            if !worker.perform(client, Wish { id, ..Wish::new(deed) }, None).await {
                return Err("a message could not be deleted".to_owned());
            }
        }
        self.events.append(&mut worker.events);
        check_empty(client).await
    }
}

/// Fails unless nothing is in the queue, visible or not.
async fn check_empty(client: &mut Client) -> Result<(), String> {
    let mut worker = MessageWorker::new("drain", 0);
    worker.perform(client, Wish::new(Deed::Count { messages: 0 }), None).await;
    match worker.events.first().map(|event| &event.deed) {
        Some(Deed::Count { messages: 0 }) => Ok(()),
        other => Err(format!("all messages were deleted, but the queue says {other:?}")),
    }
}
