//! Resolving an intent: everything in it that the blob does not refer to goes.
//!
//! Other requests change the blob meanwhile. What they keep moves one way: from uncommitted blocks to the blob, from there to
//! its snapshots, and from one list of pieces to the next. References are read in this order, so that nothing is missed. A
//! list that was found in a record and is not whole any more has been replaced and cleaned up; then all is read again.

use std::collections::{BTreeMap, BTreeSet};

use tablerock_kv::{Bytes, Error, Result};

use super::intent::{IntentRecord, Reclaimable};
use super::{Reclaimer, keys};
use crate::blob::address::BlobLocation;
use crate::blob::attempts::pause_before;
use crate::blob::blocks::UncommittedBlock;
use crate::blob::pieces::{self, Piece};
use crate::blob::stored_blob::{Blob, Body};
use crate::blob::tag_index;

/// How often the blob may be replaced while its references are read.
const ATTEMPTS_MAX: u32 = 16;

/// The references of a blob, its snapshots and its uncommitted blocks.
#[derive(Debug, Default)]
struct References {
    contents: BTreeSet<u64>,
    /// Lists of pieces, each with the records that it has at least.
    layouts: BTreeMap<u64, u64>,
    /// The number of the blob's tags in the index. Tags of snapshots are not there.
    tag_number: u64,
}

impl References {
    fn add(&mut self, record: &Bytes) -> Result<()> {
        let blob = Blob::decode(record)?;
        self.tag_number = self.tag_number.max(blob.tag_number);
        match blob.body {
            Body::Inline(_) | Body::Pages(_) => {}
            Body::Whole { content } => drop(self.contents.insert(content)),
            Body::Pieces { layout, records } => {
                let known = self.layouts.entry(layout).or_default();
                *known = records.max(*known);
            }
        }
        Ok(())
    }
}

/// The contents, with their lengths, and the lists of pieces that nothing refers to.
#[derive(Debug, Default)]
struct Unreferenced {
    contents: BTreeSet<(u64, u64)>,
    layouts: Vec<u64>,
}

impl Reclaimer {
    pub(super) async fn resolve(&self, intent: &IntentRecord) -> Result<()> {
        let partition = keys::blob_partition(intent.container_id, &intent.name);
        let mut attempts = 0;
        let unreferenced = loop {
            if let Some(unreferenced) = self.unreferenced(intent, &partition).await? {
                break unreferenced;
            }
            attempts += 1;
            if attempts == ATTEMPTS_MAX {
                return Err(Error::unavailable("a blob is replaced too often to find what it refers to"));
            }
            pause_before(attempts).await;
        };
        self.delete_contents(intent.container_id, &unreferenced.contents).await?;
        // Last, because they list the contents to delete.
        for layout in unreferenced.layouts {
            self.delete_layout(&partition, layout).await?;
        }
        let layer = |reclaimable: &Reclaimable| match reclaimable {
            Reclaimable::Pages { layer } => Some(*layer),
            _ => None,
        };
        let layers: Vec<u64> = intent.reclaimables.iter().filter_map(layer).collect();
        if !layers.is_empty() {
            self.reclaim_pages(&BlobLocation::new(intent.container_id, &intent.name), &layers).await?;
        }
        Ok(())
    }

    /// Finds what is to go, and deletes entries of tags; `None` if the blob was replaced meanwhile.
    async fn unreferenced(&self, intent: &IntentRecord, partition: &Bytes) -> Result<Option<Unreferenced>> {
        let live = self.references(partition).await?;
        let mut found = Unreferenced::default();
        for reclaimable in &intent.reclaimables {
            match reclaimable {
                Reclaimable::Content { id, length } if !live.contents.contains(id) => {
                    found.contents.insert((*id, *length));
                }
                Reclaimable::Layout { id } if !live.layouts.contains_key(id) => {
                    let pieces = pieces::read_left(&self.store, partition, *id).await?;
                    let contents = pieces.iter().filter_map(|piece| Some((piece.content()?, piece.stored_length())));
                    found.contents.extend(contents.filter(|(id, _)| !live.contents.contains(id)));
                    found.layouts.push(*id);
                }
                Reclaimable::Tags { number, tags } if live.tag_number != *number => {
                    tag_index::delete_entries(&self.store, intent.container_id, &intent.name, *number, tags).await?;
                }
                _ => {}
            }
        }
        if found.contents.is_empty() {
            return Ok(Some(found));
        }
        for (layout, records) in &live.layouts {
            let Some(pieces) = pieces::read_all(&self.store, partition, *layout, *records).await? else {
                return Ok(None);
            };
            let referenced: BTreeSet<u64> = pieces.iter().filter_map(Piece::content).collect();
            found.contents.retain(|(id, _)| !referenced.contains(id));
        }
        Ok(Some(found))
    }

    /// Returns what the uncommitted blocks and the records of the blob and its snapshots refer to.
    async fn references(&self, partition: &Bytes) -> Result<References> {
        let mut live = References::default();
        let blocks = UncommittedBlock::read_all(&self.store, partition).await?;
        live.contents.extend(blocks.iter().map(|block| block.content));
        if let Some(base) = self.store.get(partition, keys::BASE_KEY).await? {
            live.add(&base)?;
        }
        let mut snapshots = self.store.records(keys::snapshots(partition));
        while let Some(record) = snapshots.next().await? {
            live.add(&record.value)?;
        }
        Ok(live)
    }
}
