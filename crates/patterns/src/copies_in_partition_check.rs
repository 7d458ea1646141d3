//! Verifies and rebuilds the copies of [`CopiesInPartition`] over existing data.

use tablerock_client::{Entity, Error, Result, TableEntity, TableOperation};

use crate::copies;
use crate::copies_in_partition::CopiesInPartition;
use crate::index_report::{Checked, IndexProblem, IndexProblemKind, IndexReport};
use crate::indexed_table_check::unreadable;
use crate::indexes::IndexValue;
use crate::keys::parts;
use crate::optimistic::{Attempts, unless_conflict};
use crate::verbs::index_check_verbs;

impl<T: TableEntity + Send + 'static> CopiesInPartition<T> {
    index_check_verbs!();

    async fn check(&self, mends: bool) -> Result<IndexReport> {
        let mut report = IndexReport::default();
        let entities = self.table.query::<Entity>().stream();
        report.add_all(entities, |entity| self.check_one(entity, mends)).await?;
        Ok(report)
    }

    async fn check_one(&self, entity: Entity, mends: bool) -> Result<Checked> {
        match copies::is_copy(&entity) {
            true => self.check_copy(&entity, mends).await,
            false => self.check_entity(entity, mends).await,
        }
    }

    /// Compares the copies of an entity with it. If the entity has changed meanwhile, compares again.
    async fn check_entity(&self, entity: Entity, mends: bool) -> Result<Checked> {
        let keys = (entity.partition_key.clone(), entity.row_key.clone());
        let mut current = Some(entity);
        let mut attempts = Attempts::new("the entity");
        while let Some(entity) = current {
            let copy_keys = match self.copy_keys(&entity) {
                Ok(copy_keys) => copy_keys,
                Err(Error::Entity(_) | Error::Invalid(_)) => return Ok(unreadable(keys)),
                Err(error) => return Err(error),
            };
            let problems = self.problems(&entity, &copy_keys).await?;
            if problems.is_empty() {
                return Ok(Checked { entities: 1, problems, ..Checked::default() });
            }
            current = self.table.get_if_exists::<Entity>(&keys.0, &keys.1).await?;
            let is_same = current.as_ref().is_some_and(|current| current.etag == entity.etag);
            if is_same && (!mends || self.mend(&entity, &copy_keys, &problems).await?) {
                return Ok(Checked { entities: 1, problems, ..Checked::default() });
            }
            attempts.retry().await?;
        }
        Ok(Checked::default())
    }

    async fn problems(&self, entity: &Entity, copy_keys: &[String]) -> Result<Vec<IndexProblem>> {
        let mut problems = Vec::new();
        for key in copy_keys {
            let copy = self.table.get_if_exists::<Entity>(&entity.partition_key, key).await?;
            let kind = match copy {
                None => IndexProblemKind::Missing,
                Some(copy) if !copies::is_copy(&copy) => IndexProblemKind::Duplicate,
                Some(copy) if copies::original_keys(&copy)?.1 != entity.row_key => IndexProblemKind::Duplicate,
                Some(copy) if !copies::is_equal(&copy, entity) => IndexProblemKind::Stale,
                Some(_) => continue,
            };
            problems.push(problem(kind, entity, key)?);
        }
        Ok(problems)
    }

    /// Writes the copies that are missing or stale, in one transaction that requires the version of the entity. Returns
    /// whether it still had this version.
    async fn mend(&self, entity: &Entity, copy_keys: &[String], problems: &[IndexProblem]) -> Result<bool> {
        let mut marked = entity.clone();
        self.mark_secrets(&mut marked, copy_keys);
        let mut operations = vec![TableOperation::replace(&marked)];
        for (key, kind) in problems.iter().map(|problem| (copy_key(problem), problem.kind)) {
            let copy = copies::within(&marked, key);
            match kind {
                IndexProblemKind::Missing => operations.push(TableOperation::insert(&copy)),
                IndexProblemKind::Stale => operations.push(TableOperation::insert_or_replace(&copy)),
                _ => {}
            }
        }
        if operations.len() == 1 {
            return Ok(true);
        }
        // All other copies have to get the new version with the entity, so that one read as a copy is not lost.
        let current = copy_keys.iter().filter(|key| !problems.iter().any(|problem| copy_key(problem) == **key));
        operations.extend(current.map(|key| TableOperation::insert_or_replace(&copies::within(&marked, key.clone()))));
        Ok(unless_conflict(self.table.transaction().operations(operations).commit().await)?.is_some())
    }

    /// Checks that the entity of a copy has its value.
    async fn check_copy(&self, copy: &Entity, mends: bool) -> Result<Checked> {
        let (partition_key, row_key) = copies::original_keys(copy)?;
        let entity = self.table.get_if_exists::<Entity>(&partition_key, &row_key).await?;
        let has_value = match entity.map(|entity| self.copy_keys(&entity)) {
            None => false,
            Some(Ok(copy_keys)) => copy_keys.contains(&copy.row_key),
            // Counted with the entity.
            Some(Err(_)) => true,
        };
        let mut checked = Checked { entries: 1, ..Checked::default() };
        // One transaction moves an entity and its copies, so a copy that is still the same one is a problem.
        if !has_value && self.is_stored(copy).await? {
            let entity = Entity::new(partition_key, row_key);
            checked.problems.push(problem(IndexProblemKind::Dangling, &entity, &copy.row_key)?);
            if mends {
                unless_conflict(self.table.delete(copy).await)?;
            }
        }
        Ok(checked)
    }

    async fn is_stored(&self, copy: &Entity) -> Result<bool> {
        let now = self.table.get_if_exists::<Entity>(&copy.partition_key, &copy.row_key).await?;
        Ok(now.is_some_and(|now| now.etag == copy.etag))
    }
}

fn problem(kind: IndexProblemKind, entity: &Entity, copy_key: &str) -> Result<IndexProblem> {
    let mut parts = parts(copy_key)?.into_iter();
    let value = IndexValue { index: parts.next().unwrap_or_default(), value: parts.next().unwrap_or_default() };
    let (partition_key, row_key) = (entity.partition_key.clone(), entity.row_key.clone());
    Ok(IndexProblem { kind, partition_key, row_key, value: Some(value) })
}

/// Returns the RowKey of the copy with a problem.
fn copy_key(problem: &IndexProblem) -> String {
    problem.value.as_ref().map(|at| crate::keys::compound([&at.index, &at.value])).unwrap_or_default()
}
