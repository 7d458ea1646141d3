//! Layers: what each is above, and what it clears without a record for each segment.

use std::collections::BTreeMap;

use tablerock_kv::{Bytes, Result, Store};

use super::span::Span;
use crate::blob::keys;
use crate::fields::{FieldReader, FieldWriter};

const FORMAT: u8 = 1;

/// The description of a layer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Layer {
    /// The layer below; 0 for the lowest one.
    pub(super) below: u64,
    /// Whether a copy is still writing it: nothing refers to it yet, and only its own intent reclaims it.
    pub(super) is_arriving: bool,
    /// Whether it is being merged with the layer below, so that no layer above may be merged with it.
    pub(super) is_leaving: bool,
    /// Pages of the layers below that it hides, sorted and without overlaps. Its own segments are above that.
    pub(super) clears: Vec<Span>,
}

impl Layer {
    pub(super) fn encode(&self) -> Bytes {
        let mut out = FieldWriter::new(FORMAT);
        out.number(self.below);
        out.byte(u8::from(self.is_arriving) | u8::from(self.is_leaving) << 1);
        out.number(self.clears.len() as u64);
        for span in &self.clears {
            out.number(span.first);
            out.number(span.end);
        }
        out.finish()
    }

    pub(super) fn decode(record: &Bytes) -> Result<Self> {
        let mut fields = FieldReader::new(record, FORMAT, "the description of a layer")?;
        let below = fields.number()?;
        let flags = fields.byte()?;
        let (is_arriving, is_leaving) = (flags & 1 == 1, flags & 2 == 2);
        let count = fields.count()?;
        let clears = (0..count).map(|_| Ok(Span { first: fields.number()?, end: fields.number()? }));
        let clears = clears.collect::<Result<_>>()?;
        fields.finish()?;
        Ok(Self { below, is_arriving, is_leaving, clears })
    }
}

/// All layers of a blob, by their numbers.
pub(super) type Layers = BTreeMap<u64, Layer>;

pub(super) async fn read_layers(store: &Store, partition: &Bytes) -> Result<Layers> {
    let mut records = store.records(keys::layers(partition));
    let mut layers = Layers::new();
    while let Some(record) = records.next().await? {
        layers.insert(keys::place_in_layer(&record.key)?.0, Layer::decode(&record.value)?);
    }
    Ok(layers)
}

/// The layers from one down to the lowest, the newest first; `None` if one of them is gone.
pub(super) fn chain(layers: &Layers, top: u64) -> Option<Vec<(u64, Layer)>> {
    let mut found = Vec::new();
    let mut next = top;
    while next != 0 {
        let layer = layers.get(&next)?;
        // A chain of more layers than there are would be a circle.
        if found.len() == layers.len() {
            return None;
        }
        found.push((next, layer.clone()));
        next = layer.below;
    }
    Some(found)
}

/// Reads the layers from one down to the lowest. A layer that was merged meanwhile is `None`: the caller reads the blob
/// again.
pub(super) async fn read_chain(store: &Store, partition: &Bytes, top: u64) -> Result<Option<Vec<(u64, Layer)>>> {
    if top == 0 {
        return Ok(Some(vec![]));
    }
    Ok(chain(&read_layers(store, partition).await?, top))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_comes_back_as_it_was() {
        let layer =
            Layer { below: 300, is_arriving: true, is_leaving: true, clears: vec![Span { first: 1, end: 1 << 40 }] };
        let record = layer.encode();
        assert_eq!(Layer::decode(&record).unwrap(), layer);
        assert!(Layer::decode(&record.slice(..record.len() - 1)).is_err());
    }
}
