//! The oracle: what one worker knows about the tables and entities that are its own, from the answers it got.
//!
//! Only one worker writes an entity, one request at a time, so what must be there is known exactly, but for the one
//! request that got no answer: that one happened or did not. A look at the server settles which, and from then on
//! it must stay so.

use std::collections::{BTreeMap, BTreeSet};

use crate::client::Verdict;
use crate::content::{Address, Content, Etag, Timestamp, Version};
use crate::history::Book;
use crate::observed::Observed;
use crate::operation::Attempt;

/// What an attempt does, seen from the present state.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Effect {
    /// What each entity is afterwards.
    Entities(Vec<(Address, Option<Content>)>),
    TableCreated(String),
    TableDropped(String),
}

/// What became of an attempt without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    /// With one ETag for each entity that is there because of it.
    Happened(Vec<Option<Etag>>),
    NeverHappened,
}

impl Settlement {
    /// The answer that would have said the same.
    pub fn into_verdict(self) -> Option<Verdict> {
        match self {
            Settlement::Happened(etags) => Some(Verdict::Done(etags)),
            Settlement::NeverHappened => None,
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// Tables that somebody else created, to be there for good.
    others_tables: BTreeSet<String>,
    tables: BTreeSet<String>,
    entities: BTreeMap<Address, Version>,
    /// Every version that was ever seen of an entity, by the time in its ETag.
    seen: BTreeMap<Address, BTreeMap<Timestamp, u64>>,
    latest: Timestamp,
    /// Servers that share a store count the time each for itself: then a version is later than the one that it replaces,
    /// and no more is known.
    has_many_servers: bool,
    open: Option<Effect>,
}

impl Ledger {
    /// Knows of these tables, which somebody else creates and nobody drops, and of no entity.
    pub fn new(others_tables: &[String], has_many_servers: bool) -> Self {
        Self { others_tables: others_tables.iter().cloned().collect(), has_many_servers, ..Self::default() }
    }

    /// The present version of an entity.
    pub fn version(&self, address: &Address) -> Option<&Version> {
        self.entities.get(address)
    }

    pub fn has_table(&self, name: &str) -> bool {
        self.owns_table(name) || self.others_tables.contains(name)
    }

    pub fn owns_table(&self, name: &str) -> bool {
        self.tables.contains(name)
    }

    pub fn entities(&self) -> impl Iterator<Item = (&Address, &Version)> {
        self.entities.iter()
    }

    /// Whether an entity may be another version than the one that is known, because a request is open.
    pub fn is_open(&self, address: &Address) -> bool {
        match &self.open {
            Some(Effect::Entities(changes)) => changes.iter().any(|(changed, _)| changed == address),
            Some(Effect::TableDropped(table)) => *table == address.table,
            Some(Effect::TableCreated(_)) | None => false,
        }
    }

    pub fn entity_count(&self) -> usize {
        self.entities.len()
    }

    /// The newest Timestamp that this worker has seen.
    pub fn latest(&self) -> &Timestamp {
        &self.latest
    }

    /// From now on every write must be later than this, whoever saw it.
    pub fn raise_latest(&mut self, timestamp: &Timestamp) {
        self.latest = self.latest.clone().max(timestamp.clone());
    }

    /// Whether a request is open, that is, may have happened or not.
    pub fn has_open_attempt(&self) -> bool {
        self.open.is_some()
    }

    /// Compares all that this worker knows with what is there, settles the open attempt, and tells what differs.
    pub fn settle(&mut self, observed: &Observed) -> (Option<Settlement>, Vec<String>) {
        let mut violations = Vec::new();
        let settlement = self.open.take().and_then(|effect| match self.happened(&effect, observed) {
            Ok(true) => {
                let etags = self.etags_of(&effect, observed);
                violations.extend(self.apply(effect, &etags).err());
                Some(Settlement::Happened(etags))
            }
            Ok(false) => Some(Settlement::NeverHappened),
            Err(violation) => {
                violations.push(violation);
                None
            }
        });
        for table in self.tables.iter().filter(|table| !observed.tables.contains(*table)) {
            violations.push(format!("table {table} is gone"));
        }
        for (address, version) in &self.entities {
            violations.extend(difference(address, Some(version), observed.entities.get(address)));
        }
        (settlement, violations)
    }

    /// Whether an open attempt happened; an error if it did by halves.
    fn happened(&self, effect: &Effect, observed: &Observed) -> Result<bool, String> {
        match effect {
            Effect::TableCreated(name) | Effect::TableDropped(name) => {
                let was_created = matches!(effect, Effect::TableCreated(_));
                Ok(observed.tables.contains(name) == was_created)
            }
            Effect::Entities(changes) => {
                let is_after = |(address, after): &(Address, Option<Content>)| {
                    observed.entities.get(address).map(|version| &version.content) == after.as_ref()
                };
                let after = changes.iter().filter(|change| is_after(change)).count();
                let is_before = |(address, _): &&(Address, Option<Content>)| {
                    observed.entities.get(address) == self.entities.get(address)
                };
                let before = changes.iter().filter(is_before).count();
                match (after == changes.len(), before == changes.len()) {
                    (true, _) => Ok(true),
                    (_, true) => Ok(false),
                    _ => Err(self.describe_halves(changes, observed)),
                }
            }
        }
    }

    fn describe_halves(&self, changes: &[(Address, Option<Content>)], observed: &Observed) -> String {
        let show = |content: Option<&Content>| content.map_or("nothing".to_owned(), Content::to_string);
        let lines = changes.iter().map(|(address, after)| {
            let before = self.entities.get(address).map(|version| &version.content);
            let there = observed.entities.get(address).map(|version| &version.content);
            format!("{address}: before {}, after {}, there {}", show(before), show(after.as_ref()), show(there))
        });
        format!("an unanswered write is there by halves: {}", lines.collect::<Vec<_>>().join("; "))
    }

    fn etags_of(&self, effect: &Effect, observed: &Observed) -> Vec<Option<Etag>> {
        match effect {
            Effect::Entities(changes) => {
                let etag = |address| observed.entities.get(address).map(|version| version.etag.clone());
                changes.iter().map(|(address, _)| etag(address)).collect()
            }
            _ => vec![],
        }
    }

    fn effect(&self, attempt: &Attempt) -> Result<Effect, u16> {
        match attempt {
            Attempt::Entities(operations) => {
                let outcome = |operation: &crate::operation::Operation| {
                    if !self.has_table(&operation.address.table) {
                        return Err(404);
                    }
                    let after = operation.outcome(self.entities.get(&operation.address))?;
                    Ok((operation.address.clone(), after))
                };
                operations.iter().map(outcome).collect::<Result<_, u16>>().map(Effect::Entities)
            }
            Attempt::CreateTable(name) if self.tables.contains(name) => Err(409),
            Attempt::CreateTable(name) => Ok(Effect::TableCreated(name.clone())),
            Attempt::DropTable(name) if self.tables.contains(name) => Ok(Effect::TableDropped(name.clone())),
            Attempt::DropTable(_) => Err(404),
        }
    }

    fn apply(&mut self, effect: Effect, etags: &[Option<Etag>]) -> Result<(), String> {
        match effect {
            Effect::TableCreated(name) => {
                self.tables.insert(name);
                Ok(())
            }
            Effect::TableDropped(name) => {
                self.entities.retain(|address, _| address.table != name);
                self.tables.remove(&name);
                Ok(())
            }
            Effect::Entities(changes) => {
                if changes.len() != etags.len() {
                    return Err(format!("{} operations, but {} answers", changes.len(), etags.len()));
                }
                let earlier = self.latest.clone();
                let each = std::iter::zip(changes, etags);
                each.into_iter().try_for_each(|((address, after), etag)| self.write(&earlier, address, after, etag))
            }
        }
    }

    /// Takes in one written entity. Its Timestamp must be later than all that was known before the request, or than the
    /// version before it where there are many servers.
    fn write(
        &mut self,
        earlier: &Timestamp,
        address: Address,
        after: Option<Content>,
        etag: &Option<Etag>,
    ) -> Result<(), String> {
        let Some(content) = after else {
            self.entities.remove(&address);
            return Ok(());
        };
        let Some(etag) = etag.clone() else { return Err(format!("{address}: written, but the answer has no ETag")) };
        let timestamp = etag.timestamp();
        let fingerprint = content.fingerprint();
        let known = self.seen.entry(address.clone()).or_default().insert(timestamp.clone(), fingerprint);
        if known.is_some_and(|known| known != fingerprint) {
            return Err(format!("{address}: {} was already the ETag of another version", etag.as_str()));
        }
        let replaced = self.entities.get(&address).map(|version| version.etag.timestamp()).unwrap_or_default();
        let earlier = if self.has_many_servers { &replaced } else { earlier };
        if timestamp <= *earlier {
            return Err(format!("{address}: written at {timestamp}, after something was written at {earlier}"));
        }
        self.latest = self.latest.clone().max(timestamp);
        self.entities.insert(address, Version { content, etag });
        Ok(())
    }
}

impl Book for Ledger {
    type Attempt = Attempt;
    type Verdict = Verdict;

    fn answered(&mut self, attempt: &Attempt, verdict: &Verdict) -> Result<(), String> {
        match (self.effect(attempt), verdict) {
            (Ok(effect), Verdict::Done(etags)) => self.apply(effect, etags),
            (Err(expected), Verdict::Refused(status)) if expected == *status => Ok(()),
            (Ok(_), Verdict::Refused(status)) => Err(format!("{attempt}: refused with {status}, but it was due")),
            (Err(expected), got) => Err(format!("{attempt}: expected the refusal {expected}, got {got:?}")),
        }
    }

    /// One that would have been refused has no effect either way.
    fn unanswered(&mut self, attempt: &Attempt) {
        assert!(self.open.is_none(), "a worker that got no answer asks nothing more before the next settlement");
        self.open = self.effect(attempt).ok();
    }
}

/// What is wrong about an entity, if anything.
pub fn difference(address: &Address, expected: Option<&Version>, there: Option<&Version>) -> Option<String> {
    match (expected, there) {
        (None, None) => None,
        (Some(expected), None) => Some(format!("{address}: {} was acknowledged and is gone", expected.content)),
        (None, Some(there)) => Some(format!("{address}: {} is there and should not be", there.content)),
        (Some(expected), Some(there)) if expected.content != there.content => {
            Some(format!("{address}: expected {}, found {}", expected.content, there.content))
        }
        (Some(expected), Some(there)) if expected.etag != there.etag => {
            let (expected, there) = (expected.etag.as_str(), there.etag.as_str());
            Some(format!("{address}: its ETag was {expected} and is now {there}"))
        }
        _ => None,
    }
}
