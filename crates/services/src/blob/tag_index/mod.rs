//! The index of blobs by their tags.
//!
//! A blob is a partition of its own, and a commit covers one partition. So the index is elsewhere, one partition for each
//! container, and cannot change in the same commit as the blob. It is treated as content is: its entries are written before
//! the record of the blob that refers to them, and deleted after the last one that did. A reclaim intent names them in
//! between, so an interruption neither loses an entry that is needed nor leaves one behind.
//!
//! All entries of a blob's tags have one number, which the blob's record has too. No two writes use the same number, so a
//! write never deletes the entries of another one. An entry is only a hint: a search reads the record of each blob that it
//! is led to, and decides by the tags there.
//!
//! | file | owns |
//! | --- | --- |
//! | `mod.rs` | writing and deleting entries |
//! | `find.rs` | searches |
//! | `build.rs` | entries for blobs of versions that had no index |

mod build;
mod find;

use tablerock_kv::{Bytes, Store};
use tablerock_protocol::blob::Tags;

use super::address::BlobLocation;
use super::reclaim::{Direction, ReclaimIntent, Reclaimable};
use super::stored_blob::Blob;
use super::{BlobService, keys};
use crate::Result;

pub(crate) use build::restart_build;
pub use find::{FoundBlob, FoundPage, TagSearch};

/// Returns whether a blob has tags that are not in the index.
pub(super) fn is_missing(blob: &Blob) -> bool {
    blob.tag_number == 0 && !blob.tags.is_empty()
}

/// Returns the entries that a change makes obsolete.
pub(super) fn left(old: Option<&Blob>, new: Option<&Blob>) -> Option<Reclaimable> {
    let kept = new.map_or(0, |blob| blob.tag_number);
    old.filter(|blob| blob.tag_number != kept).and_then(Reclaimable::tags_of)
}

impl BlobService {
    /// Writes entries for the tags of a blob that is about to be committed, and gives the blob their number. The intent
    /// protects the commit.
    pub(super) async fn index_tags(&self, location: &BlobLocation, blob: &mut Blob) -> Result<ReclaimIntent> {
        let number = self.content_ids.next().await?;
        let entries = Reclaimable::Tags { number, tags: blob.tags.clone() };
        let intent = self.intend_reclaim(location, number, vec![entries], Direction::Indexing).await?;
        let keys = entry_keys(&location.name, number, &blob.tags);
        let partition = keys::tags_partition(location.container_id);
        self.store.write(&partition, |tx| keys.iter().for_each(|key| tx.put(key.clone(), Bytes::new()))).await?;
        blob.tag_number = number;
        Ok(intent)
    }
}

/// Deletes the entries of tags that no blob refers to.
pub(super) async fn delete_entries(
    store: &Store,
    container_id: u64,
    blob: &str,
    number: u64,
    tags: &Tags,
) -> tablerock_kv::Result<()> {
    let keys = entry_keys(blob, number, tags);
    let partition = keys::tags_partition(container_id);
    store.write(&partition, |tx| keys.iter().for_each(|key| tx.delete(key.clone()))).await
}

fn entry_keys(blob: &str, number: u64, tags: &Tags) -> Vec<Bytes> {
    tags.pairs().iter().map(|(key, value)| keys::tag_key(key, value, blob, number)).collect()
}
