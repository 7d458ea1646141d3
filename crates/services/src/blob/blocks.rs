//! Uncommitted blocks: put one by one, and gone when a list takes them, when the blob is written otherwise, or after a
//! week.

use std::time::Duration;

use tablerock_kv::{Bytes, Error as StoreError, Result as Stored, ScanLimits, Store, TICKS_PER_SECOND, Transaction};
use tablerock_protocol::ErrorCode;
use tablerock_protocol::blob::{BlockId, LeaseId};

use super::address::{BlobAddress, Place};
use super::change::{Attempts, Change, Seen};
use super::content::{Received, ReceivedBody};
use super::fields::{FieldReader, FieldWriter};
use super::lease::{self, Leased};
use super::record::{Blob, BlobKind};
use super::tidying::{Direction, Holding, OpenNote};
use super::{BlobService, keys};
use crate::{Error, Result};

const FORMAT: u8 = 1;

/// Uncommitted blocks of one blob.
const UNCOMMITTED_BLOCKS_MAX: u64 = 100_000;

/// How long blocks wait for a list.
const BLOCKS_TIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const BLOCKS_TICKS: u64 = BLOCKS_TIME.as_secs() * TICKS_PER_SECOND;

/// How often old blocks are looked for.
pub(super) const SWEEP_TIME: Duration = Duration::from_secs(10 * 60);

/// Watch notes that are looked at in one round.
const WATCHES_MAX: usize = 1_000;

const SCAN: ScanLimits = ScanLimits { records_max: 1_000, bytes_max: 4 << 20, deadline: None };

/// A block that was put and that no list has taken yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UncommittedBlock {
    pub(super) id: BlockId,
    pub(super) content: u64,
    pub(super) length: u64,
}

impl UncommittedBlock {
    pub(super) fn encode(&self) -> Bytes {
        let mut out = FieldWriter::new(FORMAT);
        out.number(self.content);
        out.number(self.length);
        out.finish()
    }

    pub(super) fn decode(key: &[u8], record: &Bytes) -> Stored<Self> {
        let mut fields = FieldReader::new(record, FORMAT, "the record of a block")?;
        let (content, length) = (fields.number()?, fields.number()?);
        fields.finish()?;
        Ok(Self { id: BlockId::from_bytes(keys::block_id_of(key)?), content, length })
    }

    pub(super) fn holding(&self) -> Holding {
        Holding::Content { id: self.content, length: self.length }
    }

    /// All durable blocks of a blob, by id.
    pub(super) async fn read_all(store: &Store, partition: &Bytes) -> Stored<Vec<Self>> {
        let mut range = keys::blocks(partition);
        let mut blocks = Vec::new();
        loop {
            let page = store.scan(&range, SCAN).await?;
            for record in &page.records {
                blocks.push(Self::decode(&record.key, &record.value)?);
            }
            let Some(next) = page.next else { return Ok(blocks) };
            range.start = next;
        }
    }
}

/// What the blocks of a blob have in common. It changes with every block, so whoever saw it knows all of them. One without
/// blocks is a [fence](fence), and nobody shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Header {
    count: u64,
    id_length: u64,
    /// When the last one was put; no two are put at the same time.
    newest: u64,
}

impl Header {
    fn encode(&self) -> Bytes {
        let mut out = FieldWriter::new(FORMAT);
        out.number(self.count);
        out.number(self.id_length);
        out.ticks(self.newest);
        out.finish()
    }

    fn decode(record: &Bytes) -> Stored<Self> {
        let mut fields = FieldReader::new(record, FORMAT, "the head of a blob's blocks")?;
        let header = Self { count: fields.number()?, id_length: fields.number()?, newest: fields.ticks()? };
        fields.finish()?;
        Ok(header)
    }
}

/// When the last block of a blob was put, from what its blocks have in common.
pub(super) fn newest_block(record: &Bytes) -> Stored<u64> {
    Ok(Header::decode(record)?.newest)
}

/// Whether a blob has blocks, from what they have in common.
pub(super) fn has_blocks(record: &Bytes) -> Stored<bool> {
    Ok(Header::decode(record)?.count > 0)
}

