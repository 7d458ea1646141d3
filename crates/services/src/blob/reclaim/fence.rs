//! Fencing a blob off from writes that were decided before and have not arrived, and waiting for those that have.

use tablerock_kv::{Bytes, Result, Store, Transaction};

use super::keys;
use crate::blob::address::BlobLocation;
use crate::blob::blocks::{BlocksHeader, watch_blocks};

/// Rejects every write that was decided before this and would refer to new content: all of them expect the header of the
/// blob's blocks to be unchanged. A transaction that holds the header at this moment is waited for. The header of a blob
/// without blocks goes with the next write of the blob, or as old blocks do.
pub(super) async fn fence(store: &Store, now: u64, location: &BlobLocation) -> Result<()> {
    watch_blocks(store, now, location).await?;
    let key = Bytes::from_static(keys::BLOCKS_KEY);
    let decide = |tx: &mut Transaction| {
        let header = match tx.get(&key).map(BlocksHeader::decode).transpose()? {
            Some(header) => BlocksHeader { newest: now.max(header.newest + 1), ..header },
            None => BlocksHeader { count: 0, id_length: 0, newest: now, lease: None, key_digest: None },
        };
        tx.put(key.clone(), header.encode());
        Ok(())
    };
    store.transact(&location.partition, vec![key.clone()], decide).await
}

/// Waits until every write of the blob that the engine has accepted is durable. All of them change the record of the blob or
/// the header of its blocks, and a commit that expects such a value returns after the value is durable.
pub(super) async fn settle(store: &Store, location: &BlobLocation) -> Result<()> {
    let keys = vec![Bytes::from_static(keys::BASE_KEY), Bytes::from_static(keys::BLOCKS_KEY)];
    store.transact(&location.partition, keys, |_: &mut Transaction| Ok(())).await
}
