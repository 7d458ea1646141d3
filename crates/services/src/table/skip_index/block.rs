//! The index of one block of a table, and how it is built from the records of the block.

use std::mem::size_of;
use std::sync::atomic::{AtomicU32, Ordering};

use tablerock_kv::key::key_bytes_to_text;
use tablerock_kv::{Bytes, Page, Position, Range, Record, Result};
use tablerock_protocol::{PARTITION_KEY, ROW_KEY, Value};

use super::hash::PropertyHasher;
use super::required_values::RequiredValues;
use crate::table::StoredEntity;
use crate::table::keys;

/// Entities of one block at most. More make fewer blocks to examine; fewer make less to read where a match may be.
pub(super) const BLOCK_RECORDS: usize = 64;

/// The properties that occur in a block of a table.
#[derive(Debug)]
pub(super) struct IndexBlock {
    /// Where the block ends. Where it starts is its key among the blocks.
    pub(super) end: Position,
    pub(super) records: usize,
    /// The hashes of all properties, keys included, in order and each once.
    hashes: Box<[u32]>,
    /// When it was last used, in seconds.
    used: AtomicU32,
}

impl IndexBlock {
    pub(super) fn may_match(&self, required: &RequiredValues) -> bool {
        required.are_met_by(&self.hashes)
    }

    pub(super) fn use_at(&self, seconds: u32) {
        // Many readers share this, and a cache line without writes stays in all their caches.
        if self.used.load(Ordering::Relaxed) != seconds {
            self.used.store(seconds, Ordering::Relaxed);
        }
    }

    pub(super) fn used(&self) -> u32 {
        self.used.load(Ordering::Relaxed)
    }

    /// Its size in memory, with the position that it is stored under.
    pub(super) fn bytes(&self, start: &Position) -> usize {
        let position = |position: &Position| position.partition.len() + position.key.len();
        size_of::<(Position, Self)>() + position(start) + position(&self.end) + size_of::<u32>() * self.hashes.len()
    }

    /// This block and the one that follows it, as one.
    pub(super) fn followed_by(&self, next: &Self) -> Self {
        let hashes = [&self.hashes[..], &next.hashes[..]].concat();
        Self {
            end: next.end.clone(),
            records: self.records + next.records,
            hashes: in_order(hashes),
            used: AtomicU32::new(self.used().max(next.used())),
        }
    }
}

/// Cuts what a scan of `range` found into blocks, each with its start. A block with an unreadable entity is left out, so
/// that a filter reads it and fails.
pub(super) fn cut(range: &Range, page: &Page, hasher: &PropertyHasher) -> Vec<(Position, IndexBlock)> {
    let Some(page_end) = page.next.as_ref().or(range.end.as_ref()) else { return Vec::new() };
    // Blocks of about the same size: a small one at the end would stay small.
    let count = page.records.len().div_ceil(BLOCK_RECORDS).max(1);
    let border = |index: usize| index * page.records.len() / count;
    let mut start = own(&range.start.partition, &range.start.key);
    let mut blocks = Vec::with_capacity(count);
    for index in 0..count {
        let end = match page.records.get(border(index + 1)) {
            Some(record) => own(&record.partition, &record.key),
            None => own(&page_end.partition, &page_end.key),
        };
        let records = &page.records[border(index)..border(index + 1)];
        if let Ok(hashes) = hashes_of(records, hasher) {
            let block = IndexBlock { end: end.clone(), records: records.len(), hashes, used: AtomicU32::new(0) };
            blocks.push((start, block));
        }
        start = end;
    }
    blocks
}

/// A copy: what a scan found may be a small part of a block, which would stay in memory with it.
fn own(partition: &[u8], key: &[u8]) -> Position {
    Position::new(Bytes::copy_from_slice(partition), Bytes::copy_from_slice(key))
}

fn hashes_of(records: &[Record], hasher: &PropertyHasher) -> Result<Box<[u32]>> {
    let mut hashes = Vec::with_capacity(8 * records.len());
    let mut last_partition = None;
    for record in records {
        if last_partition.replace(&record.partition) != Some(&record.partition) {
            let partition_key = key_bytes_to_text(keys::partition_key_of(&record.partition)?)?;
            hashes.push(hasher.hash(PARTITION_KEY, &Value::String(partition_key)));
        }
        hashes.push(hasher.hash(ROW_KEY, &Value::String(key_bytes_to_text(&record.key)?)));
        let entity = StoredEntity::open(record.value.clone())?;
        entity.read(|properties| properties.for_each(|(name, value)| hashes.push(hasher.hash(name, &value))))?;
    }
    Ok(in_order(hashes))
}

fn in_order(mut hashes: Vec<u32>) -> Box<[u32]> {
    hashes.sort_unstable();
    hashes.dedup();
    hashes.into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use tablerock_protocol::{DateTime, Filter, Property};

    use super::*;
    use crate::table::Properties;

    fn record(row: usize) -> Record {
        let property = Property { name: Cow::Borrowed("n"), value: Value::Int32(row as i32) };
        let value = Properties::encode(&[property]).at(DateTime::from_ticks(1)).into_bytes();
        Record { partition: keys::entity_partition(7, "p"), key: keys::entity_key(&format!("{row:04}")), value }
    }

    fn page(rows: usize) -> (Range, Page) {
        (keys::table_range(7), Page { records: (0..rows).map(record).collect(), next: None })
    }

    #[test]
    fn pieces_cover_the_range_without_gap_and_are_of_one_size() {
        let hasher = PropertyHasher::default();
        for (rows, sizes) in [(0, vec![0]), (1, vec![1]), (64, vec![64]), (65, vec![32, 33]), (200, vec![50; 4])] {
            let (range, page) = page(rows);
            let blocks = cut(&range, &page, &hasher);
            assert_eq!(blocks.iter().map(|(_, block)| block.records).collect::<Vec<_>>(), sizes);
            let mut at = range.start;
            for (start, block) in blocks {
                assert_eq!(start, at);
                at = block.end;
            }
            assert_eq!(Some(at), range.end);
        }
    }

    #[test]
    fn a_piece_knows_keys_and_properties_and_so_does_the_union_of_two() {
        let hasher = PropertyHasher::default();
        let (range, page) = page(100);
        let blocks = cut(&range, &page, &hasher);
        let [(_, first), (_, second)] = &blocks[..] else { panic!("{blocks:?}") };
        let both = first.followed_by(second);
        let asks = |filter: &str| RequiredValues::of(&Filter::parse(filter).unwrap().unwrap(), &hasher);
        for (filter, in_first, in_second) in [
            ("n eq 3", true, false),
            ("n eq 77", false, true),
            ("RowKey eq '0099'", false, true),
            ("PartitionKey eq 'p' and RowKey eq '0000'", true, false),
            ("PartitionKey eq 'q'", false, false),
            ("n eq 3 and n eq 77", false, false),
        ] {
            let required = asks(filter);
            assert_eq!((first.may_match(&required), second.may_match(&required)), (in_first, in_second), "{filter}");
            assert!(both.may_match(&required) || !(in_first || in_second), "{filter}");
        }
        assert_eq!((both.records, &both.end), (100, &second.end));
    }

    #[test]
    fn a_piece_with_an_unreadable_entity_is_left_out() {
        let (range, mut page) = page(130);
        page.records[60].value = page.records[60].value.slice(..12);
        let blocks = cut(&range, &page, &PropertyHasher::default());
        assert_eq!(blocks.len(), 2, "of three");
        assert_ne!(blocks[0].1.end, blocks[1].0);
    }
}