/// Has every write refused from now on that was decided before and would refer to new content: all of them expect what the
/// blocks have in common to be as it was. Whoever holds what it is about at this moment is waited for. What is left of
/// this goes with the next blob in that place, or as old blocks do.
pub(super) async fn fence(store: &Store, now: u64, place: &Place) -> Stored<()> {
    watch(store, now, place).await?;
    let key = Bytes::from_static(keys::BLOCKS_KEY);
    let decide = |tx: &mut Transaction| {
        let header = match tx.get(&key).map(Header::decode).transpose()? {
            Some(header) => Header { newest: now.max(header.newest + 1), ..header },
            None => Header { count: 0, id_length: 0, newest: now },
        };
        tx.put(key.clone(), header.encode());
        Ok(())
    };
    store.transact(&place.partition, vec![key.clone()], decide).await
}

/// Notes that a blob has blocks, before it has the first.
async fn watch(store: &Store, now: u64, place: &Place) -> Stored<()> {
    let key = keys::watch_note_key(now, place.container_id, &place.name);
    let put = |tx: &mut Transaction| {
        tx.put(key.clone(), Bytes::new());
        Ok(())
    };
    store.transact(&keys::notes_partition(), vec![], put).await
}

/// Why a block was not put at the first try.
enum Refused {
    /// It is the first of its blob, and nobody watches over them yet.
    NoWatch,
    /// It would replace this one, which nobody has noted yet.
    NoNote(UncommittedBlock),
    Error(Error),
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Self::Error(error.into())
    }
}

impl From<ErrorCode> for Refused {
    fn from(code: ErrorCode) -> Self {
        Self::Error(code.into())
    }
}

impl BlobService {
    /// Puts a block, which must have come through [`receive_block`](BlobService::receive_block).
    pub async fn put_block(
        &self,
        at: BlobAddress<'_>,
        lease: Option<LeaseId>,
        id: &BlockId,
        received: Received,
    ) -> Result<()> {
        let place = self.place_to_write(at).await?;
        received.check_place(&place)?;
        let ReceivedBody::Stored { content, mut note } = received.body else {
            return Err(StoreError::internal("a block was received as if it were a small blob").into());
        };
        let block = UncommittedBlock { id: id.clone(), content, length: received.length };
        let mut leaving = None;
        note.sends();
        let put = self.put_received_block(&place, lease, &block, &mut leaving).await;
        if let (Some(leaving), Ok(()) | Err(Error::Refused(_))) = (leaving, &put) {
            leaving.over();
        }
        note.ended(&put);
        put
    }

    /// Puts a block whose content is there. `leaving` becomes the note about a block that it replaces.
    async fn put_received_block(
        &self,
        place: &Place,
        lease: Option<LeaseId>,
        block: &UncommittedBlock,
        leaving: &mut Option<OpenNote>,
    ) -> Result<()> {
        let (mut is_watched, mut noted) = (false, None);
        let mut attempts = Attempts::default();
        loop {
            match self.try_put_block(place, lease, block, is_watched, noted.as_ref()).await {
                Ok(()) => return Ok(()),
                Err(Refused::NoWatch) => {
                    watch(&self.store, self.clock.ticks(), place).await?;
                    is_watched = true;
                }
                Err(Refused::NoNote(replaced)) => {
                    let id = self.content_ids.next().await?;
                    // Settled when this ends, one way or the other.
                    *leaving = Some(self.note(place, id, vec![replaced.holding()], Direction::Leaving).await?);
                    noted = Some(replaced);
                }
                Err(Refused::Error(error)) => return Err(error),
            }
            attempts.again(&self.rng).await?;
        }
    }

