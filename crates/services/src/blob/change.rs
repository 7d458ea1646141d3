//! Changes that replace what a blob holds.
//!
//! Such a change is decided on what is durable: the record of the blob and its uncommitted blocks. What it would leave
//! behind is noted, and then it is committed in one transaction that expects to find exactly what was seen. If another
//! writer came first, all of it begins again.

use std::time::Duration;

use tablerock_kv::{Bytes, Error as StoreError, Rng, Transaction};

use super::address::Place;
use super::blocks::UncommittedBlock;
use super::record::Blob;
use super::tidying::{Direction, Holding, Note, OpenNote};
use super::{BlobService, keys};
use crate::{Error, Result};

/// How often a change is tried before the client hears that the server is busy.
const ATTEMPTS_MAX: u32 = 100;

/// How long the writer that came first may take to become durable, at most, between two attempts.
const PAUSE_MS_MAX: u64 = 8;

/// What was there when a change was decided.
#[derive(Debug)]
pub(super) struct Seen {
    base: Option<Bytes>,
    header: Option<Bytes>,
    pub(super) blob: Option<Blob>,
    pub(super) blocks: Vec<UncommittedBlock>,
}

/// What is to be there afterwards.
#[derive(Debug)]
pub(super) struct Change {
    /// The blob itself; `None` deletes it.
    pub(super) blob: Option<Blob>,
    /// Other records of its partition.
    pub(super) puts: Vec<(Bytes, Bytes)>,
    pub(super) deletes: Vec<Bytes>,
    /// What nobody needs any more, unless something else of this blob refers to it.
    pub(super) leaves: Vec<Holding>,
    /// Whether the uncommitted blocks go; their content must be in `leaves` or in the new blob then.
    pub(super) drops_blocks: bool,
}

impl Change {
    /// Replaces a blob and its uncommitted blocks, all of whose content goes.
    pub(super) fn replacing(seen: &Seen, blob: Option<Blob>) -> Self {
        let mut leaves: Vec<Holding> = seen.blob.as_ref().and_then(Holding::of).into_iter().collect();
        leaves.extend(seen.blocks.iter().map(UncommittedBlock::holding));
        Self { blob, puts: vec![], deletes: vec![], leaves, drops_blocks: true }
    }

    /// Leaves the uncommitted blocks as they are.
    pub(super) fn beside_blocks(blob: Option<Blob>) -> Self {
        Self { blob, puts: vec![], deletes: vec![], leaves: vec![], drops_blocks: false }
    }
}

/// The attempts at one change.
#[derive(Debug, Default)]
pub(super) struct Attempts(u32);

impl Attempts {
    /// Waits for the writer that came first, unless it has been tried often enough.
    pub(super) async fn again(&mut self, rng: &Rng) -> Result<()> {
        self.0 += 1;
        if self.0 == ATTEMPTS_MAX {
            return Err(StoreError::unavailable("a blob is changed too often by others; retry later").into());
        }
        tokio::time::sleep(Duration::from_millis(1 + rng.below(PAUSE_MS_MAX))).await;
        Ok(())
    }
}

/// How a transaction ended that did not commit.
enum Ended {
    Moved,
    Failed(StoreError),
}

impl From<StoreError> for Ended {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

impl BlobService {
    /// Decides and commits a change. `decide` is asked again when another writer came first.
    pub(super) async fn change<T>(
        &self,
        place: &Place,
        mut decide: impl FnMut(&Seen) -> Result<(Change, T)> + Send,
    ) -> Result<T> {
        let mut attempts = Attempts::default();
        loop {
            self.timestamps.reserve().await?;
            let seen = self.look(place).await?;
            let (change, outcome) = decide(&seen)?;
            if self.commit_change(place, &seen, change).await? {
                return Ok(outcome);
            }
            attempts.again(&self.rng).await?;
        }
    }

    /// Reads what a change can depend on.
    pub(super) async fn look(&self, place: &Place) -> Result<Seen> {
        let base = self.store.get(&place.partition, keys::BASE_KEY).await?;
        let header = self.store.get(&place.partition, keys::BLOCKS_KEY).await?;
        let blob = base.as_ref().map(Blob::decode).transpose()?;
        let blocks = match header {
            None => vec![],
            Some(_) => UncommittedBlock::read_all(&self.store, &place.partition).await?,
        };
        Ok(Seen { base, header, blob, blocks })
    }

    /// Commits a change if everything is still as it was seen; says whether it was.
    pub(super) async fn commit_change(&self, place: &Place, seen: &Seen, change: Change) -> Result<bool> {
        let Change { blob, puts, deletes, leaves, drops_blocks } = change;
        let note = self.note_leaving(place, leaves).await?;
        let record = blob.as_ref().map(Blob::encode);
        let (base_key, header_key) = (Bytes::from_static(keys::BASE_KEY), Bytes::from_static(keys::BLOCKS_KEY));
        let decide = |tx: &mut Transaction| {
            if tx.get(&base_key) != seen.base.as_ref() || tx.get(&header_key) != seen.header.as_ref() {
                return Err(Ended::Moved);
            }
            match &record {
                Some(record) => tx.put(base_key.clone(), record.clone()),
                None => tx.delete(base_key.clone()),
            }
            if drops_blocks && seen.header.is_some() {
                tx.delete(header_key.clone());
                seen.blocks.iter().for_each(|block| tx.delete(keys::block_key(block.id.as_bytes())));
            }
            puts.iter().for_each(|(key, value)| tx.put(key.clone(), value.clone()));
            deletes.iter().for_each(|key| tx.delete(key.clone()));
            Ok(())
        };
        let keys = vec![base_key.clone(), header_key.clone()];
        let committed = self.store.transact(&place.partition, keys, decide).await;
        // Whether or not it came to that, the note finds out what is still needed.
        if let (Some(note), Ok(()) | Err(Ended::Moved)) = (note, &committed) {
            note.over();
        }
        match committed {
            Ok(()) => Ok(true),
            Err(Ended::Moved) => Ok(false),
            Err(Ended::Failed(error)) => Err(error.into()),
        }
    }

    async fn note_leaving(&self, place: &Place, holdings: Vec<Holding>) -> Result<Option<OpenNote>> {
        if holdings.is_empty() {
            return Ok(None);
        }
        let id = self.content_ids.next().await?;
        Ok(Some(self.note(place, id, holdings, Direction::Leaving).await?))
    }

    /// Notes that a blob has, or is about to have, something that may have to go.
    pub(super) async fn note(
        &self,
        place: &Place,
        id: u64,
        holdings: Vec<Holding>,
        direction: Direction,
    ) -> Result<OpenNote, Error> {
        let note = Note { container_id: place.container_id, name: place.name.clone(), holdings };
        Ok(self.tidying.open(id, note, direction).await?)
    }
}
