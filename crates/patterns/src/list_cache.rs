//! Lists that a check of an index has read. Without it, a check reads a list once for each of its entities.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::indexes::IndexValue;

/// The number of ids in all lists of a cache, at most, unless one list has more.
const IDS_MAX: usize = 200_000;

/// Lists by their value. It forgets all of them when they have too many ids.
#[derive(Debug, Clone, Default)]
pub(crate) struct ListCache {
    lists: Arc<Mutex<Lists>>,
}

#[derive(Debug, Default)]
struct Lists {
    ids: usize,
    by_value: HashMap<IndexValue, Vec<String>>,
}

impl ListCache {
    /// Whether a list had an id when it was read.
    pub(crate) fn contains(&self, at: &IndexValue, id: &String) -> bool {
        let lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.by_value.get(at).is_some_and(|ids| ids.binary_search(id).is_ok())
    }

    pub(crate) fn insert(&self, at: &IndexValue, ids: Vec<String>) {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if lists.ids + ids.len() > IDS_MAX {
            *lists = Lists::default();
        }
        lists.ids += ids.len();
        let replaced = lists.by_value.insert(at.clone(), ids);
        lists.ids -= replaced.map_or(0, |ids| ids.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_forgotten_when_they_have_too_many_ids() {
        let cache = ListCache::default();
        let (small, large) = (IndexValue::new("i", "small"), IndexValue::new("i", "large"));
        let ids = |count: usize| (0..count).map(|id| format!("{id:06}")).collect::<Vec<_>>();
        cache.insert(&small, ids(10));
        cache.insert(&small, ids(20));
        assert!(cache.contains(&small, &"000019".to_owned()) && !cache.contains(&large, &"000019".to_owned()));
        cache.insert(&large, ids(IDS_MAX - 20));
        assert!(cache.contains(&small, &"000019".to_owned()));
        cache.insert(&IndexValue::new("i", "third"), ids(1));
        assert!(!cache.contains(&small, &"000019".to_owned()));
    }
}
