//! The source of a copy, as its checkpoint remembers it: a copy resumes only from the same store, unchanged.

use std::fmt;
use std::sync::Arc;

use tablerock_kv::{Error, Result, Store};

use super::named_objects::NamedObject;
use super::renumbering::SEQUENCES;
use crate::fields::decode_number;
use crate::sharing::Sharing;
use crate::timestamps::ceiling_of;
use crate::{blob, keys, queue};

/// Numbers in a mark: two ceilings, the time of the queues, five sequences of ids, and the directories.
pub(super) const MARKS: usize = 9;

/// A store, and numbers that change when it is written to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Source {
    /// The name of the store, for people. Empty in checkpoints of the first format, which had none.
    pub(super) name: String,
    /// Most of these numbers are times of writing, so they also distinguish one store from another.
    pub(super) mark: [u64; MARKS],
}

impl Source {
    /// Reads the marks of a store from which an account is to be copied.
    pub(super) async fn look(from: &Store, name: &str, holdings: &[NamedObject]) -> Result<Self> {
        let mut mark = [0; MARKS];
        mark[0] = ceiling_of(from, crate::table::keys::TIMESTAMP_CEILING).await?;
        mark[1] = ceiling_of(from, blob::keys::TIMESTAMP_CEILING).await?;
        if Sharing::of(from).queue_time_marks_use() {
            mark[2] = number(from, queue::keys::QUEUE_TIME).await?;
        }
        for (place, (key, _)) in mark[3..].iter_mut().zip(SEQUENCES) {
            *place = number(from, key).await?;
        }
        mark[MARKS - 1] = digest(holdings);
        Ok(Self { name: name.to_owned(), mark })
    }

    /// Fails unless a copy from `noted` can resume from this store.
    pub(super) fn check_same(&self, noted: &Self, account: &str) -> Result<()> {
        let why = if noted.name.is_empty() {
            format!("an earlier version began the copy of {account}")
        } else if noted.name != self.name {
            format!("a copy of {account} from {} was begun there, and this one is from {}", noted.name, self.name)
        } else if noted.mark != self.mark {
            format!("{} was written to since the copy of {account} from there began", self.name)
        } else {
            return Ok(());
        };
        Err(SourceChanged::error(why))
    }
}

/// The reason for an error after which a copy cannot resume.
#[derive(Debug)]
pub(super) struct SourceChanged;

impl SourceChanged {
    pub(super) fn error(why: impl Into<Arc<str>>) -> Error {
        Error::invalid(why).with_source(Self)
    }
}

impl fmt::Display for SourceChanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the source is not as it was when the copy began")
    }
}

impl std::error::Error for SourceChanged {}

type SharedError = Arc<dyn std::error::Error + Send + Sync>;

/// Whether an unfinished copy cannot resume: [forget it](super::forget_copy) and copy again.
pub fn needs_start_over(error: &Error) -> bool {
    // An error of the store shares its source between clones.
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<SharedError>());
    source.is_some_and(|source| source.is::<SourceChanged>())
}

async fn number(store: &Store, key: &'static [u8]) -> Result<u64> {
    let stored = store.get(&keys::system_partition(), key).await?;
    stored.map_or(Ok(0), |bytes| decode_number(&bytes, "a number of the source"))
}

/// FNV-1a: stable across versions. It does not have to resist an attacker.
fn digest(holdings: &[NamedObject]) -> u64 {
    let add = |hash: u64, bytes: &[u8]| {
        let sized = (bytes.len() as u64).to_be_bytes();
        let bytes = sized.iter().chain(bytes);
        bytes.fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
    };
    holdings.iter().fold(0xcbf2_9ce4_8422_2325, |hash, object| add(add(hash, &object.key), &object.row))
}
