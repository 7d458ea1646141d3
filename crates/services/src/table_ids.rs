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
            let end =
                first.checked_add(BLOCK).ok_or_else(|| Error::corrupt("the next table id is after the last one"))?;
            tx.put(key.clone(), end.to_be_bytes().to_vec());
            Ok(first..end)
        };
        self.store.transact(&keys::system_partition(), vec![key.clone()], decide).await
    }
}

#[cfg(test)]
mod tests {
    use tablerock_kv::ErrorKind;

    use super::*;

    #[tokio::test]
    async fn a_next_id_after_the_last_one_is_corrupt_and_not_zero() {
        let store = Store::in_memory();
        let put = |tx: &mut tablerock_kv::Transaction| {
            tx.put(Bytes::from_static(keys::NEXT_TABLE_ID), u64::MAX.to_be_bytes().to_vec());
            Ok::<_, Error>(())
        };
        store.transact(&keys::system_partition(), vec![], put).await.unwrap();
        assert_eq!(TableIds::new(store).next().await.unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
