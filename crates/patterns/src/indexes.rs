//! The indexes of a table: names, and functions from an entity to its values.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tablerock_client::{Entity, Error, Result, TableEntity};

/// A value of an index, such as `jones` of `last_name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct IndexValue {
    /// The name of the index.
    pub index: String,
    /// The value.
    pub value: String,
}

impl IndexValue {
    /// Returns a value of an index.
    pub fn new(index: impl Into<String>, value: impl Into<String>) -> Self {
        Self { index: index.into(), value: value.into() }
    }
}

impl fmt::Display for IndexValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.index, self.value)
    }
}

type Values<T> = dyn Fn(&T) -> Vec<String> + Send + Sync;

pub(crate) struct Indexes<T> {
    indexes: Vec<(String, Arc<Values<T>>)>,
}

impl<T: TableEntity> Indexes<T> {
    pub(crate) fn new() -> Self {
        Self { indexes: Vec::new() }
    }

    pub(crate) fn add<V: IntoIterator<Item = String>>(
        &mut self,
        name: impl Into<String>,
        values: impl Fn(&T) -> V + Send + Sync + 'static,
    ) {
        self.indexes.push((name.into(), Arc::new(move |entity| values(entity).into_iter().collect())));
    }

    /// Returns the values of an entity, without duplicates. An empty one is a mistake: all entities without a value
    /// would have it.
    pub(crate) fn values(&self, entity: &T) -> Result<Vec<IndexValue>> {
        let mut all = Vec::new();
        for (index, values) in &self.indexes {
            for value in values(entity) {
                if value.is_empty() {
                    return Err(Error::Invalid(format!(
                        "the index {index} has an empty value: return None for an entity without a value"
                    )));
                }
                all.push(IndexValue { index: index.clone(), value });
            }
        }
        all.sort();
        all.dedup();
        Ok(all)
    }

    /// Returns the values of an entity as it is stored.
    pub(crate) fn values_of(&self, entity: &Entity) -> Result<Vec<IndexValue>> {
        let keys = (entity.partition_key.clone(), entity.row_key.clone());
        let typed = T::from_entity(entity.clone()).map_err(|error| error.with_keys(&keys.0, &keys.1))?;
        self.values(&typed)
    }

    /// Checks the name of an index before a search.
    pub(crate) fn check(&self, index: &str) -> Result<()> {
        let names: Vec<&str> = self.indexes.iter().map(|(name, _)| name.as_str()).collect();
        if names.contains(&index) {
            return Ok(());
        }
        Err(Error::Invalid(format!("the table has no index {index:?}: its indexes are {}", names.join(", "))))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.indexes.iter().map(|(name, _)| name.as_str())
    }
}

impl<T> fmt::Debug for Indexes<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.indexes.iter().map(|(name, _)| name)).finish()
    }
}

// A derived Clone would require T: Clone.
impl<T> Clone for Indexes<T> {
    fn clone(&self) -> Self {
        Self { indexes: self.indexes.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indexes() -> Indexes<Entity> {
        let mut indexes = Indexes::<Entity>::new();
        indexes.add("email", |entity| entity.property::<Option<String>>("Email").ok().flatten());
        indexes.add("tag", |entity| vec![entity.row_key.clone(), entity.row_key.clone()]);
        indexes
    }

    #[test]
    fn an_entity_has_the_values_of_all_indexes_once() {
        let values = indexes().values(&Entity::new("p", "r").with("Email", "a")).unwrap();
        assert_eq!(values, [IndexValue::new("email", "a"), IndexValue::new("tag", "r")]);
        assert_eq!(indexes().values(&Entity::new("p", "r")).unwrap(), [IndexValue::new("tag", "r")]);
    }

    #[test]
    fn empty_values_and_unknown_names_are_rejected() {
        assert!(indexes().values(&Entity::new("p", "r").with("Email", "")).is_err());
        assert!(indexes().check("email").is_ok());
        let error = indexes().check("emial").unwrap_err().to_string();
        assert!(error.contains("emial") && error.contains("email, tag"), "{error}");
    }
}
