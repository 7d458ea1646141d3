//! Where containers and blobs are stored. `docs/keys.md` specifies these keys, and a test reads its examples.

use tablerock_kv::key::{KeyBuilder, KeyReader, key_bytes_to_text, text_to_key_bytes};
use tablerock_kv::{Bytes, Position, Range, Result};

/// An account's container directory: name to id.
const DIRECTORY: u8 = b'c';
/// The blobs of a container, each a partition.
const BLOB: u8 = b'b';
/// Contents, under their container and their own id.
const CONTENT: u8 = b'o';
/// What is still to be tidied up.
const NOTES: u8 = b'n';

pub const TIMESTAMP_CEILING: &[u8] = b"blob-timestamp-ceiling";
pub const NEXT_CONTAINER_ID: &[u8] = b"next-container-id";
pub const NEXT_CONTENT_ID: &[u8] = b"next-content-id";

pub fn directory_partition(account: &str) -> Bytes {
    KeyBuilder::with_capacity(4 + account.len()).tag(DIRECTORY).text(account).finish()
}

/// Begins the keys of a directory's notes, which names of containers cannot begin with.
const DROP_NOTE: u8 = 0;

/// The note that a container is gone and its blobs are still to be dropped.
pub fn drop_note_key(container_id: u64) -> Bytes {
    KeyBuilder::new().tag(DROP_NOTE).number(container_id).finish()
}

/// The container that such a note is about.
pub fn container_of_drop_note(key: &[u8]) -> Result<u64> {
    let mut pieces = KeyReader::new(key);
    pieces.tag()?;
    pieces.number()
}

/// All drop notes of a directory.
pub fn drop_notes(account: &str) -> Range {
    let directory = directory_partition(account);
    Range::between(Position::new(directory.clone(), vec![DROP_NOTE]), Position::new(directory, vec![DROP_NOTE + 1]))
}

/// All containers of a directory.
pub fn directory_containers(account: &str) -> Range {
    let directory = directory_partition(account);
    Range::between(Position::new(directory.clone(), vec![DROP_NOTE + 1]), Position::end_of(&directory))
}

pub fn directory_key(container: &str) -> Bytes {
    Bytes::copy_from_slice(container.as_bytes())
}

/// The partition of one blob: everything that is changed together.
pub fn blob_partition(container_id: u64, name: &str) -> Bytes {
    let name = text_to_key_bytes(name);
    KeyBuilder::with_capacity(12 + name.len()).tag(BLOB).number(container_id).tail(&name)
}

/// The name of the blob that a partition belongs to.
pub fn blob_name_of(partition: &[u8]) -> Result<String> {
    let mut pieces = KeyReader::new(partition);
    pieces.tag()?;
    pieces.number()?;
    Ok(key_bytes_to_text(pieces.tail())?.into_owned())
}

/// The blobs whose names begin with a prefix.
pub fn blobs_with_prefix(container_id: u64, prefix: &str) -> Range {
    Range::partitions(&blob_partition(container_id, prefix))
}

/// Everything that is stored about the blobs of a container, without their contents.
pub fn container_blobs(container_id: u64) -> Range {
    blobs_with_prefix(container_id, "")
}

// The records of a blob, in the order in which a list shows them: snapshots before the blob itself, and behind it what
// no list shows.
const SNAPSHOT: u8 = 1;
const BASE: u8 = 2;
const BLOCKS: u8 = 3;
const BLOCK: u8 = 4;
const PIECES: u8 = 5;

/// The blob itself.
pub const BASE_KEY: &[u8] = &[BASE];

/// What its uncommitted blocks have in common.
pub const BLOCKS_KEY: &[u8] = &[BLOCKS];

pub fn snapshot_key(ticks: u64) -> Bytes {
    KeyBuilder::new().tag(SNAPSHOT).number(ticks).finish()
}

/// All snapshots of a blob.
pub fn snapshots(partition: &Bytes) -> Range {
    Range::between(Position::new(partition.clone(), vec![SNAPSHOT]), Position::new(partition.clone(), vec![BASE]))
}

pub fn block_key(id: &[u8]) -> Bytes {
    KeyBuilder::new().tag(BLOCK).tail(id)
}

/// All uncommitted blocks of a blob.
pub fn blocks(partition: &Bytes) -> Range {
    Range::between(Position::new(partition.clone(), vec![BLOCK]), Position::new(partition.clone(), vec![PIECES]))
}

