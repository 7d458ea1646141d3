//! Entries for blobs that have tags and no entries: those of a version without an index, and those of a copy.
//!
//! The first search builds the index, as far as it may take, and the next ones go on. A record notes how far they are. It
//! changes only from what a search has read, so that a restart between is noticed.

use std::time::Instant;

use tablerock_kv::{Bytes, Position, Result as StoreResult, ScanLimits, Store, Transaction};

use crate::blob::address::BlobLocation;
use crate::blob::change::BlobChange;
use crate::blob::keys::BlobKey;
use crate::blob::stored_blob::Blob;
use crate::blob::{BlobService, keys, tag_index};
use crate::fields::{FieldReader, FieldWriter};
use crate::keys::system_partition;
use crate::{Error, Result};

const FORMAT: u8 = 1;

/// How far the index is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct BuildState {
    /// How often it was begun again.
    restarts: u64,
    is_complete: bool,
    /// The first record that was not examined.
    partition: Bytes,
    key: Bytes,
}

impl BuildState {
    fn encode(&self) -> Bytes {
        let mut out = FieldWriter::new(FORMAT);
        out.number(self.restarts);
        out.byte(u8::from(self.is_complete));
        out.bytes(&self.partition);
        out.bytes(&self.key);
        out.finish()
    }

    fn decode(record: &Bytes) -> StoreResult<Self> {
        let mut fields = FieldReader::new(record, FORMAT, "the state of the tag index")?;
        let (restarts, is_complete) = (fields.number()?, fields.byte()? == 1);
        let (partition, key) = (fields.bytes()?, fields.bytes()?);
        fields.finish()?;
        Ok(Self { restarts, is_complete, partition, key })
    }
}

/// Has the next search build the index again, after blobs without entries came to a store.
pub(crate) async fn restart_build(store: &Store) -> StoreResult<()> {
    let key = Bytes::from_static(keys::TAG_INDEX_STATE);
    let decide = |tx: &mut Transaction| {
        let restarts = tx.get(&key).map(BuildState::decode).transpose()?.map_or(0, |state| state.restarts);
        tx.put(key.clone(), BuildState { restarts: restarts + 1, ..BuildState::default() }.encode());
        Ok(())
    };
    store.transact(&system_partition(), vec![key.clone()], decide).await
}

impl BlobService {
    /// Returns whether every tagged blob has its entries. Builds the index up to a time if it is not complete.
    pub(super) async fn is_index_complete(&self, deadline: Instant) -> Result<bool> {
        loop {
            let stored = self.store.get(&system_partition(), keys::TAG_INDEX_STATE).await?;
            let state = stored.as_ref().map(BuildState::decode).transpose()?.unwrap_or_default();
            if state.is_complete {
                return Ok(true);
            }
            let next = self.build_page(&state, deadline).await?;
            let is_complete = next.is_complete;
            if self.save_build(stored, &next).await? && is_complete {
                return Ok(true);
            }
            if self.clock.instant() >= deadline {
                return Ok(false);
            }
        }
    }

    /// Examines the next records, and returns the state after that.
    async fn build_page(&self, state: &BuildState, deadline: Instant) -> Result<BuildState> {
        let mut range = keys::all_blobs();
        range.start = range.start.max(Position::new(state.partition.clone(), state.key.clone()));
        let limits = ScanLimits { deadline: Some(deadline), ..ScanLimits::PAGE };
        let page = self.store.scan(&range, limits).await?;
        for record in &page.records {
            if keys::blob_key_of(&record.key)? == BlobKey::Base && tag_index::is_missing(&Blob::decode(&record.value)?)
            {
                let name = keys::blob_name_of(&record.partition)?;
                self.index_old_blob(&BlobLocation::new(keys::container_id_of(&record.partition)?, &name)).await?;
            }
        }
        Ok(match page.next {
            Some(next) => BuildState { partition: next.partition, key: next.key, ..state.clone() },
            None => BuildState { is_complete: true, partition: Bytes::new(), key: Bytes::new(), ..state.clone() },
        })
    }

    /// Commits a blob as it is, with entries for its tags.
    async fn index_old_blob(&self, location: &BlobLocation) -> Result<()> {
        let outcome = self
            .change(location, |seen| {
                let blob = seen.blob.clone().ok_or(tablerock_protocol::ErrorCode::BlobNotFound)?;
                Ok((BlobChange::beside_blocks(Some(blob)), ()))
            })
            .await;
        match outcome {
            // It was deleted meanwhile.
            Err(Error::Refused(_)) => Ok(()),
            outcome => outcome,
        }
    }

    /// Stores a state; `false` if another search or a restart came first.
    async fn save_build(&self, expected: Option<Bytes>, state: &BuildState) -> Result<bool> {
        let key = Bytes::from_static(keys::TAG_INDEX_STATE);
        let decide = |tx: &mut Transaction| -> StoreResult<bool> {
            if tx.get(&key) != expected.as_ref() {
                return Ok(false);
            }
            tx.put(key.clone(), state.encode());
            Ok(true)
        };
        Ok(self.store.transact(&system_partition(), vec![key.clone()], decide).await?)
    }
}
