//! The ids that names led to when they were last looked up, on a store that servers share.
//!
//! A hint is never trusted. It locates a record if the name still leads to the same object, so that the record and the row of
//! the name can be read together; the row then confirms the hint.

use std::collections::HashMap;

use parking_lot::RwLock;

/// Beyond this many names, all hints are dropped.
const NAMES_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct IdHints(RwLock<HashMap<String, u64>>);

impl IdHints {
    pub(super) fn get(&self, account: &str, name: &str) -> Option<u64> {
        self.0.read().get(&key(account, name)).copied()
    }

    /// Keeps what the directory has: an id, or no such name.
    pub(super) fn keep(&self, account: &str, name: &str, id: Option<u64>) {
        let key = key(account, name);
        let mut names = self.0.write();
        match id {
            Some(id) => {
                if names.len() >= NAMES_MAX && !names.contains_key(&key) {
                    names.clear();
                }
                names.insert(key, id);
            }
            None => drop(names.remove(&key)),
        }
    }
}

/// No account has this character in its name.
fn key(account: &str, name: &str) -> String {
    [account, ":", name].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_is_the_last_id_that_was_read() {
        let tables = IdHints::default();
        assert_eq!(tables.get("account", "people"), None);
        for id in [Some(7), Some(8), None] {
            tables.keep("account", "people", id);
            assert_eq!(tables.get("account", "people"), id);
            assert_eq!(tables.get("other", "people"), None);
        }
    }

    #[test]
    fn no_more_than_so_many_names_are_remembered() {
        let tables = IdHints::default();
        for number in 0..=NAMES_MAX {
            tables.keep("account", &format!("Table{number}"), Some(1));
        }
        assert!(tables.0.read().len() <= NAMES_MAX);
        assert_eq!(tables.get("account", &format!("Table{NAMES_MAX}")), Some(1));
    }
}
