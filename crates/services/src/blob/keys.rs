//! The keys of blobs. `docs/keys.md` specifies them, and a test reads its examples.

use tablerock_kv::key::{KeyBuilder, KeyReader, key_bytes_to_text, text_to_key_bytes};
use tablerock_kv::{Bytes, Position, Range, Result};
use tablerock_protocol::DateTime;

use crate::keys::records_with_tag;

/// The blobs of a container, each a partition.
const BLOB: u8 = b'b';
/// Contents, under their container and their own id.
const CONTENT: u8 = b'o';
/// Reclaim intents and block watches.
const INTENTS: u8 = b'n';
/// The index tags of a container's blobs.
const TAGS: u8 = b't';
/// The bytes and objects of containers.
const USAGE: u8 = b'u';

pub const TIMESTAMP_CEILING: &[u8] = b"blob-timestamp-ceiling";
pub const NEXT_CONTAINER_ID: &[u8] = b"next-container-id";
pub const NEXT_CONTENT_ID: &[u8] = b"next-content-id";
pub const TAG_INDEX_STATE: &[u8] = b"blob-tag-index";

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

/// The id of the container that a blob's partition belongs to.
pub fn container_id_of(partition: &[u8]) -> Result<u64> {
    let mut pieces = KeyReader::new(partition);
    pieces.tag()?;
    pieces.number()
}

