//! The ids that tables had when they were last looked up, on a store that servers share.
//!
//! A hint is never trusted. It locates an entity if the table is still the same, so that the entity and the table's row
//! in the directory can be read together; the row then confirms the hint.

use std::collections::HashMap;

use parking_lot::RwLock;

use super::table_id_cache::key;

/// Beyond this many tables, all hints are dropped.
const TABLES_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct TableIdHints(RwLock<HashMap<String, u64>>);

impl TableIdHints {
    pub(super) fn get(&self, account: &str, table: &str) -> Option<u64> {
        self.0.read().get(&key(account, table)).copied()
    }

    /// Keeps what the directory has: an id, or no such table.
    pub(super) fn keep(&self, account: &str, table: &str, id: Option<u64>) {
        let key = key(account, table);
        let mut tables = self.0.write();
        match id {
            Some(id) => {
                if tables.len() >= TABLES_MAX && !tables.contains_key(&key) {
                    tables.clear();
                }
                tables.insert(key, id);
            }
            None => drop(tables.remove(&key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_is_the_last_id_that_was_read() {
        let tables = TableIdHints::default();
        assert_eq!(tables.get("account", "People"), None);
        for id in [Some(7), Some(8), None] {
            tables.keep("account", "People", id);
            assert_eq!(tables.get("account", "pEOPLE"), id);
            assert_eq!(tables.get("other", "People"), None);
        }
    }

    #[test]
    fn no_more_than_so_many_tables_are_remembered() {
        let tables = TableIdHints::default();
        for number in 0..=TABLES_MAX {
            tables.keep("account", &format!("Table{number}"), Some(1));
        }
        assert!(tables.0.read().len() <= TABLES_MAX);
        assert_eq!(tables.get("account", &format!("Table{TABLES_MAX}")), Some(1));
    }
}
