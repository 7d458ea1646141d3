//! The model of one worker's blobs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tablerock_conformance::target::Service;

use super::observed::{ObservedBlob, ObservedBlobs};
use super::operation::{BlobAck, BlobCondition, BlobOperation, BlobWrite};
use super::version::{BlobKind, BlobVersion};
use crate::client::{Client, Reply};
use crate::model::{Model, Response};

/// Everything under one name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlobState {
    pub current: Option<BlobVersion>,
    /// The uncommitted blocks.
    pub uncommitted: BTreeMap<String, Arc<Vec<u8>>>,
    /// By the time that the service gave to each.
    pub snapshots: BTreeMap<String, BlobVersion>,
}

/// The state of a blob after a write, without the new ETag or the time of the snapshot.
#[derive(Debug, Clone)]
pub struct BlobEffect {
    name: String,
    after: BlobState,
    takes_snapshot: bool,
}

#[derive(Debug, Clone, Default)]
pub struct BlobModel {
    blobs: BTreeMap<String, BlobState>,
    /// Every ETag of a name so far.
    etags: BTreeMap<String, BTreeSet<String>>,
    pending: Option<BlobEffect>,
}

impl BlobModel {
    pub fn blob(&self, name: &str) -> Option<&BlobState> {
        self.blobs.get(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.blobs.keys()
    }

    /// The size of all blobs together.
    pub fn bytes(&self) -> usize {
        let lengths = |blob: &BlobState| {
            let versions = blob.current.iter().chain(blob.snapshots.values()).map(|version| version.bytes.len());
            versions.sum::<usize>() + blob.uncommitted.values().map(|bytes| bytes.len()).sum::<usize>()
        };
        self.blobs.values().map(lengths).sum()
    }
}

impl Model for BlobModel {
    type Write = BlobWrite;
    type Ack = BlobAck;
    type Effect = BlobEffect;
    type Observed = ObservedBlobs;

    async fn send(client: &mut Client, write: &BlobWrite) -> Result<Reply<Response<Self>>, String> {
        let target = client.target();
        let reply = client.send(Service::Blob, &write.request(&target)).await;
        reply.and_then(|answer| write.interpret(&answer))
    }

    async fn observe(client: &mut Client) -> Result<ObservedBlobs, String> {
        ObservedBlobs::read(client).await
    }

    fn effect(&self, write: &BlobWrite) -> Result<BlobEffect, u16> {
        let mut after = self.blobs.get(&write.name).cloned().unwrap_or_default();
        after.apply(&write.operation)?;
        let takes_snapshot = write.operation == BlobOperation::Snapshot;
        Ok(BlobEffect { name: write.name.clone(), after, takes_snapshot })
    }

    fn apply(&mut self, effect: BlobEffect, ack: &BlobAck) -> Result<(), String> {
        let BlobEffect { name, mut after, takes_snapshot } = effect;
        let BlobAck { etag, snapshot } = ack.clone();
        if takes_snapshot {
            let time = snapshot.ok_or_else(|| format!("{name}: the response does not name the snapshot"))?;
            if after.snapshots.contains_key(&time) {
                return Err(format!("{name}: snapshot {time} exists already"));
            }
            after.add_snapshot(time);
        }
        if let Some(version) = after.current.as_mut().filter(|version| version.etag.is_none()) {
            let etag = etag.ok_or_else(|| format!("{name}: written, but the response has no ETag"))?;
            if !self.etags.entry(name.clone()).or_default().insert(etag.clone()) {
                return Err(format!("{name}: {etag} was already the ETag of another version"));
            }
            version.etag = Some(etag);
        }
        self.blobs.insert(name, after);
        Ok(())
    }

    fn find_ack(&self, effect: &BlobEffect, observed: &ObservedBlobs) -> Result<Option<BlobAck>, String> {
        let found = observed.blob(&effect.name);
        let before = self.blobs.get(&effect.name).cloned().unwrap_or_default();
        let Some(not_before) = before.difference(&found) else { return Ok(None) };
        let mut after = effect.after.clone();
        let mut snapshot = None;
        if effect.takes_snapshot {
            snapshot = found.snapshots.keys().find(|time| !before.snapshots.contains_key(*time)).cloned();
            after.add_snapshot(snapshot.clone().unwrap_or_default());
        }
        match after.difference(&found) {
            None => {
                let is_new = after.current.as_ref().is_some_and(|version| version.etag.is_none());
                let etag = found.current.as_ref().filter(|_| is_new).and_then(|version| version.etag.clone());
                Ok(Some(BlobAck { etag, snapshot }))
            }
            Some(not_after) => Err(format!(
                "{}: neither the state before nor the state after an unacknowledged write: {not_before}; {not_after}",
                effect.name
            )),
        }
    }

    fn differences(&self, observed: &ObservedBlobs) -> Vec<String> {
        let difference = |(name, state): (&String, &BlobState)| {
            state.difference(&observed.blob(name)).map(|difference| format!("{name}: {difference}"))
        };
        self.blobs.iter().filter_map(difference).collect()
    }

    /// Searches for blobs that no worker wrote.
    fn check_together(models: &mut [&mut Self], observed: &ObservedBlobs) -> Vec<String> {
        let is_known = |name: &String| models.iter().any(|model| model.blob(name).is_some());
        let unknown = observed.blobs.iter().filter(|(name, _)| !is_known(name));
        unknown.map(|(name, found)| format!("{name}: {found:?} exists and should not")).collect()
    }

