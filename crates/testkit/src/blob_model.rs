//! A Blob service and a model of it: random steps, and what both must agree on after each.

use std::collections::BTreeMap;
use std::sync::Arc;

use tablerock_kv::{Bytes, Clock, ManualClock, Position, Range, Rng, ScanLimits, Store};
use tablerock_protocol::blob::{BlockId, ByteRange, ContentHeaders, Tags};
use tablerock_protocol::xml::{BlockListRequest, BlockSource};
use tablerock_protocol::{DateTime, ErrorCode, Metadata};
use tablerock_services::blob::{
    AppendTerms, BlobAddress, BlobKind, BlobQuery, BlobService, DeleteSnapshots, ListedBlob, NewBlob, PublicAccess,
    ReadTerms, Received, Usage, WriteTerms,
};
use tablerock_services::{Error, Result};

use crate::blob_copies::copy_blob;

pub const ACCOUNT: &str = "acct";
pub const CONTAINER: &str = "photos";
pub const NOON: u64 = 638_000_000_000_000_000;

/// Larger than what a record keeps, and larger than a chunk.
const LENGTHS: [usize; 6] = [0, 1, 5_000, 20_000, 262_144, 700_001];

const NAMES: [&str; 4] = ["a", "a/b", "a/c", "é"];

pub fn at(name: &str) -> BlobAddress<'_> {
    BlobAddress { account: ACCOUNT, container: CONTAINER, name }
}

pub async fn service_on(store: &Store, clock: Arc<dyn Clock>) -> BlobService {
    BlobService::open(store.clone(), clock, Rng::seeded(7)).await.expect("a store opens")
}

/// A service with one empty container.
pub async fn service_with_container(store: &Store, clock: Arc<dyn Clock>) -> BlobService {
    let service = service_on(store, clock).await;
    let created = service.create_container(ACCOUNT, CONTAINER, &Metadata::default(), PublicAccess::Private).await;
    created.expect("the container is new");
    service
}

pub fn manual_clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(NOON))
}

pub fn new_blob(kind: BlobKind) -> NewBlob {
    NewBlob {
        kind,
        headers: ContentHeaders::default(),
        metadata: Metadata::default(),
        tags: Tags::default(),
        tier: None,
    }
}

pub async fn receive(service: &BlobService, name: &str, content: &[u8]) -> Result<Received> {
    service.receive_blob(at(name), &mut Some(Bytes::copy_from_slice(content)), true).await
}

pub async fn put(service: &BlobService, name: &str, content: &[u8]) -> Result<DateTime> {
    put_with(service, name, content, &WriteTerms::default()).await
}

pub async fn put_with(service: &BlobService, name: &str, content: &[u8], terms: &WriteTerms) -> Result<DateTime> {
    let received = receive(service, name, content).await?;
    service.put_blob(at(name), terms, &new_blob(BlobKind::Block), received).await
}

pub async fn create_append(service: &BlobService, name: &str) -> Result<DateTime> {
    let received = service.receive_blob(at(name), &mut None::<Bytes>, false).await?;
    service.put_blob(at(name), &WriteTerms::default(), &new_blob(BlobKind::Append), received).await
}

pub async fn append(service: &BlobService, name: &str, content: &[u8]) -> Result<u64> {
    let received = receive(service, name, content).await?;
    Ok(service.append_block(at(name), &AppendTerms::default(), received).await?.offset)
}

pub fn block_id(number: u8) -> BlockId {
    BlockId::from_bytes(&[b'b', number])
}

pub async fn put_block(service: &BlobService, name: &str, number: u8, content: &[u8]) -> Result<()> {
    let received = service.receive_block(at(name), &mut Some(Bytes::copy_from_slice(content)), false).await?;
    service.put_block(at(name), None, &block_id(number), received).await
}

pub async fn put_list(service: &BlobService, name: &str, list: &[(BlockSource, u8)]) -> Result<DateTime> {
    let blocks = list.iter().map(|(source, number)| (*source, block_id(*number))).collect();
    let (terms, new) = (WriteTerms::default(), new_blob(BlobKind::Block));
    service.put_block_list(at(name), &terms, &new, &BlockListRequest { blocks }).await
}

pub async fn read(service: &BlobService, name: &str, snapshot: Option<DateTime>) -> Result<Bytes> {
    let whole = |blob: &tablerock_services::blob::Blob| Ok(ByteRange::whole(blob.length));
    let (_, _, reader) = service.download(at(name), snapshot, &ReadTerms::default(), whole).await?;
    reader.read_to_end().await
}

