//! New numbers for what comes from another store: each moved up by what the new store had given out before, so that none is
//! there twice.

use tablerock_kv::key::{KeyBuilder, KeyReader};
use tablerock_kv::{Bytes, Error, Record, Result, Store, Transaction};

use super::source::SourceChanged;
use crate::fields::decode_number;
use crate::namespace::Namespace;
use crate::{blob, keys, queue};

/// A message's number decides in which part of its queue's count it is counted, and must go on doing so.
const MESSAGE_STEP: u64 = queue::COUNT_PARTS;

/// The sequences that are moved, in the order in which they are stored in a checkpoint.
pub(super) const SEQUENCES: [(&[u8], u64); 5] = [
    (crate::table::keys::NEXT_TABLE_ID, 1),
    (queue::keys::NEXT_QUEUE_ID, 1),
    (queue::keys::NEXT_MESSAGE_NUMBER, MESSAGE_STEP),
    (blob::keys::NEXT_CONTAINER_ID, 1),
    (blob::keys::NEXT_CONTENT_ID, 1),
];

/// How far the numbers of one sequence are moved up, and how many of them were reserved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Shift {
    pub(super) up: u64,
    pub(super) count: u64,
}

impl Shift {
    /// The new number. A number that is not among those reserved was given out since.
    pub(super) fn apply(self, number: u64) -> Result<u64> {
        if number < self.count {
            return Ok(self.up + number);
        }
        Err(SourceChanged::error("the source is being written to: stop all writers there first"))
    }

    /// Whether a number in the new store is one of those reserved.
    pub(super) fn has_given(self, number: u64) -> bool {
        number.checked_sub(self.up).is_some_and(|number| number < self.count)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Renumbering {
    pub(super) tables: Shift,
    pub(super) queues: Shift,
    pub(super) messages: Shift,
    pub(super) containers: Shift,
    pub(super) contents: Shift,
}

impl Renumbering {
    /// Reserves as many numbers in the new store as the old one has given out.
    pub(super) async fn reserve(from: &Store, to: &Store) -> Result<Self> {
        let mut shifts = [Shift::default(); SEQUENCES.len()];
        for ((key, step), shift) in SEQUENCES.into_iter().zip(&mut shifts) {
            let count = from
                .get(&keys::system_partition(), key)
                .await?
                .map_or(Ok(0), |bytes| decode_number(&bytes, "the next id"))?;
            *shift = reserve(to, key, count, step).await?;
        }
        Ok(Self::from_shifts(shifts))
    }

    pub(super) fn shifts(&self) -> [Shift; 5] {
        [self.tables, self.queues, self.messages, self.containers, self.contents]
    }

    pub(super) fn from_shifts([tables, queues, messages, containers, contents]: [Shift; 5]) -> Self {
        Self { tables, queues, messages, containers, contents }
    }

    fn of(&self, kind: Namespace) -> Shift {
        match kind {
            Namespace::Tables => self.tables,
            Namespace::Queues => self.queues,
            Namespace::Containers => self.containers,
        }
    }

    /// Whether an id in the new store belongs to an object that this copy has brought there.
    pub(super) fn is_new_id(&self, kind: Namespace, id: u64) -> bool {
        self.of(kind).has_given(id)
    }

    /// The new id of a table, queue or container.
    pub(super) fn id(&self, kind: Namespace, id: u64) -> Result<u64> {
        self.of(kind).apply(id)
    }

    /// A record as the new store has it.
    pub(super) fn record(&self, kind: Namespace, record: Record) -> Result<Record> {
        let partition = self.partition(kind, &record.partition)?;
        let Record { key, value, .. } = record;
        let (key, value) = match kind {
            Namespace::Tables => (key, value),
            Namespace::Queues => (queue::renumbered_key(&key, |number| self.messages.apply(number))?, value),
            Namespace::Containers => blob::renumbered(&key, &value, |content| self.contents.apply(content))?,
        };
        Ok(Record { partition, key, value })
    }

    /// Behind the tag, every partition begins with the id of what it belongs to.
    fn partition(&self, kind: Namespace, partition: &[u8]) -> Result<Bytes> {
        let mut pieces = KeyReader::new(partition);
        let (tag, id) = (pieces.tag()?, pieces.number()?);
        Ok(KeyBuilder::with_capacity(partition.len() + 9).tag(tag).number(self.id(kind, id)?).tail(pieces.tail()))
    }
}

/// Takes numbers from a sequence. What has given out none yet begins with the same numbers as the old store.
async fn reserve(to: &Store, key: &'static [u8], count: u64, step: u64) -> Result<Shift> {
    let key = Bytes::from_static(key);
    let decide = |tx: &mut Transaction| {
        let up = tx.get(&key).map_or(Ok(0), |bytes| decode_number(bytes, "the next id"))?.next_multiple_of(step);
        let end = up.checked_add(count).ok_or_else(|| Error::corrupt("the next id is after the last one"))?;
        if count > 0 {
            tx.put(key.clone(), end.to_be_bytes().to_vec());
        }
        Ok(Shift { up, count })
    };
    to.transact(&keys::system_partition(), vec![key.clone()], decide).await
}
