//! Deleting contents and layouts that nothing refers to.

use std::collections::BTreeSet;

use tablerock_kv::{Bytes, Position, Range, Result};

use super::{Reclaimer, keys};
use crate::blob::address::ContentAddress;
use crate::blob::content::CHUNK_BYTES;

/// Contents of up to so many chunks are deleted record by record. Above, the engine drops the range, which costs more
/// at first and nothing for each record.
const DELETED_CHUNKS_MAX: u64 = 2;

impl Reclaimer {
    /// Deletes contents, given with their lengths. Those with adjacent ids go together: nothing lies between them.
    pub(super) async fn delete_contents(&self, container_id: u64, contents: &BTreeSet<(u64, u64)>) -> Result<()> {
        let mut contents = contents.iter().copied().peekable();
        while let Some((first, length)) = contents.next() {
            let mut last = first;
            while let Some((id, _)) = contents.next_if(|(id, _)| *id == last + 1) {
                last = id;
            }
            if self.delete_files(container_id, first, last).await? {
                continue;
            }
            let partition = |content| ContentAddress { container_id, content }.partition();
            let chunks = length.div_ceil(CHUNK_BYTES as u64);
            if first == last && chunks <= DELETED_CHUNKS_MAX {
                let delete = |tx: &mut tablerock_kv::Transaction| {
                    (0..chunks).for_each(|index| tx.delete(keys::chunk_key(index)));
                };
                self.store.write(&partition(first), delete).await?;
            } else {
                let range = Range::between(Position::start_of(partition(first)), Position::end_of(&partition(last)));
                self.store.drop_range(range).await?;
            }
        }
        Ok(())
    }

    /// Deletes contents that are files; `false` if not all of them are.
    async fn delete_files(&self, container_id: u64, first: u64, last: u64) -> Result<bool> {
        let Some(contents) = self.store.contents() else { return Ok(false) };
        Ok(contents.remove(container_id, first..=last).await? == last - first + 1)
    }

    pub(super) async fn delete_layout(&self, partition: &Bytes, layout: u64) -> Result<()> {
        let mut pages = self.store.records(keys::pieces_from(partition, layout, 0));
        while let Some(records) = pages.next_page().await? {
            self.store.write(partition, |tx| records.iter().for_each(|record| tx.delete(record.key.clone()))).await?;
        }
        Ok(())
    }
}