/// The usage of the container, if it is known without a count.
pub async fn usage(service: &BlobService) -> Option<Usage> {
    let containers = service.containers_in_use(ACCOUNT).await.expect("containers");
    service.usage_of(containers[0], false).await.expect("a usage")
}

pub fn code<T: std::fmt::Debug>(result: Result<T>) -> ErrorCode {
    result.expect_err("an error").into_service_error().code
}

/// Every record of a store whose partition begins with one of these tags.
pub async fn records(store: &Store, tags: &[u8]) -> Vec<(Bytes, Bytes)> {
    let mut found = Vec::new();
    for tag in tags {
        let mut range = Range::partitions(&[*tag]);
        loop {
            let limits = ScanLimits { records_max: 1000, bytes_max: 64 << 20, deadline: None };
            let page = store.scan(&range, limits).await.expect("a page");
            found.extend(page.records.into_iter().map(|record| (record.partition, record.key)));
            let Some(next) = page.next else { break };
            range.start = Position::new(next.partition, next.key);
        }
    }
    found
}

#[derive(Debug, Clone)]
struct ModelBlob {
    kind: BlobKind,
    content: Vec<u8>,
    committed: Vec<(u8, Vec<u8>)>,
}

#[derive(Debug, Default)]
struct ModelEntry {
    blob: Option<ModelBlob>,
    uncommitted: BTreeMap<u8, Vec<u8>>,
    snapshots: Vec<(DateTime, Vec<u8>)>,
}

/// A service and its model.
#[derive(Debug)]
pub struct Comparison {
    store: Store,
    service: BlobService,
    model: BTreeMap<&'static str, ModelEntry>,
    rng: fastrand::Rng,
}

impl Comparison {
    pub async fn new(store: Store, seed: u64) -> Self {
        let service = service_with_container(&store, manual_clock()).await;
        let model = NAMES.iter().map(|name| (*name, ModelEntry::default())).collect();
        Self { store, service, model, rng: fastrand::Rng::with_seed(seed) }
    }

    /// The usage of the container, as the service keeps it and as the model has it.
    pub async fn usages(&self) -> (Option<Usage>, Usage) {
        let mut expected = Usage::default();
        for ModelEntry { blob, uncommitted, .. } in self.model.values() {
            let blocks: usize = uncommitted.values().map(Vec::len).sum();
            expected.bytes += (blob.as_ref().map_or(0, |blob| blob.content.len()) + blocks) as i64;
            expected.objects += i64::from(blob.is_some() || !uncommitted.is_empty());
        }
        (usage(&self.service).await, expected)
    }

    fn content(&mut self) -> Vec<u8> {
        let length = LENGTHS[self.rng.usize(..LENGTHS.len())];
        let mut content = vec![0; length];
        self.rng.fill(&mut content);
        content
    }

    /// One random step, and a look at the blob that it was about.
    pub async fn step(&mut self) {
        let name = NAMES[self.rng.usize(..NAMES.len())];
        match self.rng.u8(..11) {
            0 | 1 => self.put(name).await,
            2 | 3 => self.put_block(name).await,
            4 => self.put_list(name).await,
            5 => self.create_append(name).await,
            6 => self.append(name).await,
            7 => self.snapshot(name).await,
            8 => self.delete(name).await,
            9 => self.copy(name).await,
            _ => self.delete_snapshot(name).await,
        }
        self.check(name).await;
    }

    async fn put(&mut self, name: &'static str) {
        let content = self.content();
        put(&self.service, name, &content).await.unwrap();
        let entry = self.model.get_mut(name).unwrap();
        entry.blob = Some(ModelBlob { kind: BlobKind::Block, content, committed: vec![] });
        entry.uncommitted.clear();
    }

    async fn put_block(&mut self, name: &'static str) {
        let (content, number) = (self.content(), self.rng.u8(..4));
        let outcome = put_block(&self.service, name, number, &content).await;
        let entry = self.model.get_mut(name).unwrap();
        if content.is_empty() {
            assert_eq!(code(outcome), ErrorCode::InvalidHeaderValue);
        } else if entry.blob.as_ref().is_some_and(|blob| blob.kind == BlobKind::Append) {
            assert_eq!(code(outcome), ErrorCode::InvalidBlobType);
        } else {
            outcome.unwrap();
            entry.uncommitted.insert(number, content);
        }
    }

