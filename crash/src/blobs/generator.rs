//! The generator of blob writes.

use std::sync::Arc;

use fastrand::Rng;
use tablerock_conformance::target::Service;

use super::operation::{BlobCondition, BlobOperation, BlobWrite, request};
use super::{BlobKind, BlobModel, BlobState, BlobWorker, BlobWorkers};
use crate::client::{Client, Reply};
use crate::workers::Generator;

/// Names of one worker. Few, so that each is written, deleted and written again many times.
const BLOCK_BLOBS: u8 = 4;
const APPEND_BLOBS: u8 = 2;
const PAGE_BLOBS: u8 = 2;
const SNAPSHOTS_MAX: usize = 2;
const UNCOMMITTED_MAX: usize = 5;
/// An append blob of this size is created again.
const APPENDED_BYTES_MAX: usize = 200_000;

/// The lengths of page blobs: one that is mostly written, and one in which a clear can be large enough to take another
/// path in the server.
const PAGE_BLOB_BYTES: [usize; 2] = [256 << 10, 5 << 20];
const PAGE: usize = 512;

/// The sizes of the contents.
#[derive(Debug, Clone)]
pub struct BlobOptions {
    /// More than fits into the blob's own record, so that both forms occur.
    pub bytes_max: usize,
    /// More than fits into one record of the store.
    pub large_bytes_max: usize,
    /// One content in so many is large.
    pub large_every: u32,
}

const LARGE_BYTES_MIN: usize = 300 << 10;

impl Default for BlobOptions {
    fn default() -> Self {
        Self { bytes_max: 30_000, large_bytes_max: 4 << 20, large_every: 12 }
    }
}

#[derive(Debug)]
pub struct BlobGenerator {
    name: String,
    rng: Rng,
    options: BlobOptions,
    writes: u64,
}

impl Generator for BlobGenerator {
    type Model = BlobModel;
    type Options = BlobOptions;

    fn new(name: String, seed: u64, options: &BlobOptions) -> Self {
        Self { name, rng: Rng::with_seed(seed), options: options.clone(), writes: 0 }
    }

    fn initial_model(&self) -> BlobModel {
        BlobModel::default()
    }

    fn choose(&mut self, model: &BlobModel) -> BlobWrite {
        let (kind, number) = match self.rng.u8(0..BLOCK_BLOBS + APPEND_BLOBS + PAGE_BLOBS) {
            number if number < BLOCK_BLOBS => (BlobKind::Block, number),
            number if number < BLOCK_BLOBS + APPEND_BLOBS => (BlobKind::Append, number - BLOCK_BLOBS),
            number => (BlobKind::Page, number - BLOCK_BLOBS - APPEND_BLOBS),
        };
        let letter = match kind {
            BlobKind::Block => 'b',
            BlobKind::Append => 'a',
            BlobKind::Page => 'p',
        };
        let name = format!("{}{letter}{number}", self.name);
        let state = model.blob(&name).cloned().unwrap_or_default();
        let operation = self.choose_for_any(&state).unwrap_or_else(|| match kind {
            BlobKind::Append => self.choose_for_append(&state),
            BlobKind::Block => self.choose_for_block(&state),
            BlobKind::Page => self.choose_for_pages(&state, PAGE_BLOB_BYTES[usize::from(number)]),
        });
        BlobWrite { name, operation }
    }

    /// Creates the container, which is not part of the model.
    async fn set_up(_worker: &mut BlobWorker, client: &mut Client) -> Result<(), String> {
        let target = client.target();
        match client.send(Service::Blob, &request(&target, "PUT", None).raw_query("restype=container")).await {
            Reply::Response(answer) if answer.status == 201 => Ok(()),
            other => Err(format!("cannot create the container: {other:?}")),
        }
    }
}

impl BlobGenerator {
    /// An operation for blobs of any kind, sometimes also without a blob.
    fn choose_for_any(&mut self, state: &BlobState) -> Option<BlobOperation> {
        let is_valid = state.current.is_some() || self.rng.u8(0..10) == 0;
        match self.rng.u8(0..12) {
            0 if is_valid => Some(BlobOperation::SetMetadata { mark: self.mark() }),
            1 if is_valid && state.snapshots.len() < SNAPSHOTS_MAX => Some(BlobOperation::Snapshot),
            // Without `with_snapshots`, this is rejected if there are snapshots.
            2 | 3 if is_valid && state.uncommitted.is_empty() => {
                Some(BlobOperation::Delete { with_snapshots: self.rng.u8(0..4) > 0 })
            }
            _ => None,
        }
    }

    fn choose_for_append(&mut self, state: &BlobState) -> BlobOperation {
        match &state.current {
            Some(version) if version.bytes.len() < APPENDED_BYTES_MAX && self.rng.u8(0..10) > 0 => {
                // Sometimes at a position that is not the end.
                let position = version.bytes.len() + usize::from(self.rng.u8(0..10) == 0);
                BlobOperation::Append { bytes: self.small_content(), position }
            }
            _ => BlobOperation::CreateAppend { mark: self.mark() },
        }
    }

