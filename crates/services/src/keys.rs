//! Where everything is stored. `docs/keys.md` specifies these keys, and a test reads its examples.

use tablerock_kv::key::{KeyBuilder, KeyReader, text_to_key_bytes};
use tablerock_kv::{Bytes, Position, Range};
use tablerock_protocol::Service;

/// The server's own records.
const SYSTEM: u8 = b's';
/// An account's settings.
const ACCOUNT: u8 = b'a';
/// An account's table directory: name to id.
const DIRECTORY: u8 = b'd';
/// The entities of a table, under its id.
const ENTITIES: u8 = b'e';

pub const TIMESTAMP_CEILING: &[u8] = b"timestamp-ceiling";
pub const NEXT_TABLE_ID: &[u8] = b"next-table-id";

/// Work in the background that one of the servers does which share a store.
pub const TABLE_SWEEP_DUTY: &[u8] = b"duty/table-sweep";
pub const QUEUE_SWEEP_DUTY: &[u8] = b"duty/queue-sweep";
pub const BLOB_SWEEP_DUTY: &[u8] = b"duty/blob-sweep";
pub const RETENTION_DUTY: &[u8] = b"duty/analytics-retention";

/// The key of the turn to add to an account's metrics of a service.
pub fn metrics_turn_key(service: Service, account: &str) -> Bytes {
    [b"duty/metrics/", service.name().as_bytes(), b"/", account.as_bytes()].concat().into()
}

/// The key of a lane's ceiling, where servers share a store and each has a lane of timestamps.
pub fn timestamp_lane_key(ceiling_key: &[u8], lane: u8) -> Bytes {
    [ceiling_key, b"/", &[lane]].concat().into()
}

/// The key of the note about a copy of an account that is under way to this store.
pub fn copy_note_key(account: &str) -> Bytes {
    [b"copy/", account.as_bytes()].concat().into()
}

/// The key of an account's properties of a service.
pub const fn service_properties_key(service: Service) -> &'static [u8] {
    match service {
        Service::Blob => b"blob-service-properties",
        Service::Queue => b"queue-service-properties",
        Service::Table => b"table-service-properties",
    }
}

pub fn system_partition() -> Bytes {
    KeyBuilder::new().tag(SYSTEM).finish()
}

pub fn account_partition(account: &str) -> Bytes {
    KeyBuilder::new().tag(ACCOUNT).text(account).finish()
}

pub fn directory_partition(account: &str) -> Bytes {
    KeyBuilder::with_capacity(4 + account.len()).tag(DIRECTORY).text(account).finish()
}

/// Begins the keys of a directory's notes, which names of tables cannot begin with.
const NOTE: u8 = 0;

/// The note that a table is gone and its entities are still to be dropped.
pub fn drop_note_key(table_id: u64) -> Bytes {
    KeyBuilder::new().tag(NOTE).number(table_id).finish()
}

/// The table that such a note is about.
pub fn table_of_drop_note(key: &[u8]) -> tablerock_kv::Result<u64> {
    let mut pieces = KeyReader::new(key);
    pieces.tag()?;
    pieces.number()
}

/// All notes of a directory.
pub fn drop_notes(account: &str) -> Range {
    let directory = directory_partition(account);
    Range::between(Position::new(directory.clone(), vec![NOTE]), Position::new(directory, vec![NOTE + 1]))
}

/// All tables of a directory.
pub fn directory_tables(account: &str) -> Range {
    let directory = directory_partition(account);
    Range::between(Position::new(directory.clone(), vec![NOTE + 1]), Position::end_of(&directory))
}

/// The key of a table in its directory: the name in the one form under which all spellings meet.
pub fn directory_key(folded_name: &str) -> Bytes {
    Bytes::copy_from_slice(folded_name.as_bytes())
}

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

/// Everything that a table holds.
pub fn table_range(table_id: u64) -> Range {
    Range::partitions(&entity_partition_from(table_id, b""))
}
