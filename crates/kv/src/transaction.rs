//! The input and output of one decision: the values of the declared keys, and the writes so far.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use bytes::Bytes;

use crate::{Commit, Error, Result};

/// One run of a decision inside [`Store::transact`](crate::Store::transact).
#[derive(Debug)]
pub struct Transaction {
    /// The declared keys in order, each once.
    reads: Vec<Read>,
    /// Writes to keys that were not declared: nothing is expected of what was there before.
    blind: BTreeMap<Bytes, Option<Bytes>>,
    /// The first key that was read without being declared, if the decision made that mistake.
    undeclared: OnceCell<Bytes>,
}

#[derive(Debug)]
struct Read {
    key: Bytes,
    seen: Option<Bytes>,
    written: Option<Option<Bytes>>,
}

impl Transaction {
    /// `keys` are sorted and unique, `values` in the same order.
    pub(crate) fn new(keys: &[Bytes], values: Vec<Option<Bytes>>) -> Self {
        debug_assert!(keys.is_sorted() && keys.len() == values.len());
        let reads = std::iter::zip(keys, values).map(|(key, seen)| Read { key: key.clone(), seen, written: None });
        Self { reads: reads.collect(), blind: BTreeMap::new(), undeclared: OnceCell::new() }
    }

    /// The value of a declared key, with the writes of this transaction applied.
    ///
    /// A key that was neither declared nor written here was never read, so it shows no value, and the whole
    /// transaction fails with [`Invalid`](crate::ErrorKind::Invalid) whatever is decided.
    pub fn get(&self, key: &[u8]) -> Option<&Bytes> {
        match self.find(key) {
            Ok(at) => self.reads[at].written.as_ref().unwrap_or(&self.reads[at].seen).as_ref(),
            Err(_) => self.blind.get(key).map(Option::as_ref).unwrap_or_else(|| {
                self.undeclared.get_or_init(|| Bytes::copy_from_slice(key));
                None
            }),
        }
    }

    /// Puts a value, declared or not. The last write to a key counts.
    pub fn put(&mut self, key: impl Into<Bytes>, value: impl Into<Bytes>) {
        self.write(key.into(), Some(value.into()));
    }

    /// Deletes a record; deleting what is not there is fine.
    pub fn delete(&mut self, key: impl Into<Bytes>) {
        self.write(key.into(), None);
    }

    fn write(&mut self, key: Bytes, value: Option<Bytes>) {
        match self.find(&key) {
            Ok(at) => self.reads[at].written = Some(value),
            Err(_) => drop(self.blind.insert(key, value)),
        }
    }

    fn find(&self, key: &[u8]) -> Result<usize, usize> {
        self.reads.binary_search_by(|read| read.key[..].cmp(key))
    }

    /// The commit that makes the decision true: what it saw still holds, and what it wants is written. A refused
    /// decision wants nothing.
    pub(crate) fn into_commit(self, partition: Bytes, accepted: bool) -> Result<Commit> {
        if let Some(key) = self.undeclared.into_inner() {
            let key = key.escape_ascii();
            return Err(Error::invalid(format!("key \"{key}\" was read in a transaction that did not declare it")));
        }
        let mut commit = Commit { partition, ..Commit::default() };
        commit.expected.reserve_exact(self.reads.len());
        for Read { key, seen, written } in self.reads {
            if let (true, Some(value)) = (accepted, written) {
                commit.writes.push((key.clone(), value));
            }
            commit.expected.push((key, seen));
        }
        if accepted {
            commit.writes.extend(self.blind);
        }
        Ok(commit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transaction() -> Transaction {
        Transaction::new(&[Bytes::from("a"), Bytes::from("b")], vec![Some(Bytes::from("1")), None])
    }

    #[test]
    fn a_transaction_sees_its_own_writes() {
        let mut tx = transaction();
        tx.delete("a");
        tx.put("b", "2");
        tx.put("blind", "3");
        assert_eq!(tx.get(b"a"), None);
        assert_eq!(tx.get(b"b"), Some(&Bytes::from("2")));
        assert_eq!(tx.get(b"blind"), Some(&Bytes::from("3")));
        let commit = tx.into_commit(Bytes::new(), true).unwrap();
        assert_eq!(commit.expected, [(Bytes::from("a"), Some(Bytes::from("1"))), (Bytes::from("b"), None)]);
        assert_eq!(commit.writes.len(), 3);
    }

    #[test]
    fn a_refused_decision_expects_but_writes_nothing() {
        let mut tx = transaction();
        tx.put("a", "2");
        let commit = tx.into_commit(Bytes::new(), false).unwrap();
        assert_eq!((commit.expected.len(), commit.writes.len()), (2, 0));
    }

    #[test]
    fn reading_an_undeclared_key_is_reported_by_name() {
        let tx = transaction();
        assert_eq!(tx.get(b"z"), None);
        let error = tx.into_commit(Bytes::new(), true).unwrap_err();
        assert!(error.message().contains("key \"z\""), "{error}");
    }
}
