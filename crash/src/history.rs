//! What a worker did, in relation to the layer's record or to any other count that grows, so that it can be told for
//! any moment what had to be there.

use std::sync::Arc;

use crate::client::Verdict;
use crate::content::Timestamp;
use crate::ledger::Ledger;
use crate::operation::Attempt;

/// Tells how long the layer's record is now.
pub type LogLength = Arc<dyn Fn() -> u64 + Send + Sync>;

/// What one client knows of what is its own, from the answers it got.
pub trait Book: Clone {
    type Attempt: Clone;
    type Verdict: Clone;

    /// Takes in an answer. An error tells what about it cannot be right.
    fn answered(&mut self, attempt: &Self::Attempt, verdict: &Self::Verdict) -> Result<(), String>;

    /// Notes an attempt whose answer was lost.
    fn unanswered(&mut self, attempt: &Self::Attempt);
}

#[derive(Debug, Clone)]
struct Step<A, V> {
    attempt: A,
    /// The length of the record before the request was sent.
    sent_at: u64,
    /// What became of it, and the length of the record when that was known.
    outcome: Option<(Outcome<V>, u64)>,
}

#[derive(Debug, Clone)]
enum Outcome<V> {
    Answered(V),
    NeverHappened,
}

#[derive(Debug, Clone)]
pub struct History<B: Book = Ledger> {
    /// What was known at first.
    initial: B,
    steps: Vec<Step<B::Attempt, B::Verdict>>,
}

impl<B: Book> History<B> {
    pub fn new(initial: B) -> Self {
        Self { initial, steps: Vec::new() }
    }

    /// Adds a request, with its answer and when that came, if it did.
    pub fn add(&mut self, attempt: B::Attempt, sent_at: u64, answer: Option<(B::Verdict, u64)>) {
        let outcome = answer.map(|(verdict, at)| (Outcome::Answered(verdict), at));
        self.steps.push(Step { attempt, sent_at, outcome });
    }

    /// Notes what was seen of the last request, if that got no answer: it happened, as if it had been answered so, or it
    /// did not. From now on it must stay so.
    pub fn settle(&mut self, happened: Option<B::Verdict>, at: u64) {
        let outcome = happened.map_or(Outcome::NeverHappened, Outcome::Answered);
        if let Some(step) = self.steps.last_mut().filter(|step| step.outcome.is_none()) {
            step.outcome = Some((outcome, at));
        }
    }

    /// What had to be there when the record was this long.
    pub fn book_at(&self, position: u64) -> Result<B, String> {
        let mut book = self.initial.clone();
        for step in &self.steps {
            match &step.outcome {
                Some((Outcome::Answered(verdict), at)) if *at <= position => book.answered(&step.attempt, verdict)?,
                Some((Outcome::NeverHappened, at)) if *at <= position => {}
                _ if step.sent_at >= position => break,
                // The next request was sent after this one was settled, so there is no other like it.
                _ => {
                    book.unanswered(&step.attempt);
                    break;
                }
            }
        }
        Ok(book)
    }
}

impl History {
    /// How long the record was at the answer to each request that was done, and not refused.
    pub fn answers(&self) -> impl Iterator<Item = u64> {
        self.steps.iter().filter_map(|step| match &step.outcome {
            Some((Outcome::Answered(Verdict::Done(_)), at)) => Some(*at),
            _ => None,
        })
    }

    /// How long the record was before the request was sent that wrote at this time.
    pub fn sent_at(&self, timestamp: &Timestamp) -> Option<u64> {
        let wrote = |step: &&Step<Attempt, Verdict>| match &step.outcome {
            Some((Outcome::Answered(Verdict::Done(etags)), _)) => {
                etags.iter().flatten().any(|etag| etag.timestamp() == *timestamp)
            }
            _ => false,
        };
        self.steps.iter().find(wrote).map(|step| step.sent_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history() -> History {
        History::new(Ledger::new(&[], false))
    }

    fn create(name: &str) -> Attempt {
        Attempt::CreateTable(name.to_owned())
    }

    #[test]
    fn a_request_is_due_from_its_answer_and_open_from_its_sending() {
        let mut history = history();
        history.add(create("A"), 10, Some((Verdict::Done(vec![None]), 20)));
        history.add(create("B"), 20, Some((Verdict::Done(vec![None]), 30)));
        let at = |position| history.book_at(position).unwrap();
        assert!(!at(10).has_table("A") && !at(10).has_open_attempt());
        assert!(!at(15).has_table("A") && at(15).has_open_attempt());
        assert!(at(20).has_table("A") && !at(20).has_open_attempt());
        assert!(at(25).has_open_attempt());
        assert!(at(30).has_table("B") && !at(30).has_open_attempt());
    }

    #[test]
    fn a_lost_request_is_open_until_somebody_has_looked() {
        let mut history = history();
        history.add(create("A"), 10, None);
        assert!(history.book_at(99).unwrap().has_open_attempt());
        history.settle(None, 50);
        assert!(history.book_at(49).unwrap().has_open_attempt());
        let later = history.book_at(50).unwrap();
        assert!(!later.has_open_attempt() && !later.has_table("A"));
    }
}
