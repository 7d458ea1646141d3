//! Copying blobs to another store, where their contents have other numbers.

use tablerock_kv::{Bytes, Error, Record, Result, Store};
use tablerock_protocol::blob::Checksums;

use super::address::ContentAddress;
use super::blocks::{BlocksHeader, UncommittedBlock};
use super::content::{ContentUpload, Inflow};
use super::encryption::stored_length;
use super::keys::{self, BlobKey};
use super::page;
use super::pieces::{PieceRecord, PieceSource};
use super::stored_blob::{Blob, BlobKind, Body};
use super::stored_content::{StoredContent, copy_stored};

/// Key and value of a record of a blob, with other numbers for contents and layouts, which have theirs from one sequence.
pub(crate) fn renumbered(key: &Bytes, value: &Bytes, new: impl Fn(u64) -> Result<u64>) -> Result<(Bytes, Bytes)> {
    match keys::blob_key_of(key)? {
        BlobKey::Snapshot(_) | BlobKey::Base => {
            let mut blob = Blob::decode(value)?;
            // The next search there makes entries for its tags.
            blob.tag_number = 0;
            match &mut blob.body {
                Body::Inline(_) => {}
                Body::Whole { content } => *content = new(*content)?,
                Body::Pieces { layout, .. } => *layout = new(*layout)?,
                Body::Pages(body) => page::renumber_body(body, new)?,
            }
            Ok((key.clone(), blob.encode()))
        }
        BlobKey::Blocks => Ok((key.clone(), value.clone())),
        BlobKey::Block => {
            let block = UncommittedBlock::decode(key, value)?;
            Ok((key.clone(), UncommittedBlock { content: new(block.content)?, ..block }.encode()))
        }
        BlobKey::Pieces => {
            let (layout, index) = keys::place_of_pieces(key)?;
            let mut record = PieceRecord::decode(value)?;
            for piece in &mut record.pieces {
                if let PieceSource::Content(content) = &mut piece.source {
                    *content = new(*content)?;
                }
            }
            Ok((keys::pieces_key(new(layout)?, index), record.encode()))
        }
        kind @ (BlobKey::Layer | BlobKey::PageMap | BlobKey::Pages) => page::renumber_record(kind, key, value, new),
    }
}

/// The contents that a record refers to, with their lengths.
pub(crate) fn contents_of_record(key: &Bytes, value: &Bytes) -> Result<Vec<(u64, u64)>> {
    match keys::blob_key_of(key)? {
        BlobKey::Snapshot(_) | BlobKey::Base => {
            let blob = Blob::decode(value)?;
            Ok(match blob.body {
                Body::Whole { content } => vec![(content, blob.stored_length())],
                Body::Inline(_) | Body::Pieces { .. } | Body::Pages(_) => vec![],
            })
        }
        BlobKey::Blocks | BlobKey::Layer | BlobKey::PageMap | BlobKey::Pages => Ok(vec![]),
        BlobKey::Block => {
            let block = UncommittedBlock::decode(key, value)?;
            Ok(vec![(block.content, stored_length(block.length, block.is_encrypted))])
        }
        BlobKey::Pieces => {
            let pieces = PieceRecord::decode(value)?.pieces;
            Ok(pieces.iter().filter_map(|piece| Some((piece.content()?, piece.stored_length()))).collect())
        }
    }
}

/// Returns the watch on a blob's uncommitted blocks, if the record is their header.
pub(crate) fn block_watch_of(record: &Record, new_container_id: u64) -> Result<Option<(Bytes, Bytes)>> {
    if keys::blob_key_of(&record.key)? != BlobKey::Blocks {
        return Ok(None);
    }
    let name = keys::blob_name_of(&record.partition)?;
    Ok(Some((
        keys::block_watch_key(BlocksHeader::decode(&record.value)?.newest, new_container_id, &name),
        Bytes::new(),
    )))
}

