//! The oracle of blobs: what one client knows about the blobs that are its own, from the answers it got.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::attempt::{Act, BlobAttempt, BlobVerdict, Condition};
use super::observed::{ObservedBlobs, SeenBlob};
use super::version::{BlobVersion, Kind};
use crate::history::Book;

/// Everything under one name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownBlob {
    pub current: Option<BlobVersion>,
    /// Blocks that no list has named yet.
    pub uncommitted: BTreeMap<String, Arc<Vec<u8>>>,
    /// By the time that the service gave each.
    pub snapshots: BTreeMap<String, BlobVersion>,
}

/// What an attempt makes of a blob, before its new ETag or its snapshot's time is known.
#[derive(Debug, Clone)]
struct Effect {
    name: String,
    after: KnownBlob,
    takes_snapshot: bool,
}

#[derive(Debug, Clone, Default)]
pub struct BlobLedger {
    blobs: BTreeMap<String, KnownBlob>,
    /// Every ETag that was ever seen of a name.
    etags: BTreeMap<String, BTreeSet<String>>,
    open: Option<Effect>,
}

impl BlobLedger {
    pub fn blob(&self, name: &str) -> Option<&KnownBlob> {
        self.blobs.get(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.blobs.keys()
    }

    /// What all blobs hold together.
    pub fn bytes(&self) -> usize {
        let lengths = |blob: &KnownBlob| {
            let versions = blob.current.iter().chain(blob.snapshots.values()).map(|version| version.bytes.len());
            versions.sum::<usize>() + blob.uncommitted.values().map(|bytes| bytes.len()).sum::<usize>()
        };
        self.blobs.values().map(lengths).sum()
    }

    /// Compares all that is known with what is there, settles the open attempt, and tells what differs.
    pub fn settle(&mut self, observed: &ObservedBlobs) -> (Option<BlobVerdict>, Vec<String>) {
        let mut violations = Vec::new();
        let happened = self.open.take().and_then(|effect| match self.happened(&effect, observed) {
            Ok(None) => None,
            Ok(Some(verdict)) => {
                let BlobVerdict::Done { etag, snapshot } = verdict.clone() else { return None };
                violations.extend(self.apply(effect, etag, snapshot).err());
                Some(verdict)
            }
            Err(violation) => {
                violations.push(violation);
                None
            }
        });
        let nothing = SeenBlob::default();
        for (name, known) in &self.blobs {
            let seen = observed.blobs.get(name).unwrap_or(&nothing);
            violations.extend(known.difference(seen).map(|what| format!("{name}: {what}")));
        }
        (happened, violations)
    }

    /// The answer that an open attempt would have had, if it happened. An error if what is there is neither what was
    /// before nor what should have come of it.
    fn happened(&self, effect: &Effect, observed: &ObservedBlobs) -> Result<Option<BlobVerdict>, String> {
        let nothing = SeenBlob::default();
        let seen = observed.blobs.get(&effect.name).unwrap_or(&nothing);
        let before = self.blobs.get(&effect.name).cloned().unwrap_or_default();
        let Some(not_before) = before.difference(seen) else { return Ok(None) };
        let mut after = effect.after.clone();
        let mut snapshot = None;
        if effect.takes_snapshot {
            snapshot = seen.snapshots.keys().find(|time| !before.snapshots.contains_key(*time)).cloned();
            after.add_snapshot(snapshot.clone().unwrap_or_default());
        }
        match after.difference(seen) {
            None => {
                let is_new = after.current.as_ref().is_some_and(|version| version.etag.is_none());
                let etag = seen.current.as_ref().filter(|_| is_new).and_then(|version| version.etag.clone());
                Ok(Some(BlobVerdict::Done { etag, snapshot }))
            }
            Some(not_after) => Err(format!(
                "{}: neither as before nor as an unanswered request would have it: {not_before}; {not_after}",
                effect.name
            )),
        }
    }

    fn apply(&mut self, effect: Effect, etag: Option<String>, snapshot: Option<String>) -> Result<(), String> {
        let Effect { name, mut after, takes_snapshot } = effect;
        if takes_snapshot {
            let time = snapshot.ok_or_else(|| format!("{name}: the answer does not tell the snapshot"))?;
            if after.snapshots.contains_key(&time) {
                return Err(format!("{name}: there is a snapshot {time} already"));
            }
            after.add_snapshot(time);
        }
        if let Some(version) = after.current.as_mut().filter(|version| version.etag.is_none()) {
            let etag = etag.ok_or_else(|| format!("{name}: written, but the answer has no ETag"))?;
            if !self.etags.entry(name.clone()).or_default().insert(etag.clone()) {
                return Err(format!("{name}: {etag} was already the ETag of another version"));
            }
            version.etag = Some(etag);
        }
        self.blobs.insert(name, after);
        Ok(())
    }

    fn effect(&self, attempt: &BlobAttempt) -> Result<Effect, u16> {
        let mut after = self.blobs.get(&attempt.name).cloned().unwrap_or_default();
        after.change(&attempt.act)?;
        Ok(Effect { name: attempt.name.clone(), after, takes_snapshot: attempt.act == Act::Snapshot })
    }
}

impl Book for BlobLedger {
    type Attempt = BlobAttempt;
    type Verdict = BlobVerdict;

