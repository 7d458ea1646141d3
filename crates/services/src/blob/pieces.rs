//! Lists of pieces: the content of a blob that was written block by block.
//!
//! A list is a run of records in the blob's own partition, under the number of the list, its *layout*. Records of a block
//! list have up to 256 pieces each and never change; an append blob gains a record with each block. Every record has its
//! offset in the blob, so a binary search finds the record of a byte.

use tablerock_kv::{Bytes, Error, Position, Range, Result, Store};
use tablerock_protocol::blob::BlockId;

use super::encryption::stored_length;
use super::keys;
use crate::fields::{FieldReader, FieldWriter};

const FORMAT: u8 = 1;

/// Pieces of one record.
pub(super) const PIECES_PER_RECORD: usize = 256;

/// A run of bytes of a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// The block that it was; empty for appended ones.
    pub(super) id: BlockId,
    pub(super) length: u64,
    pub(super) source: PieceSource,
    /// Whether the source is encrypted with a customer's key.
    pub(super) is_encrypted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PieceSource {
    Inline(Bytes),
    Content(u64),
}

impl PieceSource {
    /// The number that a record has for the kind of source.
    fn number(&self, is_encrypted: bool) -> u8 {
        match (self, is_encrypted) {
            (Self::Inline(_), false) => 1,
            (Self::Content(_), false) => 2,
            (Self::Inline(_), true) => 3,
            (Self::Content(_), true) => 4,
        }
    }
}

impl Piece {
    /// The length of its source.
    pub(super) fn stored_length(&self) -> u64 {
        stored_length(self.length, self.is_encrypted)
    }

    pub(super) fn content(&self) -> Option<u64> {
        match self.source {
            PieceSource::Inline(_) => None,
            PieceSource::Content(content) => Some(content),
        }
    }
}

/// One record of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PieceRecord {
    /// Where in the blob its first piece begins.
    pub(super) offset: u64,
    pub(super) pieces: Vec<Piece>,
}

impl PieceRecord {
    pub(super) fn encode(&self) -> Bytes {
        let mut out = FieldWriter::new(FORMAT);
        out.number(self.offset);
        out.number(self.pieces.len() as u64);
        for piece in &self.pieces {
            out.bytes(piece.id.as_bytes());
            out.number(piece.length);
            out.byte(piece.source.number(piece.is_encrypted));
            match &piece.source {
                PieceSource::Inline(bytes) => out.bytes(bytes),
                PieceSource::Content(content) => out.number(*content),
            }
        }
        out.finish()
    }

    pub(super) fn decode(record: &Bytes) -> Result<Self> {
        let mut fields = FieldReader::new(record, FORMAT, "a list of pieces")?;
        let offset = fields.number()?;
        let count = fields.count()?;
        let mut pieces = Vec::with_capacity(count);
        for _ in 0..count {
            let id = BlockId::from_bytes(&fields.bytes()?);
            let length = fields.number()?;
            let kind = fields.byte()?;
            let source = match kind {
                1 | 3 => PieceSource::Inline(fields.bytes()?),
                2 | 4 => PieceSource::Content(fields.number()?),
                _ => return Err(fields.corrupt()),
            };
            pieces.push(Piece { id, length, source, is_encrypted: kind > 2 });
        }
        fields.finish()?;
        Ok(Self { offset, pieces })
    }
}

/// The records of a list of pieces.
pub(super) fn into_records(pieces: Vec<Piece>) -> Vec<PieceRecord> {
    let mut records = Vec::with_capacity(pieces.len().div_ceil(PIECES_PER_RECORD));
    let mut offset = 0;
    let mut pieces = pieces.into_iter().peekable();
    while pieces.peek().is_some() {
        let record = PieceRecord { offset, pieces: pieces.by_ref().take(PIECES_PER_RECORD).collect() };
        offset += record.pieces.iter().map(|piece| piece.length).sum::<u64>();
        records.push(record);
    }
    records
}

/// Returns all durable pieces in the first records of a layout; `None` if some of these records are not there any more.
pub(super) async fn read_all(
    store: &Store,
    partition: &Bytes,
    layout: u64,
    records: u64,
) -> Result<Option<Vec<Piece>>> {
    let mut range = keys::pieces_from(partition, layout, 0);
    range.end = Some(Position::new(partition.clone(), keys::pieces_key(layout, records)));
    let (count, pieces) = read_range(store, range).await?;
    Ok((count == records).then_some(pieces))
}

/// Returns the pieces of a layout that nothing refers to, as far as they are not deleted.
pub(super) async fn read_left(store: &Store, partition: &Bytes, layout: u64) -> Result<Vec<Piece>> {
    Ok(read_range(store, keys::pieces_from(partition, layout, 0)).await?.1)
}

async fn read_range(store: &Store, range: Range) -> Result<(u64, Vec<Piece>)> {
    let mut records = store.records(range);
    let (mut count, mut pieces) = (0, Vec::new());
    while let Some(record) = records.next().await? {
        count += 1;
        pieces.extend(PieceRecord::decode(&record.value)?.pieces);
    }
    Ok((count, pieces))
}

/// One record of a layout; `None` if the layout is no longer there.
pub(super) async fn read_record(
    store: &Store,
    partition: &Bytes,
    layout: u64,
    index: u64,
) -> Result<Option<PieceRecord>> {
    let record = store.get(partition, &keys::pieces_key(layout, index)).await?;
    record.as_ref().map(PieceRecord::decode).transpose()
}

/// The index of the record that holds the byte at an offset, by binary search.
pub(super) async fn find_record(
    store: &Store,
    partition: &Bytes,
    layout: u64,
    records: u64,
    offset: u64,
) -> Result<Option<u64>> {
    let (mut low, mut high) = (0, records);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let Some(record) = read_record(store, partition, layout, middle).await? else { return Ok(None) };
        if record.offset <= offset {
            low = middle;
        } else {
            high = middle;
        }
    }
    if records == 0 { Err(Error::corrupt("a blob with content has no pieces")) } else { Ok(Some(low)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(count: u64) -> Vec<Piece> {
        (0..count)
            .map(|n| Piece {
                id: BlockId::from_bytes(&n.to_be_bytes()),
                length: n % 5,
                is_encrypted: n % 3 == 0,
                source: if n % 2 == 0 {
                    PieceSource::Content(n)
                } else {
                    PieceSource::Inline(Bytes::from(vec![n as u8; (n % 5) as usize]))
                },
            })
            .collect()
    }

    #[tokio::test]
    async fn the_record_of_every_byte_is_found() {
        let store = Store::in_memory();
        let partition = keys::blob_partition(1, "b");
        let records = into_records(pieces(1_000));
        let count = records.len() as u64;
        assert_eq!(count, 4);
        store
            .transact(&partition, vec![], |tx| {
                for (index, record) in records.iter().enumerate() {
                    tx.put(keys::pieces_key(7, index as u64), record.encode());
                }
                Ok::<_, Error>(())
            })
            .await
            .unwrap();
        assert_eq!(read_all(&store, &partition, 7, count).await.unwrap().unwrap(), pieces(1_000));
        assert_eq!(read_all(&store, &partition, 7, count + 1).await.unwrap(), None);
        for offset in (0..2_000).step_by(17) {
            let index = find_record(&store, &partition, 7, count, offset).await.unwrap().unwrap() as usize;
            assert!(records[index].offset <= offset);
            assert!(records.get(index + 1).is_none_or(|next| next.offset > offset));
        }
        assert_eq!(find_record(&store, &partition, 8, 3, 5).await.unwrap(), None, "a layout that is gone");
    }
}
