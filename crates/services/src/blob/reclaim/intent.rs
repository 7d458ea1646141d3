//! The stored form of an intent.

use tablerock_kv::{Bytes, Result};

use tablerock_protocol::blob::Tags;

use crate::blob::stored_blob::{Blob, Body};
use crate::fields::{FieldReader, FieldWriter};

const FORMAT: u8 = 1;

/// Something that a blob refers to and that takes up space of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::blob) enum Reclaimable {
    /// With its length, or `u64::MAX` while that is unknown.
    Content { id: u64, length: u64 },
    /// All records of a list of pieces, however many there are by then.
    Layout { id: u64 },
    /// The entries that the index has for these tags under their number.
    Tags { number: u64, tags: Tags },
    /// Layers of pages: those that nothing refers to, and those that can be merged. A copy that is writing this one
    /// is not finished.
    Pages { layer: u64 },
}

impl Reclaimable {
    /// The content or list of pieces that the body of a blob refers to.
    pub(in crate::blob) fn of(blob: &Blob) -> Option<Self> {
        match blob.body {
            Body::Inline(_) => None,
            Body::Whole { content } => Some(Self::Content { id: content, length: blob.stored_length() }),
            Body::Pieces { layout, .. } => Some(Self::Layout { id: layout }),
            Body::Pages(ref body) => Some(Self::Pages { layer: body.top }).filter(|_| body.top != 0),
        }
    }

    /// The entries of a blob's tags in the index.
    pub(in crate::blob) fn tags_of(blob: &Blob) -> Option<Self> {
        (blob.tag_number != 0).then(|| Self::Tags { number: blob.tag_number, tags: blob.tags.clone() })
    }
}

/// A blob, and the records and contents of it that may have to be reclaimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IntentRecord {
    pub(super) container_id: u64,
    pub(super) name: String,
    pub(super) reclaimables: Vec<Reclaimable>,
}

impl IntentRecord {
    pub(super) fn encode(&self) -> Bytes {
        let mut out = FieldWriter::new(FORMAT);
        out.number(self.container_id);
        out.text(&self.name);
        out.number(self.reclaimables.len() as u64);
        for reclaimable in &self.reclaimables {
            let (kind, id, size) = match reclaimable {
                Reclaimable::Content { id, length } => (1, *id, *length),
                Reclaimable::Layout { id } => (2, *id, 0),
                Reclaimable::Tags { number, .. } => (3, *number, 0),
                Reclaimable::Pages { layer } => (4, *layer, 0),
            };
            out.byte(kind);
            out.number(id);
            out.number(size);
            if let Reclaimable::Tags { tags, .. } = reclaimable {
                out.pairs(tags.pairs());
            }
        }
        out.finish()
    }

    pub(super) fn decode(record: &Bytes) -> Result<Self> {
        let mut fields = FieldReader::new(record, FORMAT, "a reclaim intent")?;
        let (container_id, name) = (fields.number()?, fields.text()?);
        let mut reclaimables = Vec::new();
        for _ in 0..fields.count()? {
            let (kind, id, size) = (fields.byte()?, fields.number()?, fields.number()?);
            reclaimables.push(match kind {
                1 => Reclaimable::Content { id, length: size },
                2 => Reclaimable::Layout { id },
                3 => {
                    let tags = Tags::new(fields.pairs()?).map_err(|_| fields.corrupt())?;
                    Reclaimable::Tags { number: id, tags }
                }
                4 => Reclaimable::Pages { layer: id },
                _ => return Err(fields.corrupt()),
            });
        }
        fields.finish()?;
        Ok(Self { container_id, name, reclaimables })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_intent_comes_back_as_it_was() {
        let reclaimables = vec![
            Reclaimable::Content { id: 7, length: u64::MAX },
            Reclaimable::Tags { number: 8, tags: Tags::parse_header("a=1&b=").unwrap() },
            Reclaimable::Layout { id: 300 },
            Reclaimable::Pages { layer: 301 },
        ];
        let intent = IntentRecord { container_id: 3, name: "a/é".to_owned(), reclaimables };
        let record = intent.encode();
        assert_eq!(IntentRecord::decode(&record).unwrap(), intent);
        assert!(IntentRecord::decode(&record.slice(..record.len() - 1)).is_err());
    }
}
