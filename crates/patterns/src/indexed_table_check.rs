//! Verifies and rebuilds the indexes of an [`IndexedTable`] over existing data.

use std::collections::BTreeMap;

use futures_util::stream;
use tablerock_client::{Entity, Error, Result, StreamExt as _, TableEntity, TryStreamExt as _};

use crate::copies;
use crate::index_report::{Checked, IndexProblem, IndexProblemKind, IndexReport};
use crate::indexed_table::{EntryState, IndexStore, IndexedTable};
use crate::indexes::IndexValue;
use crate::optimistic::Attempts;
use crate::verbs::index_check_verbs;

impl<T: TableEntity + Send + 'static, S: IndexStore> IndexedTable<T, S> {
    index_check_verbs!();

    async fn check(&self, mends: bool) -> Result<IndexReport> {
        let mut report = IndexReport::default();
        let store = self.store.for_checks();
        let mut pages = self.table.query::<Entity>().pages();
        while let Some(page) = pages.try_next().await? {
            let entities = stream::iter(page.items.into_iter().map(Ok)).boxed();
            let to_write = report.add_all(entities, |entity| self.check_entity(&store, entity)).await?;
            if mends {
                self.write_entries(to_write).await?;
            }
        }
        let entries = self.store.entries();
        report.add_all(entries, |(at, keys)| self.check_entry(at, keys, mends)).await?;
        Ok(report)
    }

    /// Compares the index entries of an entity with it. If the entity has changed meanwhile, compares again.
    async fn check_entity(&self, store: &S, entity: Entity) -> Result<Checked> {
        if copies::is_copy(&entity) {
            return Ok(Checked::default());
        }
        let keys = (entity.partition_key.clone(), entity.row_key.clone());
        let mut current = Some(entity);
        let mut attempts = Attempts::new("the entity");
        while let Some(entity) = current {
            let problems = match self.problems(store, &entity).await {
                Ok(problems) => problems,
                Err(Error::Entity(_) | Error::Invalid(_)) => return Ok(unreadable(keys)),
                Err(error) => return Err(error),
            };
            let now = match problems.is_empty() {
                true => None,
                false => self.read(&keys.0, &keys.1).await?,
            };
            let is_same = now.as_ref().is_some_and(|now| now.etag == entity.etag);
            if problems.is_empty() || is_same {
                let values = problems.iter().filter_map(|problem| problem.value.clone());
                let to_write = values.map(|at| (at, entity.clone())).collect();
                return Ok(Checked { entities: 1, entries: 0, problems, to_write });
            }
            current = now;
            attempts.retry().await?;
        }
        Ok(Checked::default())
    }

    /// Writes entries, those of one value together. An entity that has changed meanwhile is mended with an intent.
    async fn write_entries(&self, to_write: Vec<(IndexValue, Entity)>) -> Result<()> {
        let mut groups: BTreeMap<IndexValue, Vec<Entity>> = BTreeMap::new();
        for (at, entity) in to_write {
            groups.entry(at).or_default().push(entity);
        }
        for (at, entities) in groups {
            self.store.put_all(&at, &entities).await?;
            for entity in entities {
                let now = self.read(&entity.partition_key, &entity.row_key).await?;
                if now.and_then(|now| now.etag) != entity.etag {
                    self.mend((entity.partition_key, entity.row_key), vec![at.clone()]).await?;
                }
            }
        }
        Ok(())
    }

    /// Returns the problems of an entity's entries.
    async fn problems(&self, store: &S, entity: &Entity) -> Result<Vec<IndexProblem>> {
        let mut problems = Vec::new();
        for at in self.indexes.values_of(entity)? {
            store.check(&at, entity)?;
            let kind = match store.state(&at, entity).await? {
                EntryState::Current => continue,
                EntryState::Stale => IndexProblemKind::Stale,
                EntryState::Missing => IndexProblemKind::Missing,
            };
            let (partition_key, row_key) = (entity.partition_key.clone(), entity.row_key.clone());
            problems.push(IndexProblem { kind, partition_key, row_key, value: Some(at) });
        }
        Ok(problems)
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
    let problems = vec![IndexProblem { kind, partition_key, row_key, value: None }];
    Checked { entities: 1, problems, ..Checked::default() }
}
