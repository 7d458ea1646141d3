//! Verifies and rebuilds the indexes of an [`IndexedTable`] over existing data.

use tablerock_client::{Entity, Error, Result, TableEntity};

use crate::copies;
use crate::index_report::{Checked, IndexProblem, IndexProblemKind, IndexReport};
use crate::indexed_table::{EntryState, IndexStore, IndexedTable};
use crate::indexes::IndexValue;
use crate::optimistic::Attempts;

impl<T: TableEntity + Send + 'static, S: IndexStore> IndexedTable<T, S> {
    /// Compares all entities with their index entries, and all entries with their entities. It changes nothing, and
    /// its memory does not grow with the table.
    ///
    /// A change in progress, or an intent that no worker has resumed yet, counts as a problem.
    pub async fn verify(&self) -> Result<IndexReport> {
        self.check(false).await
    }

    /// Verifies the indexes and mends them, for a new index over existing entities or after a restore. Returns the
    /// problems that it found. It is idempotent and may run while writers do; after an interruption, run it again.
    #[doc(alias = "reindex")]
    #[doc(alias = "repair")]
    pub async fn rebuild(&self) -> Result<IndexReport> {
        self.check(true).await
    }

    async fn check(&self, mends: bool) -> Result<IndexReport> {
        let mut report = IndexReport::default();
        let entities = self.table.query::<Entity>().stream();
        let store = self.store.for_checks();
        report.add_all(entities, |entity| self.check_entity(&store, entity, mends)).await?;
        let entries = self.store.entries();
        report.add_all(entries, |(at, keys)| self.check_entry(at, keys, mends)).await?;
        Ok(report)
    }

    /// Compares the index entries of an entity with it. If the entity has changed meanwhile, compares again.
    async fn check_entity(&self, store: &S, entity: Entity, mends: bool) -> Result<Checked> {
        if copies::is_copy(&entity) {
            return Ok(Checked::default());
        }
        let keys = (entity.partition_key.clone(), entity.row_key.clone());
        let mut current = Some(entity);
        let mut attempts = Attempts::new("the entity");
        while let Some(entity) = current {
            let (values, problems) = match self.problems(store, &entity).await {
                Ok(found) => found,
                Err(Error::Entity(_) | Error::Invalid(_)) => return Ok(unreadable(keys)),
                Err(error) => return Err(error),
            };
            let now = match problems.is_empty() {
                true => None,
                false => self.read(&keys.0, &keys.1).await?,
            };
            let is_same = now.as_ref().is_some_and(|now| now.etag == entity.etag);
            if problems.is_empty() || is_same {
                if mends && !problems.is_empty() {
                    self.mend(keys, values).await?;
                }
                return Ok(Checked { entities: 1, entries: 0, problems });
            }
            current = now;
            attempts.retry().await?;
        }
        Ok(Checked::default())
    }

    /// Returns the index values of an entity, and the problems of its entries.
    async fn problems(&self, store: &S, entity: &Entity) -> Result<(Vec<IndexValue>, Vec<IndexProblem>)> {
        let values = self.indexes.values_of(entity)?;
        let mut problems = Vec::new();
        for at in &values {
            store.check(at, entity)?;
            let kind = match store.state(at, entity).await? {
                EntryState::Current => continue,
                EntryState::Stale => IndexProblemKind::Stale,
                EntryState::Missing => IndexProblemKind::Missing,
            };
            let (partition_key, row_key) = (entity.partition_key.clone(), entity.row_key.clone());
            problems.push(IndexProblem { kind, partition_key, row_key, value: Some(at.clone()) });
        }
        Ok((values, problems))
    }

    /// Checks that the entity of an index entry has the value.
    async fn check_entry(&self, at: IndexValue, keys: (String, String), mends: bool) -> Result<Checked> {
        let entity = self.read(&keys.0, &keys.1).await?;
        let has_value = match entity.map(|entity| self.indexes.values_of(&entity)) {
            None => false,
            Some(Ok(values)) => values.contains(&at),
            // Counted with the entity.
            Some(Err(_)) => true,
        };
        let mut checked = Checked { entries: 1, ..Checked::default() };
        if !has_value {
            let (partition_key, row_key) = keys.clone();
            let value = Some(at.clone());
            checked.problems.push(IndexProblem { kind: IndexProblemKind::Dangling, partition_key, row_key, value });
            if mends {
                self.mend(keys, vec![at]).await?;
            }
        }
        Ok(checked)
    }
}

pub(crate) fn unreadable((partition_key, row_key): (String, String)) -> Checked {
    let kind = IndexProblemKind::Unreadable;
    Checked { entities: 1, entries: 0, problems: vec![IndexProblem { kind, partition_key, row_key, value: None }] }
}