/// All blobs of all containers.
pub fn all_blobs() -> Range {
    Range::partitions(&[BLOB])
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
const LAYER: u8 = 6;
const PAGE_MAP: u8 = 7;
const PAGES: u8 = 8;

/// The blob itself.
pub const BASE_KEY: &[u8] = &[BASE];

/// The common prefix of its uncommitted blocks.
pub const BLOCKS_KEY: &[u8] = &[BLOCKS];

pub fn snapshot_key(ticks: u64) -> Bytes {
    KeyBuilder::new().tag(SNAPSHOT).number(ticks).finish()
}

/// The blob itself, or one of its snapshots.
pub fn record_key(snapshot: Option<DateTime>) -> Bytes {
    snapshot.map_or(Bytes::from_static(BASE_KEY), |taken| snapshot_key(taken.ticks()))
}

/// All snapshots of a blob.
pub fn snapshots(partition: &Bytes) -> Range {
    records_with_tag(partition, SNAPSHOT)
}

pub fn block_key(id: &[u8]) -> Bytes {
    KeyBuilder::new().tag(BLOCK).tail(id)
}

/// All uncommitted blocks of a blob.
pub fn blocks(partition: &Bytes) -> Range {
    records_with_tag(partition, BLOCK)
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

/// A layer of a page blob: its description.
pub fn layer_key(layer: u64) -> Bytes {
    KeyBuilder::new().tag(LAYER).number(layer).finish()
}

/// The layer that a record of one belongs to, and the place of the record in it; a description has the place 0.
pub fn place_in_layer(key: &[u8]) -> Result<(u64, u64)> {
    let mut pieces = KeyReader::new(key);
    let tag = pieces.tag()?;
    let layer = pieces.number()?;
    Ok((layer, if tag == LAYER { 0 } else { pieces.number()? }))
}

/// Whether a record of a blob is one of a layer.
pub fn is_of_layer(key: &[u8]) -> bool {
    key.first().is_some_and(|tag| (LAYER..=PAGES).contains(tag))
}

/// The descriptions of all layers of a page blob.
pub fn layers(partition: &Bytes) -> Range {
    records_with_tag(partition, LAYER)
}

/// Which pages of a region a layer has.
pub fn page_map_key(layer: u64, region: u64) -> Bytes {
    KeyBuilder::new().tag(PAGE_MAP).number(layer).number(region).finish()
}

/// The maps of a layer from one region up to another, which is not included.
pub fn page_maps(partition: &Bytes, layer: u64, first: u64, end: u64) -> Range {
    let position = |region| Position::new(partition.clone(), page_map_key(layer, region));
    Range::between(position(first), position(end))
}

/// The pages that a layer has of a segment.
pub fn pages_key(layer: u64, segment: u64) -> Bytes {
    KeyBuilder::new().tag(PAGES).number(layer).number(segment).finish()
}

/// The segments of a layer from one up to another, which is not included.
pub fn pages(partition: &Bytes, layer: u64, first: u64, end: u64) -> Range {
    let position = |segment| Position::new(partition.clone(), pages_key(layer, segment));
    Range::between(position(first), position(end))
}

/// The kind of a record in a blob's partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlobKey {
    Snapshot(u64),
    Base,
    Blocks,
    Block,
    Pieces,
    Layer,
    PageMap,
    Pages,
}

pub fn blob_key_of(key: &[u8]) -> Result<BlobKey> {
    let mut pieces = KeyReader::new(key);
    match pieces.tag()? {
        SNAPSHOT => Ok(BlobKey::Snapshot(pieces.number()?)),
        BASE => Ok(BlobKey::Base),
        BLOCKS => Ok(BlobKey::Blocks),
        BLOCK => Ok(BlobKey::Block),
        PIECES => Ok(BlobKey::Pieces),
        LAYER => Ok(BlobKey::Layer),
        PAGE_MAP => Ok(BlobKey::PageMap),
        PAGES => Ok(BlobKey::Pages),
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

pub fn intents_partition() -> Bytes {
    KeyBuilder::new().tag(INTENTS).finish()
}

pub fn usage_partition() -> Bytes {
    KeyBuilder::new().tag(USAGE).finish()
}

/// The sum of one server's changes of a container; the base has the number zero.
pub fn usage_key(container_id: u64, server: u64) -> Bytes {
    KeyBuilder::new().number(container_id).number(server).finish()
}

/// The server that a sum belongs to.
pub fn server_of_usage(key: &[u8]) -> Result<u64> {
    let mut pieces = KeyReader::new(key);
    pieces.number()?;
    pieces.number()
}

/// The base and the sums of a container.
pub fn usage_of_container(container_id: u64) -> Range {
    let partition = usage_partition();
    let start = |id| Position::new(partition.clone(), KeyBuilder::new().number(id).finish());
    Range::between(start(container_id), start(container_id + 1))
}

const RECLAIM_INTENT: u8 = 1;
const BLOCK_WATCH: u8 = 2;
const DATED_RECLAIM_INTENT: u8 = 3;
const LAYER_MERGE: u8 = 4;

/// The intent to reclaim what a blob may hold and not refer to.
pub fn reclaim_intent_key(intent_id: u64) -> Bytes {
    KeyBuilder::new().tag(RECLAIM_INTENT).number(intent_id).finish()
}

pub fn reclaim_intents() -> Range {
    records_with_tag(&intents_partition(), RECLAIM_INTENT)
}

/// The same where servers share a store: with the time, so that others can tell when its server must have died.
pub fn dated_reclaim_intent_key(ticks: u64, intent_id: u64) -> Bytes {
    KeyBuilder::new().tag(DATED_RECLAIM_INTENT).number(ticks).number(intent_id).finish()
}

/// The dated intents from before a time.
pub fn dated_reclaim_intents(before_ticks: u64) -> Range {
    let partition = intents_partition();
    let end = KeyBuilder::new().tag(DATED_RECLAIM_INTENT).number(before_ticks).finish();
    Range::between(Position::new(partition.clone(), vec![DATED_RECLAIM_INTENT]), Position::new(partition, end))
}

/// The watch on a blob's uncommitted blocks, which a sweep examines some time after `ticks`.
pub fn block_watch_key(ticks: u64, container_id: u64, name: &str) -> Bytes {
    KeyBuilder::new().tag(BLOCK_WATCH).number(ticks).number(container_id).tail(&text_to_key_bytes(name))
}

/// The time of a block watch, the container's id and the blob's name.
pub fn blob_of_block_watch(key: &[u8]) -> Result<(u64, u64, String)> {
    let mut pieces = KeyReader::new(key);
    pieces.tag()?;
    Ok((pieces.number()?, pieces.number()?, key_bytes_to_text(pieces.tail())?.into_owned()))
}

pub fn block_watches() -> Range {
    records_with_tag(&intents_partition(), BLOCK_WATCH)
}

/// The partition of a container's tag index.
pub fn tags_partition(container_id: u64) -> Bytes {
    KeyBuilder::new().tag(TAGS).number(container_id).finish()
}

/// The tag index of a container.
pub fn container_tags(container_id: u64) -> Range {
    Range::partition(&tags_partition(container_id))
}

/// The entry of one tag of a blob. The number is that of the blob's tags.
pub fn tag_key(key: &str, value: &str, blob: &str, number: u64) -> Bytes {
    KeyBuilder::new().text(key).text(value).text(blob).number(number).finish()
}

/// The beginning of the entries of a tag, with one value or with any.
pub fn tag_prefix(key: &str, value: Option<&str>) -> Bytes {
    let builder = KeyBuilder::new().text(key);
    match value {
        Some(value) => builder.text(value).finish(),
        None => builder.finish(),
    }
}

/// The name of the blob that an entry of the tag index is about.
pub fn blob_of_tag(key: &[u8]) -> Result<String> {
    let mut pieces = KeyReader::new(key);
    pieces.text()?;
    pieces.text()?;
    Ok(pieces.text()?.into_owned())
}

/// The note that layers of a page blob are to be merged.
pub fn layer_merge_key(container_id: u64, name: &str) -> Bytes {
    KeyBuilder::new().tag(LAYER_MERGE).number(container_id).tail(&text_to_key_bytes(name))
}

/// The container's id and the blob's name in such a note.
pub fn blob_of_layer_merge(key: &[u8]) -> Result<(u64, String)> {
    let mut pieces = KeyReader::new(key);
    pieces.tag()?;
    Ok((pieces.number()?, key_bytes_to_text(pieces.tail())?.into_owned()))
}

pub fn layer_merges() -> Range {
    records_with_tag(&intents_partition(), LAYER_MERGE)
}