    async fn put_list(&mut self, name: &'static str) {
        let list: Vec<_> = (0..self.rng.usize(..4)).map(|_| (BlockSource::Latest, self.rng.u8(..4))).collect();
        let outcome = put_list(&self.service, name, &list).await;
        let entry = self.model.get_mut(name).unwrap();
        if entry.blob.as_ref().is_some_and(|blob| blob.kind == BlobKind::Append) {
            assert_eq!(code(outcome), ErrorCode::InvalidBlobType);
            return;
        }
        let committed = entry.blob.as_ref().map_or(&[][..], |blob| &blob.committed);
        let find = |number: &u8| {
            let found = committed.iter().find(|(known, _)| known == number).map(|(_, content)| content);
            entry.uncommitted.get(number).or(found).map(|content| (*number, content.clone()))
        };
        let found: Option<Vec<_>> = list.iter().map(|(_, number)| find(number)).collect();
        let Some(committed) = found else { return assert_eq!(code(outcome), ErrorCode::InvalidBlockList) };
        outcome.unwrap();
        let content = committed.iter().flat_map(|(_, content)| content.clone()).collect();
        entry.blob = Some(ModelBlob { kind: BlobKind::Block, content, committed });
        entry.uncommitted.clear();
    }

    async fn create_append(&mut self, name: &'static str) {
        create_append(&self.service, name).await.unwrap();
        let entry = self.model.get_mut(name).unwrap();
        entry.blob = Some(ModelBlob { kind: BlobKind::Append, content: vec![], committed: vec![] });
        entry.uncommitted.clear();
    }

    async fn append(&mut self, name: &'static str) {
        let content = self.content();
        let outcome = append(&self.service, name, &content).await;
        let entry = self.model.get_mut(name).unwrap();
        match &mut entry.blob {
            None => assert_eq!(code(outcome), ErrorCode::BlobNotFound),
            Some(blob) if blob.kind == BlobKind::Block => assert_eq!(code(outcome), ErrorCode::InvalidBlobType),
            Some(blob) => {
                assert_eq!(outcome.unwrap(), blob.content.len() as u64);
                blob.content.extend(content);
            }
        }
    }

    async fn snapshot(&mut self, name: &'static str) {
        let outcome = self.service.snapshot_blob(at(name), &WriteTerms::default(), None).await;
        let entry = self.model.get_mut(name).unwrap();
        match &entry.blob {
            None => assert_eq!(code(outcome), ErrorCode::BlobNotFound),
            Some(blob) => entry.snapshots.push((outcome.unwrap().0, blob.content.clone())),
        }
    }

    async fn delete(&mut self, name: &'static str) {
        let snapshots = match self.rng.u8(..3) {
            0 => DeleteSnapshots::Refuse,
            1 => DeleteSnapshots::Only,
            _ => DeleteSnapshots::Include,
        };
        let outcome = self.service.delete_blob(at(name), &WriteTerms::default(), snapshots).await;
        let entry = self.model.get_mut(name).unwrap();
        if entry.blob.is_none() && (entry.uncommitted.is_empty() || snapshots == DeleteSnapshots::Only) {
            assert_eq!(code(outcome), ErrorCode::BlobNotFound);
        } else if snapshots == DeleteSnapshots::Refuse && !entry.snapshots.is_empty() {
            assert_eq!(code(outcome), ErrorCode::SnapshotsPresent);
        } else {
            outcome.unwrap();
            entry.snapshots.clear();
            if snapshots != DeleteSnapshots::Only {
                *entry = ModelEntry::default();
            }
        }
    }

    async fn delete_snapshot(&mut self, name: &'static str) {
        let entry = self.model.get_mut(name).unwrap();
        if entry.snapshots.is_empty() {
            return;
        }
        let (taken, _) = entry.snapshots.remove(self.rng.usize(..entry.snapshots.len()));
        self.service.delete_snapshot(at(name), &WriteTerms::default(), taken).await.unwrap();
    }

    async fn copy(&mut self, name: &'static str) {
        let from = NAMES[self.rng.usize(..NAMES.len())];
        let snapshot = self.model[from].snapshots.first().map(|(taken, _)| *taken).filter(|_| self.rng.bool());
        let outcome = copy_blob(&self.service, (from, snapshot, None), (name, None)).await;
        let Some(mut copied) = self.model[from].blob.clone() else {
            return assert_eq!(code(outcome), ErrorCode::BlobNotFound);
        };
        if let Some(taken) = snapshot {
            // The kind and the blocks of a snapshot may be others than its blob's are now, so only bytes are compared.
            if outcome.is_err() {
                return assert_eq!(code(outcome), ErrorCode::InvalidBlobType);
            }
            let found = self.service.blob(at(name), None, &ReadTerms::default()).await.unwrap();
            let content = self.model[from].snapshots.iter().find(|(known, _)| *known == taken).unwrap().1.clone();
            let lists = tablerock_services::blob::WhichBlocks::Committed;
            let committed = match found.kind {
                BlobKind::Append | BlobKind::Page => vec![],
                BlobKind::Block => {
                    let lists = self.service.block_list(at(name), None, &ReadTerms::default(), lists).await.unwrap();
                    cut(&content, &lists.committed.unwrap())
                }
            };
            copied = ModelBlob { kind: found.kind, content, committed };
        } else if self.model[name].blob.as_ref().is_some_and(|blob| blob.kind != copied.kind) {
            return assert_eq!(code(outcome), ErrorCode::InvalidBlobType);
        }
        outcome.expect("a copy");
        let entry = self.model.get_mut(name).unwrap();
        entry.blob = Some(copied);
        entry.uncommitted.clear();
    }