/// Copies one content to another store. Both are given by the ids of the container and of the content. `progress` gets
/// the length of each part.
pub(crate) async fn copy_content(
    from: &Store,
    old: (u64, u64),
    to: &Store,
    new: (u64, u64),
    length: u64,
    progress: impl FnMut(u64),
) -> Result<()> {
    let at = ContentAddress { container_id: new.0, content: new.1 };
    if let Some(contents) = to.contents() {
        // An earlier run of this copy may have been interrupted here. The ids are reserved for it, and an engine does not
        // replace a content.
        contents.remove(new.0, new.1..=new.1).await?;
    }
    let upload = ContentUpload::new(to, Inflow::default(), at, Some(length), Checksums::new(false));
    let is_copied = copy_stored(from, address(old), length, upload, progress).await.map_err(store_error)?;
    if is_copied { Ok(()) } else { Err(gone()) }
}

fn address((container_id, content): (u64, u64)) -> ContentAddress {
    ContentAddress { container_id, content }
}

fn store_error(error: crate::Error) -> Error {
    match error {
        crate::Error::Store(error) => error,
        crate::Error::Refused(refused) => Error::internal(format!("a content was refused: {refused}")),
    }
}

fn gone() -> Error {
    Error::invalid("a blob was replaced while it was read: stop all writers there, and copy again")
}

/// The bytes of a blob, piece by piece and in order.
pub(crate) enum BlobBytes {
    Inline(Bytes),
    Stored { content: u64, length: u64 },
}

/// The pieces of a blob or a snapshot.
#[derive(Default)]
pub(crate) struct Makeup {
    pub(crate) held: Vec<BlobBytes>,
    /// The blocks that Get Block List shows: ids in Base64, and lengths.
    pub(crate) blocks: Vec<(String, u64)>,
}

impl Makeup {
    pub(crate) async fn of(store: &Store, partition: &Bytes, blob: &Blob) -> Result<Self> {
        let mut makeup = Self::default();
        match &blob.body {
            Body::Inline(bytes) => makeup.held.push(BlobBytes::Inline(bytes.clone())),
            Body::Whole { content } => {
                makeup.held.push(BlobBytes::Stored { content: *content, length: blob.stored_length() })
            }
            Body::Pieces { layout, records } => {
                let pieces = super::pieces::read_all(store, partition, *layout, *records).await?;
                for piece in pieces.ok_or_else(gone)? {
                    if blob.kind == BlobKind::Block {
                        makeup.blocks.push((piece.id.to_base64(), piece.length));
                    }
                    let length = piece.stored_length();
                    makeup.held.push(match piece.source {
                        PieceSource::Inline(bytes) => BlobBytes::Inline(bytes),
                        PieceSource::Content(content) => BlobBytes::Stored { content, length },
                    });
                }
            }
            // They come with their offsets; see `read_blob_pages`.
            Body::Pages(_) => {}
        }
        Ok(makeup)
    }
}

/// Reads the pages that a page blob or a snapshot of one has: runs of them, with their offsets. Other blobs have none.
pub(crate) async fn read_blob_pages(
    store: &Store,
    record: &Record,
    blob: &Blob,
    take: impl AsyncFnMut(u64, Bytes) -> Result<()>,
) -> Result<()> {
    match &blob.body {
        Body::Pages(body) => {
            page::read_pages(store, &record.partition, record.key.clone(), blob.length, body, take).await
        }
        _ => Ok(()),
    }
}

/// Reads one content, a part at a time.
pub(crate) async fn read_content(
    store: &Store,
    at: (u64, u64),
    length: u64,
    mut take: impl AsyncFnMut(Bytes) -> Result<()>,
) -> Result<()> {
    let mut content = StoredContent::open(store, address(at), length).await?;
    let mut offset = 0;
    while offset < length {
        let bytes = content.read(offset, length - offset).await?.ok_or_else(gone)?;
        offset += bytes.len() as u64;
        take(bytes).await?;
    }
    Ok(())
}

/// An uncommitted block's id in Base64, and its content.
pub(crate) fn block_of(record: &Record) -> Result<(String, u64, u64)> {
    let block = UncommittedBlock::decode(&record.key, &record.value)?;
    Ok((block.id.to_base64(), block.content, stored_length(block.length, block.is_encrypted)))
}
