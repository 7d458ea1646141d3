//! A client that is producer and consumer at once: it puts messages, takes whatever comes, and does with it as it likes.

use std::time::{Duration, Instant};

use fastrand::Rng;

use super::client::{Fulfilment, GIVEN_MAX, Wish, ask};
use super::log::{Deed, Event, Given, Outcome, mark};
use crate::client::Client;
use crate::history::LogLength;
use crate::shift::Work;

/// What a worker keeps in its hands; with more it puts nothing and takes nothing.
const HELD_MAX: usize = 12;
/// Of ten held messages so many are updated; the others are deleted.
const UPDATES_IN_TEN: u8 = 3;
/// Once in so many requests a held message is forgotten, so that somebody else gets it after its timeout.
const FORGETS_ONE_IN: u8 = 12;
const HIDDEN_SECONDS_MAX: u64 = 3;
const TEXT_BYTES_MAX: usize = 400;
const LARGE_TEXT_BYTES: usize = 40_000;

#[derive(Debug)]
pub struct MessageWorker {
    name: String,
    rng: Rng,
    texts: u64,
    /// With what it needs to change or delete them, whether that is still good or not.
    held: Vec<Given>,
    pub(super) events: Vec<Event>,
    /// What the server answered that it should not have.
    pub(super) violations: Vec<String>,
    pub(super) failure: Option<String>,
}

impl Work for MessageWorker {
    async fn step(&mut self, client: &mut Client, log: Option<&LogLength>) -> bool {
        if self.rng.u8(0..FORGETS_ONE_IN) == 0 {
            self.held.pop();
        }
        let wish = self.choose();
        self.perform(client, wish, log).await
    }

    fn has_violations(&self) -> bool {
        !self.violations.is_empty()
    }
}

impl MessageWorker {
    pub(super) fn new(name: impl Into<String>, seed: u64) -> Self {
        Self {
            name: name.into(),
            rng: Rng::with_seed(seed),
            texts: 0,
            held: Vec::new(),
            events: Vec::new(),
            violations: Vec::new(),
            failure: None,
        }
    }

    fn choose(&mut self) -> Wish {
        let is_full = self.held.len() >= HELD_MAX;
        match self.rng.u8(0..10) {
            0..=2 if !is_full => {
                let (mark, hidden) = (format!("{}n{}", self.name, self.texts), self.rng.u64(0..8).saturating_sub(6));
                let text = self.text(&mark);
                Wish::new(Deed::Put { text, hidden: Duration::from_secs(hidden), receipt: None })
            }
            3..=5 if !is_full => self.get(),
            6 if self.rng.u8(0..8) == 0 => Wish::new(Deed::Count { messages: 0 }),
            _ if self.held.is_empty() => self.get(),
            _ => self.choose_for_held(),
        }
    }

    fn get(&mut self) -> Wish {
        let hidden = Duration::from_secs(self.rng.u64(1..=HIDDEN_SECONDS_MAX));
        Wish { count: self.rng.usize(1..=4), ..Wish::new(Deed::Get { hidden, given: vec![] }) }
    }

    fn choose_for_held(&mut self) -> Wish {
        let index = self.rng.usize(0..self.held.len());
        let Given { id, receipt, text, .. } = self.held.swap_remove(index);
        let mark = mark(&text).to_owned();
        let deed = match self.rng.u8(0..10) {
            0..UPDATES_IN_TEN => {
                let hidden = Duration::from_secs(self.rng.u64(0..=HIDDEN_SECONDS_MAX));
                let text = self.rng.bool().then(|| self.text(&mark));
                Deed::Update { mark, receipt, hidden, text, new_receipt: None }
            }
            _ => Deed::Delete { mark, receipt },
        };
        Wish { id, ..Wish::new(deed) }
    }

    /// A text that nobody else writes, with what XML makes hard.
    fn text(&mut self, mark: &str) -> String {
        self.texts += 1;
        let bytes = if self.rng.u8(0..40) == 0 { LARGE_TEXT_BYTES } else { self.rng.usize(0..=TEXT_BYTES_MAX) };
        let filler: String = (0..bytes).map(|_| self.rng.alphanumeric()).collect();
        format!("{mark} {}v{} <&> \u{e4}\u{20ac}\t{filler} ", self.name, self.texts)
    }

    /// Takes all that is visible, up to so many times, for so long.
    pub(super) async fn take_all(
        &mut self,
        client: &mut Client,
        hidden: Duration,
        log: Option<&LogLength>,
    ) -> Result<Vec<Given>, String> {
        const TIMES_MAX: usize = 10_000;
        let mut all = Vec::new();
        for _ in 0..TIMES_MAX {
            let wish = Wish { count: GIVEN_MAX, ..Wish::new(Deed::Get { hidden, given: vec![] }) };
            if !self.perform(client, wish, log).await || !self.violations.is_empty() {
                return Err(format!("messages cannot be got: {:?} {:?}", self.failure, self.violations));
            }
            if self.held.is_empty() {
                return Ok(all);
            }
            all.append(&mut self.held);
        }
        Err(format!("{} messages were given out, and there is no end", all.len()))
    }

    /// Sends one request and writes down what came of it. `false` if no answer came.
    pub(super) async fn perform(&mut self, client: &mut Client, wish: Wish, log: Option<&LogLength>) -> bool {
        let position = || log.map_or(0, |log| log());
        let (sent_at, sent, id) = (position(), Instant::now(), wish.id.clone());
        let wished = wish.deed.clone();
        let fulfilment = ask(client, wish).await;
        let ended = Instant::now();
        let (deed, outcome, new_id) = match fulfilment {
            Ok(Fulfilment::Known(deed, outcome, new_id)) => (deed, outcome, new_id),
            Ok(Fulfilment::NotSent) => return false,
            Ok(Fulfilment::Failed(text)) => {
                self.failure = Some(text);
                (wished, Outcome::Lost, None)
            }
            Err(violation) => {
                self.violations.push(violation);
                return false;
            }
        };
        if outcome == Outcome::Done {
            self.take_in(new_id.unwrap_or(id), &deed);
        }
        self.events.push(Event { sent, ended, positions: (sent_at, position()), deed, outcome });
        outcome != Outcome::Lost
    }

    fn take_in(&mut self, id: String, deed: &Deed) {
        match deed {
            Deed::Get { given, .. } => self.held.extend(given.iter().cloned()),
            // A sender may change and delete what it sent without getting it first.
            Deed::Put { text, receipt: Some(receipt), .. } if self.rng.u8(0..8) == 0 => {
                let (receipt, text) = (receipt.clone(), text.clone());
                self.held.push(Given { id, receipt, dequeue_count: 0, text });
            }
            Deed::Update { mark, new_receipt: Some(receipt), .. } if self.rng.bool() => {
                let (receipt, text) = (receipt.clone(), mark.clone());
                self.held.push(Given { id, receipt, dequeue_count: 0, text });
            }
            _ => {}
        }
    }
}
