//! What a worker did, in relation to the layer's record or to any other count that grows, so that it can be told for
//! any moment what had to be there.

use std::sync::Arc;

use crate::client::Verdict;
use crate::content::Timestamp;
use crate::ledger::{Ledger, Settlement};
use crate::operation::Attempt;

/// Tells how long the layer's record is now.
pub type LogLength = Arc<dyn Fn() -> u64 + Send + Sync>;

#[derive(Debug, Clone)]
struct Step {
    attempt: Attempt,
    /// The length of the record before the request was sent.
    sent_at: u64,
    /// What became of it, and the length of the record when that was known.
    outcome: Option<(Outcome, u64)>,
}

#[derive(Debug, Clone)]
enum Outcome {
    Answered(Verdict),
    NeverHappened,
}

#[derive(Debug, Clone)]
pub struct History {
    others_tables: Vec<String>,
    steps: Vec<Step>,
}

impl History {
    pub fn new(others_tables: &[String]) -> Self {
        Self { others_tables: others_tables.to_vec(), steps: Vec::new() }
    }

    /// Adds a request, with its answer and when that came, if it did.
    pub fn add(&mut self, attempt: Attempt, sent_at: u64, answer: Option<(Verdict, u64)>) {
        let outcome = answer.map(|(verdict, at)| (Outcome::Answered(verdict), at));
        self.steps.push(Step { attempt, sent_at, outcome });
    }

    /// Notes what was seen of the last request, if that got no answer. From now on it must stay so.
    pub fn settle(&mut self, settlement: Option<Settlement>, at: u64) {
        let outcome = match settlement {
            Some(Settlement::Happened(etags)) => Outcome::Answered(Verdict::Done(etags)),
            Some(Settlement::NeverHappened) | None => Outcome::NeverHappened,
        };
        if let Some(step) = self.steps.last_mut().filter(|step| step.outcome.is_none()) {
            step.outcome = Some((outcome, at));
        }
    }

    /// How long the record was at the answer to each request that was done, and not refused.
    pub fn answers(&self) -> impl Iterator<Item = u64> {
        self.steps.iter().filter_map(|step| match &step.outcome {
            Some((Outcome::Answered(Verdict::Done(_)), at)) => Some(*at),
            _ => None,
        })
    }

    /// How long the record was before the request was sent that wrote at this time.
    pub fn sent_at(&self, timestamp: &Timestamp) -> Option<u64> {
        let wrote = |step: &&Step| match &step.outcome {
            Some((Outcome::Answered(Verdict::Done(etags)), _)) => {
                etags.iter().flatten().any(|etag| etag.timestamp() == *timestamp)
            }
            _ => false,
        };
        self.steps.iter().find(wrote).map(|step| step.sent_at)
    }

    /// What had to be there when the record was this long.
    pub fn ledger_at(&self, position: u64) -> Result<Ledger, String> {
        let mut ledger = Ledger::new(&self.others_tables);
        for step in &self.steps {
            match &step.outcome {
                Some((Outcome::Answered(verdict), at)) if *at <= position => ledger.answered(&step.attempt, verdict)?,
                Some((Outcome::NeverHappened, at)) if *at <= position => {}
                _ if step.sent_at >= position => break,
                // The next request was sent after this one was settled, so there is no other like it.
                _ => {
                    ledger.unanswered(&step.attempt);
                    break;
                }
            }
        }
        Ok(ledger)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn create(name: &str) -> Attempt {
        Attempt::CreateTable(name.to_owned())
    }

    #[test]
    fn a_request_is_due_from_its_answer_and_open_from_its_sending() {
        let mut history = History::new(&[]);
        history.add(create("A"), 10, Some((Verdict::Done(vec![None]), 20)));
        history.add(create("B"), 20, Some((Verdict::Done(vec![None]), 30)));
        let at = |position| history.ledger_at(position).unwrap();
        assert!(!at(10).has_table("A") && !at(10).has_open_attempt());
        assert!(!at(15).has_table("A") && at(15).has_open_attempt());
        assert!(at(20).has_table("A") && !at(20).has_open_attempt());
        assert!(at(25).has_open_attempt());
        assert!(at(30).has_table("B") && !at(30).has_open_attempt());
    }

    #[test]
    fn a_lost_request_is_open_until_somebody_has_looked() {
        let mut history = History::new(&[]);
        history.add(create("A"), 10, None);
        assert!(history.ledger_at(99).unwrap().has_open_attempt());
        history.settle(Some(Settlement::NeverHappened), 50);
        assert!(history.ledger_at(49).unwrap().has_open_attempt());
        let later = history.ledger_at(50).unwrap();
        assert!(!later.has_open_attempt() && !later.has_table("A"));
    }
}