    fn pending(&mut self) -> &mut Option<BlobEffect> {
        &mut self.pending
    }
}

impl BlobState {
    /// Applies an operation, or returns the status of the rejection.
    fn apply(&mut self, operation: &BlobOperation) -> Result<(), u16> {
        match operation {
            BlobOperation::Put { bytes, mark, condition } => {
                self.check(condition)?;
                self.replace(BlobKind::Block, Arc::clone(bytes), mark, vec![]);
            }
            BlobOperation::CreateAppend { mark } => self.replace(BlobKind::Append, Arc::default(), mark, vec![]),
            BlobOperation::PutBlock { id, bytes } => drop(self.uncommitted.insert(id.clone(), Arc::clone(bytes))),
            BlobOperation::PutBlockList { ids, mark } => {
                let blocks: Option<Vec<&[u8]>> = ids.iter().map(|id| self.block(id)).collect();
                let blocks = blocks.ok_or(400_u16)?;
                let lengths = ids.iter().zip(&blocks).map(|(id, bytes)| (id.clone(), bytes.len())).collect();
                let bytes = blocks.concat();
                self.replace(BlobKind::Block, Arc::new(bytes), mark, lengths);
            }
            BlobOperation::Append { bytes, position } => {
                let version = self.current.as_mut().ok_or(404_u16)?;
                if version.bytes.len() != *position {
                    return Err(412);
                }
                version.bytes = Arc::new([version.bytes.as_slice(), bytes].concat());
                version.etag = None;
            }
            BlobOperation::CreatePages { length, mark } => {
                self.replace(BlobKind::Page, Arc::new(vec![0; *length]), mark, vec![]);
            }
            BlobOperation::PutPages { offset, bytes } => {
                self.change_bytes(|all| all[*offset..*offset + bytes.len()].copy_from_slice(bytes))?;
            }
            BlobOperation::ClearPages { offset, length } => {
                self.change_bytes(|all| all[*offset..*offset + *length].fill(0))?;
            }
            BlobOperation::Resize { length } => self.change_bytes(|all| all.resize(*length, 0))?,
            BlobOperation::SetMetadata { mark } => {
                let version = self.current.as_mut().ok_or(404_u16)?;
                version.mark.clone_from(mark);
                version.etag = None;
            }
            BlobOperation::Snapshot if self.current.is_none() => return Err(404),
            BlobOperation::Snapshot => {}
            // Uncommitted blocks are deleted like a blob.
            BlobOperation::Delete { .. } if self.current.is_none() && self.uncommitted.is_empty() => return Err(404),
            BlobOperation::Delete { with_snapshots: false } if !self.snapshots.is_empty() => return Err(409),
            BlobOperation::Delete { .. } => *self = Self::default(),
        }
        Ok(())
    }

    /// Changes the bytes of a blob in place, which is a new version.
    fn change_bytes(&mut self, change: impl FnOnce(&mut Vec<u8>)) -> Result<(), u16> {
        let version = self.current.as_mut().ok_or(404_u16)?;
        change(Arc::make_mut(&mut version.bytes));
        version.etag = None;
        Ok(())
    }

    fn check(&self, condition: &BlobCondition) -> Result<(), u16> {
        match (condition, &self.current) {
            (BlobCondition::Absent, Some(_)) => Err(409),
            (BlobCondition::Version(etag), current)
                if current.as_ref().and_then(|version| version.etag.as_ref()) != Some(etag) =>
            {
                Err(412)
            }
            _ => Ok(()),
        }
    }

    /// Replaces everything but the snapshots with a new version.
    fn replace(&mut self, kind: BlobKind, bytes: Arc<Vec<u8>>, mark: &str, blocks: Vec<(String, usize)>) {
        self.current = Some(BlobVersion { kind, bytes, mark: mark.to_owned(), etag: None, blocks });
        self.uncommitted.clear();
    }

    fn block(&self, id: &str) -> Option<&[u8]> {
        let uncommitted = self.uncommitted.get(id).map(|bytes| bytes.as_slice());
        uncommitted.or_else(|| self.current.as_ref()?.block(id))
    }

    fn add_snapshot(&mut self, time: String) {
        if let Some(version) = &self.current {
            // The block list of a snapshot is not observed.
            self.snapshots.insert(time, BlobVersion { blocks: vec![], ..version.clone() });
        }
    }

    /// The difference to the observed blob, if there is one.
    fn difference(&self, found: &ObservedBlob) -> Option<String> {
        let versions = |expected: Option<&BlobVersion>, found: Option<&BlobVersion>| match (expected, found) {
            (None, None) => None,
            (Some(expected), None) => Some(format!("{expected:?} was acknowledged and is gone")),
            (None, Some(found)) => Some(format!("{found:?} exists and should not")),
            (Some(expected), Some(found)) => expected.difference(found),
        };
        let current = versions(self.current.as_ref(), found.current.as_ref());
        let lengths = self.uncommitted.iter().map(|(id, bytes)| (id.clone(), bytes.len())).collect();
        let blocks = (found.uncommitted != lengths)
            .then(|| format!("its uncommitted blocks are {:?} and should be {lengths:?}", found.uncommitted));
        let times: BTreeSet<&String> = self.snapshots.keys().chain(found.snapshots.keys()).collect();
        let snapshot = times.into_iter().find_map(|time| {
            let difference = versions(self.snapshots.get(time), found.snapshots.get(time))?;
            Some(format!("snapshot {time}: {difference}"))
        });
        current.or(blocks).or(snapshot)
    }
}