    fn choose_for_pages(&mut self, state: &BlobState, length: usize) -> BlobOperation {
        let pages = state.current.as_ref().map_or(0, |version| version.bytes.len() / PAGE);
        if pages == 0 || self.rng.u8(0..20) == 0 {
            return BlobOperation::CreatePages { length, mark: self.mark() };
        }
        let first = self.rng.usize(0..pages);
        // Over the bounds of several records, so that half of a write would be seen.
        let count = (1 + self.rng.usize(0..300)).min(pages - first);
        match self.rng.u8(0..10) {
            0 => BlobOperation::Resize { length: [length, length / 2, PAGE][self.rng.usize(0..3)] },
            1 => BlobOperation::ClearPages { offset: 0, length: pages * PAGE },
            2 | 3 => BlobOperation::ClearPages { offset: first * PAGE, length: count * PAGE },
            _ => BlobOperation::PutPages { offset: first * PAGE, bytes: self.bytes(count * PAGE) },
        }
    }

    fn choose_for_block(&mut self, state: &BlobState) -> BlobOperation {
        let is_full = state.uncommitted.len() >= UNCOMMITTED_MAX;
        match self.rng.u8(0..10) {
            0..=2 => {
                let etag = state.current.as_ref().and_then(|version| version.etag.clone());
                let condition = match (self.rng.u8(0..6), etag) {
                    (0, _) => BlobCondition::Absent,
                    (1, _) => BlobCondition::Version("\"0x8D0000000000000\"".to_owned()),
                    (2, Some(etag)) => BlobCondition::Version(etag),
                    _ => BlobCondition::None,
                };
                BlobOperation::Put { bytes: self.content(), mark: self.mark(), condition }
            }
            3..=6 if !is_full => {
                self.writes += 1;
                // Ids of one blob all have the same length; this is Base64.
                BlobOperation::PutBlock { id: format!("{:012}", self.writes), bytes: self.content() }
            }
            _ => self.choose_block_list(state),
        }
    }

    fn choose_block_list(&mut self, state: &BlobState) -> BlobOperation {
        let committed = state.current.iter().flat_map(|version| version.blocks.iter().map(|(id, _)| id.clone()));
        // Some blocks of the current version, then the uncommitted ones.
        let kept = self.rng.usize(0..=2);
        let mut ids: Vec<String> = committed.take(kept).chain(state.uncommitted.keys().cloned()).collect();
        if ids.is_empty() || self.rng.u8(0..12) == 0 {
            ids.push("000000000000".to_owned());
        }
        BlobOperation::PutBlockList { ids, mark: self.mark() }
    }

    fn mark(&mut self) -> String {
        self.writes += 1;
        format!("{}n{}", self.name, self.writes)
    }

    fn content(&mut self) -> Arc<Vec<u8>> {
        if self.rng.u32(0..self.options.large_every) > 0 {
            return self.small_content();
        }
        let length = self.rng.usize(LARGE_BYTES_MIN..=self.options.large_bytes_max);
        self.bytes(length)
    }

    fn small_content(&mut self) -> Arc<Vec<u8>> {
        let length = self.rng.usize(1..=self.options.bytes_max);
        self.bytes(length)
    }

    fn bytes(&mut self, length: usize) -> Arc<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.rng.fill(&mut bytes);
        Arc::new(bytes)
    }
}

impl BlobWorkers {
    /// Deletes all blobs.
    pub async fn delete_all(&mut self, client: &mut Client) -> Result<(), String> {
        for worker in &mut self.workers {
            delete_all(worker, client).await?;
        }
        Ok(())
    }

    /// The size of all blobs together.
    pub fn bytes(&self) -> usize {
        self.workers.iter().map(|worker| worker.model.bytes()).sum()
    }
}

async fn delete_all(worker: &mut BlobWorker, client: &mut Client) -> Result<(), String> {
    for name in worker.model.names().cloned().collect::<Vec<_>>() {
        let state = worker.model.blob(&name).cloned().unwrap_or_default();
        let mut operations = Vec::new();
        if !state.uncommitted.is_empty() {
            // Uncommitted blocks are discarded with the next version.
            let (mark, condition) = ("last".to_owned(), BlobCondition::None);
            operations.push(BlobOperation::Put { bytes: Arc::default(), mark, condition });
        }
        if state.current.is_some() || !operations.is_empty() {
            operations.push(BlobOperation::Delete { with_snapshots: true });
        }
        for operation in operations {
            let write = BlobWrite { name: name.clone(), operation };
            if !worker.send(client, write).await || !worker.findings.violations.is_empty() {
                return Err(format!("cannot delete {name}: {:?}", worker.findings));
            }
        }
    }
    Ok(())
}
