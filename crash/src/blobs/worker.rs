//! A client that writes blobs of its own, one request at a time.

use std::sync::Arc;

use fastrand::Rng;
use tablerock_conformance::target::Service;

use super::attempt::{Act, BlobAttempt, BlobVerdict, Condition};
use super::ledger::{BlobLedger, KnownBlob};
use crate::client::{Client, Reply};
use crate::history::{Book as _, History, LogLength};
use crate::shift::Work;

/// Names of one client. Few, so that each is written, deleted and written again many times.
const BLOCK_BLOBS: u8 = 4;
const APPEND_BLOBS: u8 = 2;
const SNAPSHOTS_MAX: usize = 2;
const UNCOMMITTED_MAX: usize = 5;
/// An append blob that has become this large is begun anew.
const APPENDED_BYTES_MAX: usize = 200_000;

/// How large a client writes.
#[derive(Debug, Clone)]
pub struct BlobHabits {
    pub bytes_max: usize,
    /// Some are larger than what goes into one record of the store.
    pub large_bytes_max: usize,
    /// Every so many.
    pub large_every: u32,
}

const LARGE_BYTES_MIN: usize = 300 << 10;

impl Default for BlobHabits {
    fn default() -> Self {
        Self { bytes_max: 8_000, large_bytes_max: 4 << 20, large_every: 12 }
    }
}

#[derive(Debug)]
pub struct BlobWorker {
    name: String,
    rng: Rng,
    habits: BlobHabits,
    writes: u64,
    pub ledger: BlobLedger,
    /// All that it did on a server with a layer under it.
    pub history: History<BlobLedger>,
    /// What the server answered that it should not have.
    pub violations: Vec<String>,
    pub failure: Option<String>,
}

impl Work for BlobWorker {
    async fn step(&mut self, client: &mut Client, log: Option<&LogLength>) -> bool {
        let attempt = self.choose();
        self.perform(client, attempt, log).await
    }

    fn has_violations(&self) -> bool {
        !self.violations.is_empty()
    }
}

impl BlobWorker {
    pub fn new(name: impl Into<String>, seed: u64, habits: &BlobHabits) -> Self {
        Self {
            name: name.into(),
            rng: Rng::with_seed(seed),
            habits: habits.clone(),
            writes: 0,
            ledger: BlobLedger::default(),
            history: History::new(BlobLedger::default()),
            violations: Vec::new(),
            failure: None,
        }
    }

    /// Sends one attempt and takes in its answer. `false` if there was none.
    pub async fn perform(&mut self, client: &mut Client, attempt: BlobAttempt, log: Option<&LogLength>) -> bool {
        let position = || log.map_or(0, |log| log());
        let sent_at = position();
        let target = client.target();
        let reply = client.send(Service::Blob, &attempt.request(&target)).await;
        let answer: Option<BlobVerdict> = match attempt.verdict(reply) {
            Ok(Reply::Answered(verdict)) => Some(verdict),
            Ok(Reply::NotSent) => return false,
            Ok(Reply::Lost) => None,
            Ok(Reply::Failed(status, text)) => {
                self.failure = Some(format!("{attempt:?}: {status} {text}"));
                None
            }
            Err(violation) => {
                self.violations.push(violation);
                return false;
            }
        };
        if log.is_some() {
            self.history.add(attempt.clone(), sent_at, answer.clone().map(|verdict| (verdict, position())));
        }
        let Some(verdict) = answer else {
            self.ledger.unanswered(&attempt);
            return false;
        };
        self.violations.extend(self.ledger.answered(&attempt, &verdict).err());
        true
    }

    /// Deletes all that it has.
    pub async fn delete_all(&mut self, client: &mut Client) -> Result<(), String> {
        for name in self.ledger.names().cloned().collect::<Vec<_>>() {
            let known = self.ledger.blob(&name).cloned().unwrap_or_default();
            let mut acts = Vec::new();
            if !known.uncommitted.is_empty() {
                // What no list has named goes with the next version.
                acts.push(Act::Put { bytes: Arc::default(), mark: "last".to_owned(), condition: Condition::None });
            }
            if known.current.is_some() || !acts.is_empty() {
                acts.push(Act::Delete { with_snapshots: true });
            }
            for act in acts {
                let attempt = BlobAttempt { name: name.clone(), act };
                if !self.perform(client, attempt, None).await || !self.violations.is_empty() {
                    return Err(format!("{name} could not be deleted: {:?} {:?}", self.failure, self.violations));
                }
            }
        }
        Ok(())
    }

