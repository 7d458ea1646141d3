//! The keys of entities. `docs/keys.md` specifies them, and a test reads its examples.

use tablerock_kv::key::{KeyBuilder, KeyReader, text_to_key_bytes};
use tablerock_kv::{Bytes, Range};

/// The entities of a table, under its id.
const ENTITIES: u8 = b'e';

pub const TIMESTAMP_CEILING: &[u8] = b"timestamp-ceiling";
pub const NEXT_TABLE_ID: &[u8] = b"next-table-id";

/// The partition that holds the entities of one PartitionKey.
pub fn entity_partition(table_id: u64, partition_key: &str) -> Bytes {
    entity_partition_from(table_id, &text_to_key_bytes(partition_key))
}

/// As [`entity_partition`], from a PartitionKey that is in key form already.
pub fn entity_partition_from(table_id: u64, partition_key: &[u8]) -> Bytes {
    KeyBuilder::with_capacity(12 + partition_key.len()).tag(ENTITIES).number(table_id).tail(partition_key)
}

/// The PartitionKey, in key form, of a partition of entities.
pub fn partition_key_of(partition: &[u8]) -> tablerock_kv::Result<&[u8]> {
    let mut pieces = KeyReader::new(partition);
    pieces.tag()?;
    pieces.number()?;
    Ok(pieces.tail())
}

pub fn entity_key(row_key: &str) -> Bytes {
    Bytes::copy_from_slice(&text_to_key_bytes(row_key))
}

/// All entities of a table.
pub fn table_range(table_id: u64) -> Range {
    Range::partitions(&entity_partition_from(table_id, b""))
}
