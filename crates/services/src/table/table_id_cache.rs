//! The cache of table ids, so that an operation on entities need not read the directory.
//!
//! Only tables that exist are cached, and only the deletion of a table ends that. A deletion is announced before its
//! commit, which removes the id and keeps it out until the outcome is known. If the outcome is never known, because the
//! request was interrupted, the table is looked up in the store from then on.

use std::collections::HashMap;

use parking_lot::RwLock;
use tablerock_kv::Store;

use crate::sharing::Sharing;

/// Beyond this many tables, the cache is emptied.
const TABLES_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct TableIdCache(RwLock<CachedIds>);

#[derive(Debug, Default)]
struct CachedIds {
    tables: HashMap<String, Entry>,
    /// The number of deletions that have begun. A lookup during which one began may have read a row that is gone.
    deletions: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    Id(u64),
    /// So many deletions are in progress, or were interrupted.
    Deleting(u32),
}

/// The outcome of a lookup.
pub(super) enum Lookup {
    Found(u64),
    Unknown(PendingLookup),
}

/// A lookup in the store whose result may be cached.
pub(super) struct PendingLookup {
    key: String,
    deletions: u64,
}

impl TableIdCache {
    /// Returns a cache, unless other servers write to the store.
    pub(super) fn of(store: &Store) -> Option<Self> {
        Sharing::of(store).cache(Self::default)
    }

    pub(super) fn look_up(&self, account: &str, table: &str) -> Lookup {
        let key = key(account, table);
        let cached = self.0.read();
        match cached.tables.get(&key) {
            Some(Entry::Id(id)) => Lookup::Found(*id),
            _ => Lookup::Unknown(PendingLookup { key, deletions: cached.deletions }),
        }
    }

    /// Adds what a lookup found in the store, unless a deletion has begun since.
    pub(super) fn remember(&self, lookup: PendingLookup, id: u64) {
        let mut cached = self.0.write();
        if cached.deletions != lookup.deletions || cached.tables.contains_key(&lookup.key) {
            return;
        }
        if cached.tables.len() >= TABLES_MAX {
            cached.tables.retain(|_, entry| matches!(entry, Entry::Deleting(_)));
        }
        cached.tables.insert(lookup.key, Entry::Id(id));
    }

    /// To be called before the commit of a deletion.
    pub(super) fn deletion_begins(&self, account: &str, table: &str) -> Deletion<'_> {
        let key = key(account, table);
        let mut cached = self.0.write();
        cached.deletions += 1;
        let in_progress = match cached.tables.get(&key) {
            Some(Entry::Deleting(others)) => others + 1,
            _ => 1,
        };
        cached.tables.insert(key.clone(), Entry::Deleting(in_progress));
        Deletion { tables: self, key }
    }
}

/// A deletion in progress.
#[must_use]
pub(super) struct Deletion<'a> {
    tables: &'a TableIdCache,
    key: String,
}

impl Deletion<'_> {
    /// Records that the outcome can be read in the store.
    pub(super) fn ended(self) {
        let mut cached = self.tables.0.write();
        match cached.tables.get_mut(&self.key) {
            Some(Entry::Deleting(others @ 2..)) => *others -= 1,
            _ => drop(cached.tables.remove(&self.key)),
        }
    }
}

/// Accounts' names have no colon.
pub(super) fn key(account: &str, table: &str) -> String {
    let mut key = String::with_capacity(account.len() + 1 + table.len());
    key.push_str(account);
    key.push(':');
    key.push_str(table);
    key.make_ascii_lowercase();
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(tables: &TableIdCache, table: &str) -> PendingLookup {
        match tables.look_up("account", table) {
            Lookup::Unknown(search) => search,
            Lookup::Found(id) => panic!("{table} is cached as {id}"),
        }
    }

    fn find(tables: &TableIdCache, table: &str) -> Option<u64> {
        match tables.look_up("account", table) {
            Lookup::Found(id) => Some(id),
            Lookup::Unknown(_) => None,
        }
    }

    #[test]
    fn a_table_is_known_in_every_spelling_once_it_was_found() {
        let tables = TableIdCache::default();
        tables.remember(search(&tables, "People"), 7);
        assert_eq!(
            (find(&tables, "People"), find(&tables, "pEOPLE"), find(&tables, "Peopl")),
            (Some(7), Some(7), None)
        );
    }

    #[test]
    fn what_was_read_before_a_deletion_is_not_remembered_after_it() {
        let tables = TableIdCache::default();
        let before = search(&tables, "People");
        let deletion = tables.deletion_begins("account", "people");
        tables.remember(before, 7);
        let during = search(&tables, "People");
        tables.remember(during, 7);
        assert_eq!(find(&tables, "People"), None);
        deletion.ended();
        assert_eq!(find(&tables, "People"), None);
        tables.remember(search(&tables, "People"), 8);
        assert_eq!(find(&tables, "People"), Some(8));
    }

    #[test]
    fn a_table_whose_deletion_was_cut_off_is_never_remembered() {
        let tables = TableIdCache::default();
        tables.remember(search(&tables, "People"), 7);
        drop(tables.deletion_begins("account", "People"));
        tables.deletion_begins("account", "People").ended();
        tables.remember(search(&tables, "People"), 7);
        assert_eq!(find(&tables, "People"), None);
    }

    #[test]
    fn no_more_than_so_many_tables_are_remembered() {
        let tables = TableIdCache::default();
        for number in 0..=TABLES_MAX {
            let name = format!("Table{number}");
            tables.remember(search(&tables, &name), 1);
        }
        assert!(tables.0.read().tables.len() <= TABLES_MAX);
        assert_eq!(find(&tables, &format!("Table{TABLES_MAX}")), Some(1));
    }
}
