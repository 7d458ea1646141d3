//! Where a copy comes from, as its note remembers it: so that it goes on from the same store only, as it was.

use tablerock_kv::{Error, Result, Store};

use super::named_objects::NamedObject;
use super::renumbering::SEQUENCES;
use crate::sharing::Sharing;
use crate::timestamps::ceiling_of;
use crate::{blob, keys, queue};

/// Numbers in a mark: two ceilings, the time of the queues, five sequences of ids, and the directories.
pub(super) const MARKS: usize = 9;

/// A store, and what tells that it has been written to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Source {
    /// What the store is called, for people. Empty in notes of the first format, which had none.
    pub(super) name: String,
    /// Numbers that change when something is written. They are times of writing for the most part, so they also tell one store
    /// from another.
    pub(super) mark: [u64; MARKS],
}

impl Source {
    /// Looks at a store from which an account is to be copied.
    pub(super) async fn look(from: &Store, name: &str, holdings: &[NamedObject]) -> Result<Self> {
        let mut mark = [0; MARKS];
        mark[0] = ceiling_of(from, crate::table::keys::TIMESTAMP_CEILING).await?;
        mark[1] = ceiling_of(from, blob::keys::TIMESTAMP_CEILING).await?;
        // Servers that share a store save the time while they do nothing else; one that has a store for itself has to have run.
        if Sharing::of(from).queue_time_marks_use() {
            mark[2] = number(from, queue::keys::QUEUE_TIME).await?;
        }
        for (place, (key, _)) in mark[3..].iter_mut().zip(SEQUENCES) {
            *place = number(from, key).await?;
        }
        mark[MARKS - 1] = digest(holdings);
        Ok(Self { name: name.to_owned(), mark })
    }

    /// Fails unless a copy from `noted` can go on from here.
    pub(super) fn check_same(&self, noted: &Self, account: &str) -> Result<()> {
        let why = if noted.name.is_empty() {
            format!("a copy of {account} was begun there by an earlier version")
        } else if noted.name != self.name {
            format!("a copy of {account} from {} was begun there, and this one is from {}", noted.name, self.name)
        } else if noted.mark != self.mark {
            format!("{} was written to since the copy of {account} from there was begun", self.name)
        } else {
            return Ok(());
        };
        Err(Error::invalid(format!("{why}: copy with --start-over, which gives back what has arrived and begins anew")))
    }
}

async fn number(store: &Store, key: &'static [u8]) -> Result<u64> {
    let stored = store.get(&keys::system_partition(), key).await?;
    stored.map_or(Ok(0), |bytes| super::renumbering::decode(&bytes))
}

/// FNV-1a: the same in every version, and there is nobody to guard against.
fn digest(holdings: &[NamedObject]) -> u64 {
    let add = |hash: u64, bytes: &[u8]| {
        let sized = (bytes.len() as u64).to_be_bytes();
        let bytes = sized.iter().chain(bytes);
        bytes.fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
    };
    holdings.iter().fold(0xcbf2_9ce4_8422_2325, |hash, object| add(add(hash, &object.key), &object.row))
}
