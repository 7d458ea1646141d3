//! Times that must not come twice: what the old store has handed out, the new one must be beyond.

use tablerock_kv::{Error, Result, Store};

use crate::timestamps::{ceiling_of, raise_ceiling};
use crate::{blob, keys, queue};

/// Raises everything in the new store to where the old one is.
pub(super) async fn raise_all(from: &Store, to: &Store) -> Result<()> {
    for key in [crate::table::keys::TIMESTAMP_CEILING, blob::keys::TIMESTAMP_CEILING] {
        raise_ceiling(to, key, ceiling_of(from, key).await?).await?;
    }
    let key = queue::keys::QUEUE_TIME;
    let Some(old) = from.get(&keys::system_partition(), key).await? else { return Ok(()) };
    let key = tablerock_kv::Bytes::from_static(key);
    let raise = |tx: &mut tablerock_kv::Transaction| {
        // Both are numbers of eight bytes, which sort as they are.
        if tx.get(&key).is_none_or(|new| *new < old) {
            tx.put(key.clone(), old.clone());
        }
        Ok::<_, Error>(())
    };
    to.transact(&keys::system_partition(), vec![key.clone()], raise).await
}
