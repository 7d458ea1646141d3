//! Ids of tables, containers and contents. They are stored under their ids, never under a name, so dropping and creating
//! them again are both instant; an id is never used twice.

use std::ops::Range;

use tablerock_kv::{Bytes, Error, Result, Store};
use tokio::sync::Mutex;

use crate::keys;

/// A counter in the store. Ids are taken from it many at a time: a restart loses the rest, which does no harm.
#[derive(Debug)]
pub(crate) struct Ids {
    store: Store,
    key: &'static [u8],
    taken_at_once: u64,
    block: Mutex<Range<u64>>,
}

impl Ids {
    pub(crate) fn new(store: Store, key: &'static [u8], taken_at_once: u64) -> Self {
        Self { store, key, taken_at_once, block: Mutex::new(0..0) }
    }

    pub(crate) async fn next(&self) -> Result<u64> {
        let mut block = self.block.lock().await;
        if block.is_empty() {
            *block = self.reserve().await?;
        }
        Ok(block.next().expect("a block has just been reserved"))
    }

    async fn reserve(&self) -> Result<Range<u64>> {
        let key = Bytes::from_static(self.key);
        let decide = |tx: &mut tablerock_kv::Transaction| {
            let first = match tx.get(&key) {
                None => 1,
                Some(bytes) => u64::from_be_bytes(
                    bytes[..].try_into().map_err(|_| Error::corrupt("the next id is not eight bytes"))?,
                ),
            };
            let end = first.checked_add(self.taken_at_once);
            let end = end.ok_or_else(|| Error::corrupt("the next id is after the last one"))?;
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
        assert_eq!(Ids::new(store, keys::NEXT_TABLE_ID, 1).next().await.unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
