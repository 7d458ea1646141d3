//! Ids that are never used twice: of tables, queues, containers, messages and contents, which are stored under them.

use std::ops::Range;

use tablerock_kv::{Bytes, Error, Result, Store, Transaction};
use tokio::sync::Mutex;

use crate::fields::decode_number;
use crate::keys;

/// One sequence of ids, taken from the store block by block. A restart skips the rest of a block.
#[derive(Debug)]
pub(crate) struct Ids {
    store: Store,
    /// The key of the record with the start of the next block.
    key: &'static [u8],
    block_size: u64,
    block: Mutex<Range<u64>>,
}

impl Ids {
    pub(crate) fn new(store: Store, key: &'static [u8], block_size: u64) -> Self {
        Self { store, key, block_size, block: Mutex::new(0..0) }
    }

    /// Returns an id greater than all that this process has taken before.
    pub(crate) async fn next(&self) -> Result<u64> {
        let mut block = self.block.lock().await;
        if block.is_empty() {
            *block = self.reserve().await?;
        }
        Ok(block.next().expect("a block has just been reserved"))
    }

    async fn reserve(&self) -> Result<Range<u64>> {
        let key = Bytes::from_static(self.key);
        let decide = |tx: &mut Transaction| {
            let first = match tx.get(&key) {
                None => 1,
                Some(bytes) => decode_number(bytes, "the next id")?,
            };
            let end = first.checked_add(self.block_size);
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
        let put = |tx: &mut Transaction| {
            tx.put(Bytes::from_static(crate::table::keys::NEXT_TABLE_ID), u64::MAX.to_be_bytes().to_vec());
            Ok::<_, Error>(())
        };
        store.transact(&keys::system_partition(), vec![], put).await.unwrap();
        let ids = Ids::new(store, crate::table::keys::NEXT_TABLE_ID, 32);
        assert_eq!(ids.next().await.unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[tokio::test]
    async fn two_processes_never_get_the_same_id() {
        let store = Store::in_memory();
        let [one, other] = [0, 1].map(|_| Ids::new(store.clone(), crate::table::keys::NEXT_TABLE_ID, 4));
        let mut given = vec![];
        for _ in 0..10 {
            given.push(one.next().await.unwrap());
            given.push(other.next().await.unwrap());
        }
        given.sort_unstable();
        given.dedup();
        assert_eq!(given.len(), 20);
    }
}
