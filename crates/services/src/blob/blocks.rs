//! The records of uncommitted blocks. Blocks go when a list commits them, when the blob is written otherwise, or after a
//! week.

use tablerock_kv::{Bytes, Result, Store};
use tablerock_protocol::blob::{BlockId, KeyDigest};

use super::address::BlobLocation;
use super::encryption::stored_length;
use super::keys;
use super::lease::{self, Lease};
use super::reclaim::Reclaimable;
use crate::fields::{FieldReader, FieldWriter};

const FORMAT: u8 = 1;

/// The format of a block under a customer's key.
const FORMAT_ENCRYPTED: u8 = 2;

/// The format of a header with a lease or a customer's key, which few have.
const FORMAT_WITH_EXTRAS: u8 = 2;

/// A block that was put and that no list has committed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UncommittedBlock {
    pub(super) id: BlockId,
    pub(super) content: u64,
    pub(super) length: u64,
    /// Whether its content is encrypted with a customer's key.
    pub(super) is_encrypted: bool,
}

impl UncommittedBlock {
    pub(super) fn encode(&self) -> Bytes {
        let mut out = FieldWriter::new(if self.is_encrypted { FORMAT_ENCRYPTED } else { FORMAT });
        out.number(self.content);
        out.number(self.length);
        out.finish()
    }

    pub(super) fn decode(key: &[u8], record: &Bytes) -> Result<Self> {
        let is_encrypted = record.first() == Some(&FORMAT_ENCRYPTED);
        let format = if is_encrypted { FORMAT_ENCRYPTED } else { FORMAT };
        let mut fields = FieldReader::new(record, format, "the record of a block")?;
        let (content, length) = (fields.number()?, fields.number()?);
        fields.finish()?;
        Ok(Self { id: BlockId::from_bytes(keys::block_id_of(key)?), content, length, is_encrypted })
    }

    pub(super) fn reclaimable(&self) -> Reclaimable {
        Reclaimable::Content { id: self.content, length: stored_length(self.length, self.is_encrypted) }
    }

    /// Returns all durable blocks of a blob, by id.
    pub(super) async fn read_all(store: &Store, partition: &Bytes) -> Result<Vec<Self>> {
        let mut records = store.records(keys::blocks(partition));
        let mut blocks = Vec::new();
        while let Some(record) = records.next().await? {
            blocks.push(Self::decode(&record.key, &record.value)?);
        }
        Ok(blocks)
    }
}

/// The record that the blocks of a blob have in common. It changes with every block, so a transaction that expects it
/// expects all of them. One without blocks is a fence (see `reclaim/fence.rs`), which no operation shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BlocksHeader {
    pub(super) count: u64,
    pub(super) id_length: u64,
    /// When the last block was put; no two are put at the same time.
    pub(super) newest: u64,
    /// The lease on the name, if there is no blob yet that could have it.
    pub(super) lease: Option<Lease>,
    /// The digest of the customer's key that all of them are encrypted with.
    pub(super) key_digest: Option<KeyDigest>,
}

impl BlocksHeader {
    pub(super) fn encode(&self) -> Bytes {
        let has_extras = self.lease.is_some() || self.key_digest.is_some();
        let mut out = FieldWriter::new(if has_extras { FORMAT_WITH_EXTRAS } else { FORMAT });
        out.number(self.count);
        out.number(self.id_length);
        out.ticks(self.newest);
        if has_extras {
            lease::encode(self.lease.as_ref(), &mut out);
            out.byte(u8::from(self.key_digest.is_some()));
            out.raw(self.key_digest.as_ref().map_or(&[], |digest| &digest.0[..]));
        }
        out.finish()
    }

    pub(super) fn decode(record: &Bytes) -> Result<Self> {
        let has_extras = record.first() == Some(&FORMAT_WITH_EXTRAS);
        let format = if has_extras { FORMAT_WITH_EXTRAS } else { FORMAT };
        let mut fields = FieldReader::new(record, format, "the header of a blob's blocks")?;
        let (count, id_length, newest) = (fields.number()?, fields.number()?, fields.ticks()?);
        let (mut lease, mut key_digest) = (None, None);
        if has_extras {
            lease = lease::decode(&mut fields)?;
            key_digest = if fields.byte()? == 1 { Some(KeyDigest(fields.array()?)) } else { None };
        }
        fields.finish()?;
        Ok(Self { count, id_length, newest, lease, key_digest })
    }
}

/// Stores a watch on the blocks of a blob, before it has the first. A sweep finds them through it.
pub(super) async fn watch_blocks(store: &Store, now: u64, location: &BlobLocation) -> Result<()> {
    let key = keys::block_watch_key(now, location.container_id, &location.name);
    store.write(&keys::intents_partition(), |tx| tx.put(key.clone(), Bytes::new())).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_blocks_come_back_as_they_were() {
        let key = keys::block_key(b"001");
        for is_encrypted in [false, true] {
            let block =
                UncommittedBlock { id: BlockId::from_bytes(b"001"), content: 300, length: 4 << 20, is_encrypted };
            assert_eq!(UncommittedBlock::decode(&key, &block.encode()).unwrap(), block);
        }
        let newest = 638_000_000_000_000_000;
        let duration = tablerock_protocol::blob::LeaseDuration::Infinite;
        let id = tablerock_protocol::blob::LeaseId(tablerock_protocol::Uuid::from_bytes([7; 16]));
        let acquire = tablerock_protocol::blob::LeaseAction::Acquire { duration, proposed: None };
        let mut acquired = None;
        lease::apply(&mut acquired, acquire, newest, id).unwrap();
        for lease in [None, acquired] {
            for key_digest in [None, Some(KeyDigest([7; 32]))] {
                let header = BlocksHeader { count: 3, id_length: 8, newest, lease, key_digest };
                assert_eq!(BlocksHeader::decode(&header.encode()).unwrap(), header);
            }
        }
    }
}
