//! Giving up a copy: everything that has arrived is deleted.

use tablerock_kv::{Range, Result, Store};

use super::checkpoint::Checkpoint;
use super::directories;
use super::renumbering::Shift;
use crate::{blob, queue, table};

/// Deletes what an unfinished copy of an account has brought to a store, so that the next one starts over. Returns whether
/// there was such a copy. After an interruption, call it again.
pub async fn forget_copy(to: &Store, account: &str) -> Result<bool> {
    let Some(note) = Checkpoint::read(to, account).await? else { return Ok(false) };
    // Rows first, so that no request reaches what is being deleted.
    directories::withdraw(to, account, &note.renumbering).await?;
    let [tables, queues, _, containers, _] = note.renumbering.shifts();
    drop_ids(to, tables, table::keys::table_range).await?;
    drop_ids(to, queues, queue::keys::messages_range).await?;
    drop_ids(to, containers, blob::keys::container_blobs).await?;
    drop_ids(to, containers, blob::keys::container_contents).await?;
    drop_ids(to, containers, blob::keys::container_tags).await?;
    if let Some(contents) = to.contents() {
        for id in containers.up..containers.up + containers.count {
            contents.remove_group(id).await?;
        }
    }
    forget_watches(to, containers).await?;
    Checkpoint::remove(to, account).await?;
    Ok(true)
}

/// Deletes everything under the reserved ids. No later object gets them, not even that of another copy.
async fn drop_ids(to: &Store, ids: Shift, range_of: impl Fn(u64) -> Range) -> Result<()> {
    if ids.count == 0 {
        return Ok(());
    }
    to.drop_range(Range { start: range_of(ids.up).start, end: range_of(ids.up + ids.count - 1).end }).await
}

/// Watches on uncommitted blocks lie in one partition, by time.
async fn forget_watches(to: &Store, containers: Shift) -> Result<()> {
    let mut pages = to.records(blob::keys::block_watches());
    while let Some(watches) = pages.next_page().await? {
        let mut ours = Vec::new();
        for watch in watches {
            let (_, container_id, _) = blob::keys::blob_of_block_watch(&watch.key)?;
            if containers.has_given(container_id) {
                ours.push(watch.key);
            }
        }
        if !ours.is_empty() {
            to.write(&blob::keys::intents_partition(), |tx| ours.iter().for_each(|key| tx.delete(key.clone()))).await?;
        }
    }
    Ok(())
}