    fn choose(&mut self) -> BlobAttempt {
        let number = self.rng.u8(0..BLOCK_BLOBS + APPEND_BLOBS);
        let (name, is_append) = match number.checked_sub(BLOCK_BLOBS) {
            Some(number) => (format!("{}a{number}", self.name), true),
            None => (format!("{}b{number}", self.name), false),
        };
        let known = self.ledger.blob(&name).cloned().unwrap_or_default();
        let act = self.choose_for_any(&known).unwrap_or_else(|| match is_append {
            true => self.choose_for_append(&known),
            false => self.choose_for_block(&known),
        });
        BlobAttempt { name, act }
    }

    /// What can be done to a blob of any kind, now and then also if there is none.
    fn choose_for_any(&mut self, known: &KnownBlob) -> Option<Act> {
        let is_due = known.current.is_some() || self.rng.u8(0..10) == 0;
        match self.rng.u8(0..12) {
            0 if is_due => Some(Act::SetMetadata { mark: self.mark() }),
            1 if is_due && known.snapshots.len() < SNAPSHOTS_MAX => Some(Act::Snapshot),
            // Without snapshots to go with it, this is refused if there are some.
            2 | 3 if is_due && known.uncommitted.is_empty() => {
                Some(Act::Delete { with_snapshots: self.rng.u8(0..4) > 0 })
            }
            _ => None,
        }
    }

    fn choose_for_append(&mut self, known: &KnownBlob) -> Act {
        match &known.current {
            Some(version) if version.bytes.len() < APPENDED_BYTES_MAX && self.rng.u8(0..10) > 0 => {
                // Now and then at a place that is not the end.
                let position = version.bytes.len() + usize::from(self.rng.u8(0..10) == 0);
                Act::Append { bytes: self.small_content(), position }
            }
            _ => Act::CreateAppend { mark: self.mark() },
        }
    }

    fn choose_for_block(&mut self, known: &KnownBlob) -> Act {
        let is_full = known.uncommitted.len() >= UNCOMMITTED_MAX;
        match self.rng.u8(0..10) {
            0..=2 => {
                let etag = known.current.as_ref().and_then(|version| version.etag.clone());
                let condition = match (self.rng.u8(0..6), etag) {
                    (0, _) => Condition::Absent,
                    (1, _) => Condition::Version("\"0x8D0000000000000\"".to_owned()),
                    (2, Some(etag)) => Condition::Version(etag),
                    _ => Condition::None,
                };
                Act::Put { bytes: self.content(), mark: self.mark(), condition }
            }
            3..=6 if !is_full => {
                self.writes += 1;
                // Ids of one blob all have the same length; this is Base64.
                Act::PutBlock { id: format!("{:012}", self.writes), bytes: self.content() }
            }
            _ => self.choose_block_list(known),
        }
    }

    fn choose_block_list(&mut self, known: &KnownBlob) -> Act {
        let committed = known.current.iter().flat_map(|version| version.blocks.iter().map(|(id, _)| id.clone()));
        // Some blocks of the present version, then the new ones.
        let kept = self.rng.usize(0..=2);
        let mut ids: Vec<String> = committed.take(kept).chain(known.uncommitted.keys().cloned()).collect();
        if ids.is_empty() || self.rng.u8(0..12) == 0 {
            ids.push("000000000000".to_owned());
        }
        Act::PutBlockList { ids, mark: self.mark() }
    }

    fn mark(&mut self) -> String {
        self.writes += 1;
        format!("{}n{}", self.name, self.writes)
    }

    fn content(&mut self) -> Arc<Vec<u8>> {
        if self.rng.u32(0..self.habits.large_every) > 0 {
            return self.small_content();
        }
        let length = self.rng.usize(LARGE_BYTES_MIN..=self.habits.large_bytes_max);
        self.bytes(length)
    }

    fn small_content(&mut self) -> Arc<Vec<u8>> {
        let length = self.rng.usize(1..=self.habits.bytes_max);
        self.bytes(length)
    }

    fn bytes(&mut self, length: usize) -> Arc<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.rng.fill(&mut bytes);
        Arc::new(bytes)
    }
}