/// The id of the block that a key belongs to.
pub fn block_id_of(key: &[u8]) -> Result<&[u8]> {
    let mut pieces = KeyReader::new(key);
    pieces.tag()?;
    Ok(pieces.tail())
}

/// One record of the list of pieces that a blob is made of.
pub fn pieces_key(layout: u64, index: u64) -> Bytes {
    KeyBuilder::new().tag(PIECES).number(layout).number(index).finish()
}

/// The layout that such a record belongs to, and its place in it.
pub fn place_of_pieces(key: &[u8]) -> Result<(u64, u64)> {
    let mut pieces = KeyReader::new(key);
    pieces.tag()?;
    Ok((pieces.number()?, pieces.number()?))
}

/// The records of one list of pieces, from one of them on.
pub fn pieces_from(partition: &Bytes, layout: u64, index: u64) -> Range {
    let end = KeyBuilder::new().tag(PIECES).number(layout + 1).finish();
    Range::between(Position::new(partition.clone(), pieces_key(layout, index)), Position::new(partition.clone(), end))
}

/// What a record of a blob's partition is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlobKey {
    Snapshot(u64),
    Base,
    Blocks,
    Block,
    Pieces,
}

pub fn blob_key_of(key: &[u8]) -> Result<BlobKey> {
    let mut pieces = KeyReader::new(key);
    match pieces.tag()? {
        SNAPSHOT => Ok(BlobKey::Snapshot(pieces.number()?)),
        BASE => Ok(BlobKey::Base),
        BLOCKS => Ok(BlobKey::Blocks),
        BLOCK => Ok(BlobKey::Block),
        PIECES => Ok(BlobKey::Pieces),
        other => Err(tablerock_kv::Error::corrupt(format!("a blob has a record of the unknown kind {other}"))),
    }
}

/// The partition of one content.
pub fn content_partition(container_id: u64, content_id: u64) -> Bytes {
    KeyBuilder::new().tag(CONTENT).number(container_id).number(content_id).finish()
}

pub fn chunk_key(index: u64) -> Bytes {
    KeyBuilder::new().number(index).finish()
}

/// All contents of a container.
pub fn container_contents(container_id: u64) -> Range {
    Range::partitions(&KeyBuilder::new().tag(CONTENT).number(container_id).finish())
}

pub fn notes_partition() -> Bytes {
    KeyBuilder::new().tag(NOTES).finish()
}

const HOLDINGS_NOTE: u8 = 1;
const WATCH_NOTE: u8 = 2;
const DATED_HOLDINGS_NOTE: u8 = 3;

/// The note that a blob may hold something that nobody refers to.
pub fn holdings_note_key(note_id: u64) -> Bytes {
    KeyBuilder::new().tag(HOLDINGS_NOTE).number(note_id).finish()
}

pub fn holdings_notes() -> Range {
    notes_of(HOLDINGS_NOTE)
}

/// The same where servers share a store: with the time, so that others can tell when its server must have died.
pub fn dated_holdings_note_key(ticks: u64, note_id: u64) -> Bytes {
    KeyBuilder::new().tag(DATED_HOLDINGS_NOTE).number(ticks).number(note_id).finish()
}

/// Such notes from before a time.
pub fn dated_holdings_notes(before_ticks: u64) -> Range {
    let notes = notes_partition();
    let end = KeyBuilder::new().tag(DATED_HOLDINGS_NOTE).number(before_ticks).finish();
    Range::between(Position::new(notes.clone(), vec![DATED_HOLDINGS_NOTE]), Position::new(notes, end))
}

/// The note that a blob has uncommitted blocks, which are to be looked at some time after `ticks`.
pub fn watch_note_key(ticks: u64, container_id: u64, name: &str) -> Bytes {
    KeyBuilder::new().tag(WATCH_NOTE).number(ticks).number(container_id).tail(&text_to_key_bytes(name))
}

/// When such a note was made, and about which blob.
pub fn blob_of_watch_note(key: &[u8]) -> Result<(u64, u64, String)> {
    let mut pieces = KeyReader::new(key);
    pieces.tag()?;
    Ok((pieces.number()?, pieces.number()?, key_bytes_to_text(pieces.tail())?.into_owned()))
}

pub fn watch_notes() -> Range {
    notes_of(WATCH_NOTE)
}

fn notes_of(kind: u8) -> Range {
    let notes = notes_partition();
    Range::between(Position::new(notes.clone(), vec![kind]), Position::new(notes, vec![kind + 1]))
}
