//! The ceilings of one store, for another that replaces it.

use tablerock_kv::{Bytes, Error, Result, Store, Transaction};

use super::lanes::{self, Record};
use crate::keys;
use crate::sharing::Sharing;

/// Returns a time that no timestamp of any server on a store has reached.
pub(crate) async fn ceiling_of(store: &Store, key: &'static [u8]) -> Result<u64> {
    let partition = keys::system_partition();
    let mut highest = store.get(&partition, key).await?.map_or(Ok(0), |bytes| super::decode(&bytes))?;
    for lane in lanes::keys_of(key) {
        highest = highest.max(lanes::decode(store.get(&partition, &lane).await?.as_ref())?.ceiling);
    }
    Ok(highest)
}

/// Raises the ceilings of a store: only servers that run and have reserved timestamps still use any below this. A raised
/// lane has no owner, so the server that had it takes another.
pub(crate) async fn raise_ceiling(store: &Store, key: &'static [u8], ceiling: u64) -> Result<()> {
    let Some(lanes) = Sharing::of(store).coordination(|| lanes::keys_of(key)) else {
        let key = Bytes::from_static(key);
        let raise = |tx: &mut Transaction| {
            if tx.get(&key).map_or(Ok(0), |bytes| super::decode(bytes))? < ceiling {
                tx.put(key.clone(), ceiling.to_be_bytes().to_vec());
            }
            Ok::<_, Error>(())
        };
        return store.transact(&keys::system_partition(), vec![key.clone()], raise).await;
    };
    let raise = |tx: &mut Transaction| {
        for lane in &lanes {
            if lanes::decode(tx.get(lane))?.ceiling < ceiling {
                tx.put(lane.clone(), lanes::encode(Record { ceiling, owner: 0 }));
            }
        }
        Ok::<_, Error>(())
    };
    store.transact(&keys::system_partition(), lanes.clone(), raise).await
}
