//! Resolving an intent: everything in it that the blob does not refer to goes.

use std::collections::BTreeSet;

use tablerock_kv::{Bytes, Position, Result};

use super::intent::{IntentRecord, Reclaimable};
use super::{Reclaimer, keys};
use crate::blob::address::BlobLocation;
use crate::blob::blocks::UncommittedBlock;
use crate::blob::pieces::{self, Piece};
use crate::blob::stored_blob::{Blob, Body};
use crate::blob::tag_index;

/// The references of a blob and its snapshots.
#[derive(Debug, Default)]
struct References {
    contents: BTreeSet<u64>,
    layouts: BTreeSet<u64>,
    /// The number of the blob's tags in the index. Tags of snapshots are not there.
    tag_number: u64,
}

impl Reclaimer {
    pub(super) async fn resolve(&self, intent: &IntentRecord) -> Result<()> {
        let partition = keys::blob_partition(intent.container_id, &intent.name);
        let live = self.references(&partition).await?;
        let mut contents = BTreeSet::new();
        let mut layouts = Vec::new();
        let mut layers = Vec::new();
        for reclaimable in &intent.reclaimables {
            match reclaimable {
                Reclaimable::Content { id, length } if !live.contents.contains(id) => {
                    contents.insert((*id, *length));
                }
                Reclaimable::Layout { id } if !live.layouts.contains(id) => {
                    let pieces = pieces::read_all(&self.store, &partition, *id, u64::MAX).await?;
                    contents.extend(pieces.iter().filter_map(|piece| Some((piece.content()?, piece.stored_length()))));
                    layouts.push(*id);
                }
                Reclaimable::Tags { number, tags } if live.tag_number != *number => {
                    tag_index::delete_entries(&self.store, intent.container_id, &intent.name, *number, tags).await?;
                }
                Reclaimable::Pages { layer } => layers.push(*layer),
                _ => {}
            }
        }
        if !contents.is_empty() {
            self.keep_referenced(&partition, &live, &mut contents).await?;
        }
        self.delete_contents(intent.container_id, &contents).await?;
        // Last, because they list the contents to delete.
        for layout in layouts {
            self.delete_layout(&partition, layout).await?;
        }
        if !layers.is_empty() {
            self.reclaim_pages(&BlobLocation::new(intent.container_id, &intent.name), &layers).await?;
        }
        Ok(())
    }

    /// Returns what the records of the blob and its snapshots refer to.
    async fn references(&self, partition: &Bytes) -> Result<References> {
        let mut live = References::default();
        let mut range = keys::snapshots(partition);
        range.end = Some(Position::new(partition.clone(), keys::BASE_KEY).successor());
        let mut records = self.store.records(range);
        while let Some(record) = records.next().await? {
            let blob = Blob::decode(&record.value)?;
            live.tag_number = live.tag_number.max(blob.tag_number);
            match blob.body {
                Body::Inline(_) | Body::Pages(_) => {}
                Body::Whole { content } => drop(live.contents.insert(content)),
                Body::Pieces { layout, .. } => drop(live.layouts.insert(layout)),
            }
        }
        Ok(live)
    }

    /// Takes out the contents that lists of pieces or uncommitted blocks refer to.
    async fn keep_referenced(
        &self,
        partition: &Bytes,
        live: &References,
        contents: &mut BTreeSet<(u64, u64)>,
    ) -> Result<()> {
        let mut referenced = BTreeSet::new();
        for layout in &live.layouts {
            let pieces = pieces::read_all(&self.store, partition, *layout, u64::MAX).await?;
            referenced.extend(pieces.iter().filter_map(Piece::content));
        }
        let blocks = UncommittedBlock::read_all(&self.store, partition).await?;
        referenced.extend(blocks.iter().map(|block| block.content));
        contents.retain(|(id, _)| !referenced.contains(id));
        Ok(())
    }
}
