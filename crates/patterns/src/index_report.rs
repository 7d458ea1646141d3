//! The result of the check of an index.

use futures_util::stream::StreamExt as _;
use tablerock_client::table::BoxStream;
use tablerock_client::{Entity, Result, TryStreamExt as _};

use crate::indexes::IndexValue;

/// The number of problems that a report has with their keys.
const EXAMPLES_MAX: usize = 20;
/// The number of entities and entries that are checked concurrently.
const CHECKS_CONCURRENCY: usize = 16;

/// A kind of difference between entities and an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IndexProblemKind {
    /// An entity has a value, and the index does not have the entity.
    Missing,
    /// A copy corresponds to another version of its entity.
    Stale,
    /// An index entry has no entity, or one without the value.
    Dangling,
    /// Two entities have the same value of a unique index. A rebuild cannot mend it.
    Duplicate,
    /// An entity cannot be converted to the Rust type, or has an invalid value. A rebuild cannot mend it.
    Unreadable,
}

/// A difference between entities and an index.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexProblem {
    /// The kind of the difference.
    pub kind: IndexProblemKind,
    /// The PartitionKey of the entity.
    pub partition_key: String,
    /// The RowKey of the entity.
    pub row_key: String,
    /// The value of the index; `None` for an unreadable entity.
    pub value: Option<IndexValue>,
}

/// The differences between the entities of a table and its indexes, as `verify` and `rebuild` return them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexReport {
    /// The entities that were read, without copies.
    pub entities: u64,
    /// The index entries that were read.
    pub entries: u64,
    /// The number of entries that were missing.
    pub missing: u64,
    /// The number of entries of another version.
    pub stale: u64,
    /// The number of entries without an entity.
    pub dangling: u64,
    /// The number of values that another entity has as well.
    pub duplicate: u64,
    /// The number of entities that could not be read.
    pub unreadable: u64,
    /// The first problems with their keys, at most 20.
    pub examples: Vec<IndexProblem>,
}

/// The result of the check of one entity or entry.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    pub(crate) entities: u64,
    pub(crate) entries: u64,
    pub(crate) problems: Vec<IndexProblem>,
    /// The entries to write, with their entities.
    pub(crate) to_write: Vec<(IndexValue, Entity)>,
}

impl IndexReport {
    /// Whether entities and indexes correspond.
    pub fn is_consistent(&self) -> bool {
        let Self { missing, stale, dangling, duplicate, unreadable, .. } = self;
        missing + stale + dangling + duplicate + unreadable == 0
    }

    /// Checks all items of a stream, some concurrently, and adds the results. Returns the entries to write.
    pub(crate) async fn add_all<I, F, R>(&mut self, items: BoxStream<I>, check: F) -> Result<Vec<(IndexValue, Entity)>>
    where
        I: Send + 'static,
        F: Fn(I) -> R + Send,
        R: Future<Output = Result<Checked>> + Send,
    {
        let checks = items.map_ok(check).try_buffer_unordered(CHECKS_CONCURRENCY);
        let mut checks = std::pin::pin!(checks.fuse());
        let mut to_write = Vec::new();
        while let Some(checked) = checks.try_next().await? {
            self.entities += checked.entities;
            self.entries += checked.entries;
            checked.problems.into_iter().for_each(|problem| self.add(problem));
            to_write.extend(checked.to_write);
        }
        Ok(to_write)
    }

    fn add(&mut self, problem: IndexProblem) {
        *match problem.kind {
            IndexProblemKind::Missing => &mut self.missing,
            IndexProblemKind::Stale => &mut self.stale,
            IndexProblemKind::Dangling => &mut self.dangling,
            IndexProblemKind::Duplicate => &mut self.duplicate,
            IndexProblemKind::Unreadable => &mut self.unreadable,
        } += 1;
        if self.examples.len() < EXAMPLES_MAX {
            self.examples.push(problem);
        }
    }
}
