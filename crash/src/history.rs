//! The history of one worker, on a logical clock, so that the expected state can be computed for any earlier time.

use std::sync::Arc;

use crate::model::{Model, Outcome, Response};
use crate::tables::{TableModel, Timestamp};

/// A counter that never goes back: the length of the shim's record, or any other.
#[derive(Clone)]
pub struct LogicalClock(Arc<dyn Fn() -> u64 + Send + Sync>);

impl LogicalClock {
    pub fn new(now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    pub fn now(&self) -> u64 {
        (self.0)()
    }
}

impl std::fmt::Debug for LogicalClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LogicalClock")
    }
}

#[derive(Debug, Clone)]
struct Entry<M: Model> {
    write: M::Write,
    sent_at: u64,
    /// The response and the time at which it was known. A write that had no effect has no response.
    outcome: Option<(Option<Response<M>>, u64)>,
}

#[derive(Debug, Clone)]
pub struct History<M: Model> {
    initial: M,
    entries: Vec<Entry<M>>,
}

impl<M: Model> History<M> {
    pub fn new(initial: M) -> Self {
        Self { initial, entries: Vec::new() }
    }

    /// Adds a write, with its response and the time of the response if there was one.
    pub fn add(&mut self, write: M::Write, sent_at: u64, response: Option<(Response<M>, u64)>) {
        let outcome = response.map(|(response, at)| (Some(response), at));
        self.entries.push(Entry { write, sent_at, outcome });
    }

    /// Resolves the outcome of the last write if that is unknown: it took effect with this acknowledgement, or never.
    pub fn resolve(&mut self, ack: Option<M::Ack>, at: u64) {
        if let Some(entry) = self.entries.last_mut().filter(|entry| entry.outcome.is_none()) {
            entry.outcome = Some((ack.map(Outcome::Done), at));
        }
    }

    /// The expected state at a time.
    pub fn model_at(&self, time: u64) -> Result<M, String> {
        let mut model = self.initial.clone();
        for entry in &self.entries {
            match &entry.outcome {
                Some((Some(response), at)) if *at <= time => model.on_response(&entry.write, response)?,
                Some((None, at)) if *at <= time => {}
                _ if entry.sent_at >= time => break,
                // The next write was sent after this one was resolved, so there is at most one of these.
                _ => {
                    model.on_no_response(&entry.write);
                    break;
                }
            }
        }
        Ok(model)
    }

    /// The acknowledged writes, each with the time of its acknowledgement.
    fn acks(&self) -> impl Iterator<Item = (&Entry<M>, &M::Ack, u64)> {
        self.entries.iter().filter_map(|entry| match &entry.outcome {
            Some((Some(Outcome::Done(ack)), at)) => Some((entry, ack, *at)),
            _ => None,
        })
    }

    /// The time of each acknowledgement.
    pub fn ack_times(&self) -> impl Iterator<Item = u64> {
        self.acks().map(|(_, _, at)| at)
    }
}

impl History<TableModel> {
    /// The time at which the write with this Timestamp was sent.
    pub fn sent_at(&self, timestamp: &Timestamp) -> Option<u64> {
        let mut acks = self.acks();
        acks.find_map(|(entry, etags, _)| {
            etags.iter().flatten().any(|etag| etag.timestamp() == *timestamp).then_some(entry.sent_at)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::TableWrite;

    fn history() -> History<TableModel> {
        History::new(TableModel::new(&[], false))
    }

    fn create(name: &str) -> TableWrite {
        TableWrite::CreateTable(name.to_owned())
    }

    #[test]
    fn a_write_is_pending_from_its_request_and_expected_from_its_response() {
        let mut history = history();
        history.add(create("A"), 10, Some((Outcome::Done(vec![None]), 20)));
        history.add(create("B"), 20, Some((Outcome::Done(vec![None]), 30)));
        let at = |time| history.model_at(time).unwrap();
        assert!(!at(10).has_table("A") && !at(10).has_pending_write());
        assert!(!at(15).has_table("A") && at(15).has_pending_write());
        assert!(at(20).has_table("A") && !at(20).has_pending_write());
        assert!(at(25).has_pending_write());
        assert!(at(30).has_table("B") && !at(30).has_pending_write());
    }

    #[test]
    fn a_write_without_a_response_is_pending_until_it_is_resolved() {
        let mut history = history();
        history.add(create("A"), 10, None);
        assert!(history.model_at(99).unwrap().has_pending_write());
        history.resolve(None, 50);
        assert!(history.model_at(49).unwrap().has_pending_write());
        let later = history.model_at(50).unwrap();
        assert!(!later.has_pending_write() && !later.has_table("A"));
    }
}
