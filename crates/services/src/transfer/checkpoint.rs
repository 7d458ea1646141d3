//! The checkpoint of a copy, in the store that it goes to: an interrupted copy resumes from there.
//!
//! ```text
//! checkpoint := format (1 byte, 2) · (up (8 bytes) · count (8 bytes))* five times
//!         · length of the source's name (4 bytes) · name · mark (8 bytes)* nine times · records (8 bytes) · bytes (8 bytes)
//!         · kind (1 byte) · id (8 bytes) · length of the partition (4 bytes) · partition · key
//! ```
//!
//! Format 1 had neither name nor mark: a copy cannot resume from it, but can be given up.

use tablerock_kv::{Bytes, Position, Result, Store};

use super::renumbering::{Renumbering, Shift};
use super::source::Source;
use crate::fields::{FieldReader, FieldWriter};
use crate::keys;
use crate::namespace::Namespace;

const FORMAT: u8 = 2;
const FORMAT_WITHOUT_SOURCE: u8 = 1;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Checkpoint {
    pub(super) source: Source,
    pub(super) renumbering: Renumbering,
    /// The records copied so far.
    pub(super) records: u64,
    pub(super) bytes: u64,
    /// The range being copied, by its kind and its id in the old store, and the position to go on from in the old store.
    pub(super) kind: Namespace,
    pub(super) id: u64,
    pub(super) position: Position,
}

impl Checkpoint {
    pub(super) fn new(source: Source, renumbering: Renumbering) -> Self {
        let position = Position::new(Bytes::new(), Bytes::new());
        Self { source, renumbering, records: 0, bytes: 0, kind: Namespace::Tables, id: 0, position }
    }

    pub(super) async fn read(to: &Store, account: &str) -> Result<Option<Self>> {
        let note = to.get(&keys::system_partition(), &keys::copy_checkpoint_key(account)).await?;
        note.as_ref().map(Self::decode).transpose()
    }

    pub(super) async fn save(&self, to: &Store, account: &str) -> Result<()> {
        let (key, value) = (keys::copy_checkpoint_key(account), self.encode());
        to.write(&keys::system_partition(), |tx| tx.put(key.clone(), value.clone())).await
    }

    pub(super) async fn remove(to: &Store, account: &str) -> Result<()> {
        let key = keys::copy_checkpoint_key(account);
        to.write(&keys::system_partition(), |tx| tx.delete(key.clone())).await
    }

    fn encode(&self) -> Bytes {
        let mut out = FieldWriter::new(FORMAT);
        for Shift { up, count } in self.renumbering.shifts() {
            out.ticks(up);
            out.ticks(count);
        }
        out.sized(self.source.name.as_bytes());
        self.source.mark.iter().for_each(|number| out.ticks(*number));
        out.ticks(self.records);
        out.ticks(self.bytes);
        out.byte(match self.kind {
            Namespace::Tables => 0,
            Namespace::Queues => 1,
            Namespace::Containers => 2,
        });
        out.ticks(self.id);
        out.sized(&self.position.partition);
        out.raw(&self.position.key);
        out.finish()
    }

    fn decode(record: &Bytes) -> Result<Self> {
        let has_source = record.first() != Some(&FORMAT_WITHOUT_SOURCE);
        let format = if has_source { FORMAT } else { FORMAT_WITHOUT_SOURCE };
        let mut fields = FieldReader::new(record, format, "the checkpoint of a copy")?;
        let mut shifts = [Shift::default(); 5];
        for shift in &mut shifts {
            *shift = Shift { up: fields.ticks()?, count: fields.ticks()? };
        }
        let mut source = Source::default();
        if has_source {
            source.name = String::from_utf8(fields.sized()?.to_vec()).map_err(|_| fields.corrupt())?;
            for number in &mut source.mark {
                *number = fields.ticks()?;
            }
        }
        let (records, bytes) = (fields.ticks()?, fields.ticks()?);
        let kind = fields.byte()?;
        let kind = *Namespace::ALL.get(usize::from(kind)).ok_or_else(|| fields.corrupt())?;
        let (id, partition) = (fields.ticks()?, fields.sized()?);
        let position = Position::new(partition, fields.rest());
        Ok(Self { source, renumbering: Renumbering::from_shifts(shifts), records, bytes, kind, id, position })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_comes_back_as_it_was() {
        let shift = |up| Shift { up, count: up * 3 };
        let renumbering = Renumbering::from_shifts([1, 2, 64, 4, u64::MAX / 3].map(shift));
        let position = Position::new(b"part".to_vec(), b"key".to_vec());
        let source = Source { name: "a folder".to_owned(), mark: [3, 1, 4, 1, 5, 9, 2, 6, 5] };
        let note = Checkpoint { source, renumbering, records: 7, bytes: 8, kind: Namespace::Queues, id: 9, position };
        let encoded = note.encode();
        assert_eq!(Checkpoint::decode(&encoded).unwrap(), note);
        for length in 0..encoded.len() - 7 {
            assert!(Checkpoint::decode(&encoded.slice(..length)).is_err(), "{length}");
        }
    }

    #[test]
    fn a_note_of_the_first_format_tells_what_to_give_back() {
        let renumbering = Renumbering::from_shifts([Shift { up: 4, count: 5 }; 5]);
        let note = Checkpoint::new(Source::default(), renumbering);
        let mut encoded = note.encode().to_vec();
        encoded.drain(1 + 5 * 16..1 + 5 * 16 + 4 + 9 * 8);
        encoded[0] = FORMAT_WITHOUT_SOURCE;
        let decoded = Checkpoint::decode(&encoded.into()).unwrap();
        assert_eq!((decoded.renumbering, decoded.source), (renumbering, Source::default()));
    }
}