    /// Whether a blob is what the model says, and so are its snapshots and any range of it.
    async fn check(&mut self, name: &'static str) {
        let entry = &self.model[name];
        match &entry.blob {
            None => assert_eq!(code(read(&self.service, name, None).await), ErrorCode::BlobNotFound),
            Some(blob) => {
                assert!(read(&self.service, name, None).await.unwrap() == blob.content, "{name} has other content");
                let (start, end) = (self.rng.usize(..=blob.content.len()), self.rng.usize(..=blob.content.len()));
                let (start, end) = (start.min(end), start.max(end));
                let range = ByteRange { offset: start as u64, length: (end - start) as u64 };
                let (_, _, reader) =
                    self.service.download(at(name), None, &ReadTerms::default(), |_: &_| Ok(range)).await.unwrap();
                assert!(
                    reader.read_to_end().await.unwrap() == blob.content[start..end],
                    "{name} from {start} to {end}"
                );
            }
        }
        for (taken, content) in &entry.snapshots {
            assert!(read(&self.service, name, Some(*taken)).await.unwrap() == *content, "a snapshot of {name}");
        }
        self.check_list().await;
    }

    async fn check_list(&self) {
        let query = BlobQuery { items_max: 100, with_snapshots: true, with_uncommitted: true, ..Default::default() };
        let page = self.service.list_blobs(ACCOUNT, CONTAINER, &query).await.unwrap();
        let mut wanted = Vec::new();
        for (name, entry) in &self.model {
            wanted.extend(
                entry.snapshots.iter().map(|(taken, content)| ((*name).to_owned(), Some(*taken), content.len())),
            );
            match &entry.blob {
                Some(blob) => wanted.push(((*name).to_owned(), None, blob.content.len())),
                None if !entry.uncommitted.is_empty() => wanted.push(((*name).to_owned(), None, usize::MAX)),
                None => {}
            }
        }
        let listed = page.entries.into_iter().map(|entry| match entry {
            ListedBlob::Blob { name, snapshot, blob } => (name, snapshot, blob.length as usize),
            ListedBlob::Uncommitted { name } => (name, None, usize::MAX),
            ListedBlob::Prefix(prefix) => panic!("{prefix} without a delimiter"),
        });
        assert_eq!(listed.collect::<Vec<_>>(), wanted);
    }

    /// Deletes everything, and looks whether anything is left.
    pub async fn finish(self) {
        for name in NAMES {
            let outcome = self.service.delete_blob(at(name), &WriteTerms::default(), DeleteSnapshots::Include).await;
            if self.model[name].blob.is_none() {
                assert_eq!(code(outcome), ErrorCode::BlobNotFound);
                put(&self.service, name, b"").await.unwrap();
                let terms = WriteTerms::default();
                self.service.delete_blob(at(name), &terms, DeleteSnapshots::Refuse).await.unwrap();
            } else {
                outcome.unwrap();
            }
        }
        self.service.rest().await;
        let left = records(&self.store, b"bo").await;
        assert!(left.is_empty(), "{} records are left: {:?}", left.len(), &left[..left.len().min(5)]);
    }
}

/// The blocks of some content, of which the ids and lengths are known.
fn cut(content: &[u8], blocks: &[(BlockId, u64)]) -> Vec<(u8, Vec<u8>)> {
    let mut rest = content;
    let take = |(id, length): &(BlockId, u64)| {
        let (block, after) = rest.split_at(*length as usize);
        rest = after;
        (id.as_bytes()[1], block.to_vec())
    };
    blocks.iter().map(take).collect()
}

/// Refusals that a test expects of the store rather than of the service.
pub fn is_store_error<T: std::fmt::Debug>(result: &Result<T>) -> bool {
    matches!(result, Err(Error::Store(_)))
}
