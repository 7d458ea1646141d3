//! A client that is both producer and consumer.

use std::time::{Duration, Instant};

use fastrand::Rng;

use super::history::{MessageHandle, QueueEvent, QueueOperation, QueueOutcome, ReceivedMessage};
use super::requests::{RECEIVED_MAX, send};
use crate::client::Client;
use crate::running_workers::{Findings, Work};

/// The most messages that a worker holds. With more, it neither puts nor gets.
const HELD_MAX: usize = 12;
/// So many of ten held messages are updated; the others are deleted.
const UPDATES_IN_TEN: u8 = 3;
/// Before one in so many requests, the worker drops a held message, so that another gets it after its timeout.
const DROPS_ONE_IN: u8 = 12;
const TIMEOUT_SECONDS_MAX: u64 = 3;
const TEXT_BYTES_MAX: usize = 400;
const LARGE_TEXT_BYTES: usize = 40_000;

#[derive(Debug)]
pub struct QueueWorker {
    name: String,
    rng: Rng,
    texts: u64,
    held: Vec<MessageHandle>,
    pub(super) events: Vec<QueueEvent>,
    pub(super) findings: Findings,
}

impl Work for QueueWorker {
    async fn step(&mut self, client: &mut Client) -> bool {
        if self.rng.u8(0..DROPS_ONE_IN) == 0 {
            self.held.pop();
        }
        let operation = self.choose();
        self.send(client, operation).await
    }

    fn findings(&mut self) -> &mut Findings {
        &mut self.findings
    }
}

impl QueueWorker {
    pub(super) fn new(name: impl Into<String>, seed: u64) -> Self {
        Self {
            name: name.into(),
            rng: Rng::with_seed(seed),
            texts: 0,
            held: Vec::new(),
            events: Vec::new(),
            findings: Findings::default(),
        }
    }

    fn choose(&mut self) -> QueueOperation {
        let is_full = self.held.len() >= HELD_MAX;
        match self.rng.u8(0..10) {
            0..=2 if !is_full => {
                let mark = format!("{}n{}", self.name, self.texts);
                let invisible_for = Duration::from_secs(self.rng.u64(0..8).saturating_sub(6));
                QueueOperation::put(self.text(&mark), invisible_for)
            }
            3..=5 if !is_full => self.get(),
            6 if self.rng.u8(0..8) == 0 => QueueOperation::Count { messages: 0 },
            _ if self.held.is_empty() => self.get(),
            _ => self.choose_for_held(),
        }
    }

    fn get(&mut self) -> QueueOperation {
        let invisible_for = Duration::from_secs(self.rng.u64(1..=TIMEOUT_SECONDS_MAX));
        QueueOperation::get(self.rng.usize(1..=4), invisible_for)
    }

    fn choose_for_held(&mut self) -> QueueOperation {
        let index = self.rng.usize(0..self.held.len());
        let message = self.held.swap_remove(index);
        match self.rng.u8(0..10) {
            0..UPDATES_IN_TEN => {
                let invisible_for = Duration::from_secs(self.rng.u64(0..=TIMEOUT_SECONDS_MAX));
                let text = self.rng.bool().then(|| self.text(&message.mark));
                QueueOperation::Update { message, invisible_for, text, new_receipt: None }
            }
            _ => QueueOperation::Delete(message),
        }
    }

    /// A unique text, with characters that XML must escape.
    fn text(&mut self, mark: &str) -> String {
        self.texts += 1;
        let bytes = if self.rng.u8(0..40) == 0 { LARGE_TEXT_BYTES } else { self.rng.usize(0..=TEXT_BYTES_MAX) };
        let filler: String = (0..bytes).map(|_| self.rng.alphanumeric()).collect();
        format!("{mark} {}v{} <&> \u{e4}\u{20ac}\t{filler} ", self.name, self.texts)
    }

    /// Gets all visible messages.
    pub(super) async fn get_all(
        &mut self,
        client: &mut Client,
        invisible_for: Duration,
    ) -> Result<Vec<MessageHandle>, String> {
        const REQUESTS_MAX: usize = 10_000;
        let mut all = Vec::new();
        for _ in 0..REQUESTS_MAX {
            let is_sent = self.send(client, QueueOperation::get(RECEIVED_MAX, invisible_for)).await;
            if !is_sent || !self.findings.violations.is_empty() {
                return Err(format!("cannot get messages: {:?}", self.findings));
            }
            if self.held.is_empty() {
                return Ok(all);
            }
            all.append(&mut self.held);
        }
        Err(format!("{} messages were received, and there are still more", all.len()))
    }

    /// Sends one request and records its outcome. Returns `false` if no response came.
    pub(super) async fn send(&mut self, client: &mut Client, operation: QueueOperation) -> bool {
        let time = |client: &Client| client.logical_time().unwrap_or(0);
        let (logical_sent, sent) = (time(client), Instant::now());
        let reply = send(client, operation.clone()).await;
        let ended = Instant::now();
        let Some(response) = self.findings.take_reply(operation.name(), reply) else { return false };
        let (operation, outcome) = response.unwrap_or((operation, QueueOutcome::Unknown));
        if outcome == QueueOutcome::Done {
            self.hold(&operation);
        }
        let logical_times = (logical_sent, time(client));
        self.events.push(QueueEvent { sent, ended, logical_times, operation, outcome });
        outcome != QueueOutcome::Unknown
    }

    fn hold(&mut self, operation: &QueueOperation) {
        match operation {
            QueueOperation::Get { received, .. } => self.held.extend(received.iter().map(ReceivedMessage::handle)),
            // A producer may update and delete its message without getting it first.
            QueueOperation::Put { created: Some(message), .. } if self.rng.u8(0..8) == 0 => {
                self.held.push(message.clone());
            }
            QueueOperation::Update { message, new_receipt: Some(receipt), .. } if self.rng.bool() => {
                self.held.push(MessageHandle { receipt: receipt.clone(), ..message.clone() });
            }
            _ => {}
        }
    }
}
