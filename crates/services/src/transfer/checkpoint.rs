//! How far a copy has come, noted in the store that it goes to: a copy that was cut off goes on from there.
//!
//! ```text
//! note := format (1 byte, 2) · (up (8 bytes) · count (8 bytes))* five times
//!         · length of the source's name (4 bytes) · name · mark (8 bytes)* nine times · records (8 bytes) · bytes (8 bytes)
//!         · kind (1 byte) · id (8 bytes) · length of the partition (4 bytes) · partition · key
//! ```
//!
//! Format 1 had neither name nor mark: a copy cannot go on from such a note, but can be given up.

use tablerock_kv::{Bytes, Error, Position, Result, Store};

use super::renumbering::{Renumbering, Shift};
use super::source::Source;
use crate::keys;
use crate::namespace::Namespace;

const FORMAT: u8 = 2;
const FORMAT_WITHOUT_SOURCE: u8 = 1;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Checkpoint {
    pub(super) source: Source,
    pub(super) renumbering: Renumbering,
    /// What was copied so far.
    pub(super) records: u64,
    pub(super) bytes: u64,
    /// What is being copied, by its kind and its id in the old store, and from where on in the old store.
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
        note.map(|bytes| Self::decode(&bytes).ok_or_else(|| Error::corrupt("the note about a copy cannot be read")))
            .transpose()
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
        let mut out = vec![FORMAT];
        for Shift { up, count } in self.renumbering.shifts() {
            out.extend_from_slice(&up.to_be_bytes());
            out.extend_from_slice(&count.to_be_bytes());
        }
        append_sized(&mut out, self.source.name.as_bytes());
        self.source.mark.iter().for_each(|number| out.extend_from_slice(&number.to_be_bytes()));
        out.extend_from_slice(&self.records.to_be_bytes());
        out.extend_from_slice(&self.bytes.to_be_bytes());
        out.push(match self.kind {
            Namespace::Tables => 0,
            Namespace::Queues => 1,
            Namespace::Containers => 2,
        });
        out.extend_from_slice(&self.id.to_be_bytes());
        append_sized(&mut out, &self.position.partition);
        out.extend_from_slice(&self.position.key);
        out.into()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (&format @ (FORMAT | FORMAT_WITHOUT_SOURCE), mut rest) = bytes.split_first()? else { return None };
        let mut shifts = [Shift::default(); 5];
        for shift in &mut shifts {
            *shift = Shift { up: take_number(&mut rest)?, count: take_number(&mut rest)? };
        }
        let mut source = Source::default();
        if format == FORMAT {
            source.name = String::from_utf8(take_sized(&mut rest)?.to_vec()).ok()?;
            for number in &mut source.mark {
                *number = take_number(&mut rest)?;
            }
        }
        let (records, bytes) = (take_number(&mut rest)?, take_number(&mut rest)?);
        let (&kind, mut rest) = rest.split_first()?;
        let kind = *Namespace::ALL.get(usize::from(kind))?;
        let id = take_number(&mut rest)?;
        let partition = take_sized(&mut rest)?.to_vec();
        let position = Position::new(partition, rest.to_vec());
        Some(Self { source, renumbering: Renumbering::from_shifts(shifts), records, bytes, kind, id, position })
    }
}

fn append_sized(out: &mut Vec<u8>, bytes: &[u8]) {
    let length = u32::try_from(bytes.len()).expect("names and partitions have at most some kilobytes");
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(bytes);
}

fn take_sized<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk()?;
    let (bytes, after) = after.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
    *rest = after;
    Some(bytes)
}

fn take_number(rest: &mut &[u8]) -> Option<u64> {
    let (number, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u64::from_be_bytes(*number))
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
        assert_eq!(Checkpoint::decode(&encoded), Some(note));
        for length in 0..encoded.len() - 7 {
            assert_eq!(Checkpoint::decode(&encoded[..length]), None, "{length}");
        }
    }

    #[test]
    fn a_note_of_the_first_format_tells_what_to_give_back() {
        let renumbering = Renumbering::from_shifts([Shift { up: 4, count: 5 }; 5]);
        let note = Checkpoint::new(Source::default(), renumbering);
        let mut encoded = note.encode().to_vec();
        encoded.drain(1 + 5 * 16..1 + 5 * 16 + 4 + 9 * 8);
        encoded[0] = FORMAT_WITHOUT_SOURCE;
        let decoded = Checkpoint::decode(&encoded).unwrap();
        assert_eq!((decoded.renumbering, decoded.source), (renumbering, Source::default()));
    }
}