    fn answered(&mut self, attempt: &BlobAttempt, verdict: &BlobVerdict) -> Result<(), String> {
        match (self.effect(attempt), verdict) {
            (Ok(effect), BlobVerdict::Done { etag, snapshot }) => self.apply(effect, etag.clone(), snapshot.clone()),
            (Err(expected), BlobVerdict::Refused(status)) if expected == *status => Ok(()),
            (Ok(_), BlobVerdict::Refused(status)) => Err(format!("{attempt:?}: refused with {status}, but it was due")),
            (Err(expected), got) => Err(format!("{attempt:?}: expected the refusal {expected}, got {got:?}")),
        }
    }

    fn unanswered(&mut self, attempt: &BlobAttempt) {
        assert!(self.open.is_none(), "a client that got no answer asks nothing more before the next settlement");
        self.open = self.effect(attempt).ok();
    }
}

impl KnownBlob {
    /// Does what a request asks for, or tells the status of the refusal.
    fn change(&mut self, act: &Act) -> Result<(), u16> {
        match act {
            Act::Put { bytes, mark, condition } => {
                self.check(condition)?;
                self.replace(Kind::Block, Arc::clone(bytes), mark, vec![]);
            }
            Act::CreateAppend { mark } => self.replace(Kind::Append, Arc::default(), mark, vec![]),
            Act::PutBlock { id, bytes } => drop(self.uncommitted.insert(id.clone(), Arc::clone(bytes))),
            Act::PutBlockList { ids, mark } => {
                let blocks: Option<Vec<&[u8]>> = ids.iter().map(|id| self.block(id)).collect();
                let blocks = blocks.ok_or(400_u16)?;
                let lengths = ids.iter().zip(&blocks).map(|(id, bytes)| (id.clone(), bytes.len())).collect();
                let bytes = blocks.concat();
                self.replace(Kind::Block, Arc::new(bytes), mark, lengths);
            }
            Act::Append { bytes, position } => {
                let version = self.current.as_mut().ok_or(404_u16)?;
                if version.bytes.len() != *position {
                    return Err(412);
                }
                version.bytes = Arc::new([version.bytes.as_slice(), bytes].concat());
                version.etag = None;
            }
            Act::SetMetadata { mark } => {
                let version = self.current.as_mut().ok_or(404_u16)?;
                version.mark.clone_from(mark);
                version.etag = None;
            }
            Act::Snapshot if self.current.is_none() => return Err(404),
            Act::Snapshot => {}
            Act::Delete { .. } if self.current.is_none() => return Err(404),
            Act::Delete { with_snapshots: false } if !self.snapshots.is_empty() => return Err(409),
            Act::Delete { .. } => *self = Self::default(),
        }
        Ok(())
    }

    fn check(&self, condition: &Condition) -> Result<(), u16> {
        match (condition, &self.current) {
            (Condition::Absent, Some(_)) => Err(409),
            (Condition::Version(etag), current)
                if current.as_ref().and_then(|version| version.etag.as_ref()) != Some(etag) =>
            {
                Err(412)
            }
            _ => Ok(()),
        }
    }

    /// A new version in place of all but the snapshots.
    fn replace(&mut self, kind: Kind, bytes: Arc<Vec<u8>>, mark: &str, blocks: Vec<(String, usize)>) {
        self.current = Some(BlobVersion { kind, bytes, mark: mark.to_owned(), etag: None, blocks });
        self.uncommitted.clear();
    }

    fn block(&self, id: &str) -> Option<&[u8]> {
        let uncommitted = self.uncommitted.get(id).map(|bytes| bytes.as_slice());
        uncommitted.or_else(|| self.current.as_ref()?.block(id))
    }

    fn add_snapshot(&mut self, time: String) {
        if let Some(version) = &self.current {
            // A list of blocks is not asked for of snapshots.
            self.snapshots.insert(time, BlobVersion { blocks: vec![], ..version.clone() });
        }
    }

    /// What is wrong about what is there, if anything.
    fn difference(&self, seen: &SeenBlob) -> Option<String> {
        let versions = |known: Option<&BlobVersion>, seen: Option<&BlobVersion>| match (known, seen) {
            (None, None) => None,
            (Some(known), None) => Some(format!("{known:?} was acknowledged and is gone")),
            (None, Some(seen)) => Some(format!("{seen:?} is there and should not be")),
            (Some(known), Some(seen)) => known.difference(seen),
        };
        let current = versions(self.current.as_ref(), seen.current.as_ref());
        let lengths = self.uncommitted.iter().map(|(id, bytes)| (id.clone(), bytes.len())).collect();
        let blocks = (seen.uncommitted != lengths)
            .then(|| format!("its uncommitted blocks are {:?} and should be {lengths:?}", seen.uncommitted));
        let times: BTreeSet<&String> = self.snapshots.keys().chain(seen.snapshots.keys()).collect();
        let snapshot = times.into_iter().find_map(|time| {
            let what = versions(self.snapshots.get(time), seen.snapshots.get(time))?;
            Some(format!("snapshot {time}: {what}"))
        });
        current.or(blocks).or(snapshot)
    }
}