    async fn try_put_block(
        &self,
        place: &Place,
        lease: Option<LeaseId>,
        block: &UncommittedBlock,
        is_watched: bool,
        noted: Option<&UncommittedBlock>,
    ) -> Result<(), Refused> {
        self.timestamps.reserve().await?;
        let (base_key, header_key) = (Bytes::from_static(keys::BASE_KEY), Bytes::from_static(keys::BLOCKS_KEY));
        let block_key = keys::block_key(block.id.as_bytes());
        let decide = |tx: &mut Transaction| {
            if let Some(record) = tx.get(&base_key) {
                self.check_takes_blocks(&Blob::decode(record)?, lease).map_err(Refused::Error)?;
            }
            let replaced = tx.get(&block_key).map(|record| UncommittedBlock::decode(&block_key, record)).transpose()?;
            let newest = self.timestamps.next()?.ticks();
            let id_length = block.id.as_bytes().len() as u64;
            let header = match tx.get(&header_key).map(Header::decode).transpose()? {
                None if !is_watched => return Err(Refused::NoWatch),
                None => Header { count: 1, id_length, newest },
                Some(header) if header.count == 0 => Header { count: 1, id_length, newest },
                Some(header) if header.id_length != id_length => return Err(ErrorCode::InvalidBlobOrBlock.into()),
                Some(header) => Header { count: header.count + u64::from(replaced.is_none()), newest, ..header },
            };
            if header.count > UNCOMMITTED_BLOCKS_MAX {
                return Err(ErrorCode::BlockCountExceedsLimit.into());
            }
            match replaced {
                Some(replaced) if noted != Some(&replaced) => return Err(Refused::NoNote(replaced)),
                _ => {}
            }
            tx.put(header_key.clone(), header.encode());
            tx.put(block_key.clone(), block.encode());
            Ok(())
        };
        let keys = vec![base_key.clone(), header_key.clone(), block_key.clone()];
        self.store.transact(&place.partition, keys, decide).await
    }

    fn check_takes_blocks(&self, blob: &Blob, lease: Option<LeaseId>) -> Result<()> {
        if blob.kind != BlobKind::Block {
            return Err(ErrorCode::InvalidBlobType.into());
        }
        Ok(lease::check_write(blob.lease.as_ref(), lease, self.clock.ticks(), Leased::Blob)?)
    }

    /// Looks for what blobs left behind, as long as the server runs: blocks that have waited too long, and deletions of
    /// these accounts that were cut short.
    pub async fn keep_sweeping(&self, accounts: &[String]) {
        loop {
            if let Err(error) = self.sweep_if_ours(accounts).await {
                tracing::warn!(%error, "what blobs left behind could not be cleared away yet");
            }
            tokio::time::sleep(SWEEP_TIME).await;
        }
    }

    /// One round, if no other server on the store does it.
    pub async fn sweep_if_ours(&self, accounts: &[String]) -> Result<()> {
        if self.sweep_duty.is_ours().await? {
            for account in accounts {
                self.finish_drops(account).await?;
            }
            self.drop_old_blocks().await?;
            self.tidying.settle_old(&self.sweep_duty).await?;
        }
        Ok(())
    }

    /// Drops blocks that have waited too long for a list.
    pub async fn drop_old_blocks(&self) -> Result<()> {
        let now = self.clock.ticks();
        let limits = ScanLimits { records_max: WATCHES_MAX, ..SCAN };
        let page = self.store.scan(&keys::watch_notes(), limits).await?;
        for record in page.records {
            let (since, container_id, name) = keys::blob_of_watch_note(&record.key)?;
            if since + BLOCKS_TICKS > now || !self.sweep_duty.is_still_ours().await? {
                return Ok(());
            }
            let place = Place::new(container_id, &name);
            let header = self.store.get(&place.partition, keys::BLOCKS_KEY).await?;
            match header.as_ref().map(Header::decode).transpose()? {
                Some(header) if header.newest + BLOCKS_TICKS > now => {
                    watch(&self.store, self.clock.ticks(), &place).await?
                }
                Some(_) => self.drop_blocks(&place).await?,
                None => {}
            }
            let forget = |tx: &mut Transaction| {
                tx.delete(record.key.clone());
                Ok::<_, StoreError>(())
            };
            self.store.transact(&keys::notes_partition(), vec![], forget).await?;
        }
        Ok(())
    }

    async fn drop_blocks(&self, place: &Place) -> Result<()> {
        let decide = |seen: &Seen| {
            let leaves = seen.blocks.iter().map(UncommittedBlock::holding).collect();
            Ok((Change { leaves, drops_blocks: true, ..Change::beside_blocks(seen.blob.clone()) }, ()))
        };
        self.change(place, decide).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_blocks_come_back_as_they_were() {
        let block = UncommittedBlock { id: BlockId::from_bytes(b"001"), content: 300, length: 4 << 20 };
        let key = keys::block_key(b"001");
        assert_eq!(UncommittedBlock::decode(&key, &block.encode()).unwrap(), block);
        let header = Header { count: 3, id_length: 8, newest: 638_000_000_000_000_000 };
        assert_eq!(Header::decode(&header.encode()).unwrap(), header);
    }
}
