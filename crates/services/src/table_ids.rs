//! Ids of tables. A table is stored under its id, never under its name, so dropping and creating it again are
//! both instant; an id is never used twice.

use std::ops::Range;

use tablerock_kv::{Bytes, Error, Result, Store};
use tokio::sync::Mutex;

use crate::keys;

/// Ids are taken from the store this many at a time: a restart loses the rest, which does no harm.
const BLOCK: u64 = 32;

#[derive(Debug)]
pub(crate) struct TableIds {
    store: Store,
    block: Mutex<Range<u64>>,
}

impl TableIds {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, block: Mutex::new(0..0) }
    }

    pub(crate) async fn next(&self) -> Result<u64> {
        let mut block = self.block.lock().await;
        if block.is_empty() {
            *block = self.reserve().await?;
        }
        Ok(block.next().expect("a block has just been reserved"))
    }

    async fn reserve(&self) -> Result<Range<u64>> {
        let key = Bytes::from_static(keys::NEXT_TABLE_ID);
        let decide = |tx: &mut tablerock_kv::Transaction| {
            let first = match tx.get(&key) {
                None => 1,
                Some(bytes) => u64::from_be_bytes(
                    bytes[..].try_into().map_err(|_| Error::corrupt("the next table id is not eight bytes"))?,
                ),
            };
            tx.put(key.clone(), (first + BLOCK).to_be_bytes().to_vec());
            Ok(first..first + BLOCK)
        };
        self.store.transact(&keys::system_partition(), vec![key.clone()], decide).await
    }
}
