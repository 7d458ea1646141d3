//! Bulk writes: any number of operations, sent as concurrent group transactions, with a result for each.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt as _};
use tablerock_protocol::batch::BATCH_FRAME_BYTES;
use tablerock_protocol::limits;

use super::encryption::ENCRYPTION_CONCURRENCY;
use super::transaction::BatchPart;
use super::{TableClient, TableOperation};
use crate::request::Exchange;
use crate::transport::BoxFuture;
use crate::{Error, Etag, Result};

/// The default number of concurrent groups.
pub(super) const CONCURRENCY_DEFAULT: usize = 8;

/// A bulk write, which sends any number of operations as concurrent group transactions when it is awaited.
///
/// The operations are not atomic together. Each has its own result, and a failed one does not affect the others. The
/// client keeps the order of operations on the same entity.
///
/// ```
/// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
/// # example::with_people(async |people| {
/// # use tablerock_client::{Entity, TableOperation};
/// # let entities = ["00002", "00003"].map(|row| Entity::new("Sales", row));
/// let report = people
///     .bulk(entities.iter().map(TableOperation::insert))
///     .on_progress(|progress| println!("{} of {}", progress.done, progress.total))
///     .await;
/// for (index, error) in report.failures() {
///     println!("{}: {error}", entities[index].row_key);
/// }
/// # assert_eq!(report.failures().map(|(index, _)| index).collect::<Vec<_>>(), [0]);
/// # Ok(()) });
/// ```
#[must_use = "nothing is sent before it is awaited"]
pub struct Bulk {
    pub(super) table: TableClient,
    operations: Vec<TableOperation>,
    concurrency: usize,
    on_progress: Option<Arc<dyn Fn(BulkProgress) + Send + Sync>>,
}

/// The progress of a bulk write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BulkProgress {
    /// The number of operations with a result.
    pub done: usize,
    /// The number of failed operations.
    pub failed: usize,
    /// The number of all operations.
    pub total: usize,
}

/// The results of a bulk write.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BulkReport {
    /// The result of each operation, in their order: its new ETag, which a delete does not have, or its error.
    pub results: Vec<Result<Option<Etag>>>,
}

impl TableClient {
    /// Writes any number of entities in any partitions. All operations are in memory; see
    /// [`bulk_stream`](Self::bulk_stream).
    #[doc(alias = "batch")]
    #[doc(alias = "import")]
    pub fn bulk(&self, operations: impl IntoIterator<Item = TableOperation>) -> Bulk {
        let operations = operations.into_iter().collect();
        Bulk { table: self.clone(), operations, concurrency: CONCURRENCY_DEFAULT, on_progress: None }
    }
}

impl IntoFuture for Bulk {
    type Output = BulkReport;
    type IntoFuture = BoxFuture<'static, BulkReport>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

impl Bulk {
    /// Sets the number of concurrent group transactions; 8 by default.
    #[doc(alias = "parallel")]
    #[doc(alias = "parallelism")]
    pub fn concurrency(mut self, groups: usize) -> Self {
        self.concurrency = groups.max(1);
        self
    }

    /// Sets a function that is called after each group.
    pub fn on_progress(mut self, report: impl Fn(BulkProgress) + Send + Sync + 'static) -> Self {
        self.on_progress = Some(Arc::new(report));
        self
    }

    async fn send(self) -> BulkReport {
        let Self { table, operations, concurrency, on_progress } = self;
        BulkReport { results: write(&table, &operations, concurrency, on_progress.as_deref()).await }
    }
}

impl fmt::Debug for Bulk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, operations, concurrency, .. } = self;
        let mut shown = f.debug_struct("Bulk");
        shown.field("table", &table.name()).field("operations", &operations.len()).field("concurrency", concurrency);
        shown.finish_non_exhaustive()
    }
}

impl BulkReport {
    /// Returns the indexes and errors of the failed operations.
    pub fn failures(&self) -> impl Iterator<Item = (usize, &Error)> {
        let results = self.results.iter().enumerate();
        results.filter_map(|(index, result)| result.as_ref().err().map(|error| (index, error)))
    }

    /// Returns all ETags, or the first error.
    pub fn into_result(self) -> Result<Vec<Option<Etag>>> {
        self.results.into_iter().collect()
    }
}

/// Writes operations as concurrent groups. Returns the result of each, in their order.
pub(super) async fn write(
    table: &TableClient,
    operations: &[TableOperation],
    concurrency: usize,
    on_progress: Option<&(dyn Fn(BulkProgress) + Send + Sync)>,
) -> Vec<Result<Option<Etag>>> {
    let (done, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let run = &Run { table, operations, on_progress, done, failed };
    let sequences = stream::iter(sequences(operations));
    let finished = sequences.map(|sequence| run.sequence(sequence)).buffer_unordered(concurrency);
    let outcomes: Vec<Vec<Outcome>> = finished.collect().await;
    let mut results: Vec<Option<Result<Option<Etag>>>> = vec![None; operations.len()];
    for (index, result) in outcomes.into_iter().flatten() {
        results[index] = Some(result);
    }
    results.into_iter().map(|result| result.expect("every operation is in one sequence")).collect()
}

/// Splits operations into sequences of indexes. The groups of a sequence are sent one after the other; sequences run
/// concurrently. A partition with two operations on one entity is one sequence, which keeps their order; any other has
/// a sequence for each group.
fn sequences(operations: &[TableOperation]) -> Vec<Vec<usize>> {
    let mut partitions: HashMap<Option<&str>, Vec<usize>> = HashMap::new();
    let mut order = Vec::new();
    for (index, operation) in operations.iter().enumerate() {
        let partition = operation.entity().ok().map(|entity| entity.partition_key.as_str());
        partitions.entry(partition).or_insert_with(|| {
            order.push(partition);
            Vec::new()
        });
        partitions.entry(partition).and_modify(|indexes| indexes.push(index));
    }
    let mut sequences = Vec::new();
    for partition in order {
        let indexes = partitions.remove(&partition).unwrap_or_default();
        let mut rows = HashSet::with_capacity(indexes.len());
        let is_repeating =
            indexes.iter().any(|index| operations[*index].entity().is_ok_and(|entity| !rows.insert(&entity.row_key)));
        if is_repeating {
            sequences.push(indexes);
        } else {
            sequences.extend(indexes.chunks(limits::GROUP_OPERATIONS_MAX).map(<[usize]>::to_vec));
        }
    }
    sequences
}

/// A running bulk write.
struct Run<'a> {
    table: &'a TableClient,
    operations: &'a [TableOperation],
    on_progress: Option<&'a (dyn Fn(BulkProgress) + Send + Sync)>,
    done: AtomicUsize,
    failed: AtomicUsize,
}

/// An encoded operation and its index among all.
struct IndexedPart {
    index: usize,
    part: BatchPart,
}

/// The operations of one group transaction.
struct Group<'a> {
    parts: Vec<IndexedPart>,
    bytes: usize,
    rows: HashSet<&'a str>,
}

impl Group<'_> {
    fn new() -> Self {
        Self { parts: Vec::new(), bytes: BATCH_FRAME_BYTES, rows: HashSet::new() }
    }
}

type Outcome = (usize, Result<Option<Etag>>);

impl Run<'_> {
    async fn sequence(&self, indexes: Vec<usize>) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(indexes.len());
        let mut group = Group::new();
        for indexes in indexes.chunks(ENCRYPTION_CONCURRENCY) {
            let encoded = join_all(indexes.iter().map(|index| self.operations[*index].encode(self.table))).await;
            for (&index, encoded) in indexes.iter().zip(encoded) {
                match encoded {
                    Ok(encoded) => {
                        let part = BatchPart::new(encoded, self.table);
                        self.add(&mut group, IndexedPart { index, part }, &mut outcomes).await;
                    }
                    Err(error) => {
                        self.report(&[(index, Err(error.clone()))]);
                        outcomes.push((index, Err(error)));
                    }
                }
            }
        }
        self.finish(&mut group, &mut outcomes).await;
        outcomes
    }

    /// Adds an operation to the group. Sends the group first if it is full or already has an operation on the entity.
    async fn add<'w>(&'w self, group: &mut Group<'w>, added: IndexedPart, outcomes: &mut Vec<Outcome>) {
        let bytes = added.part.bytes();
        let row = self.operations[added.index].entity().map(|entity| entity.row_key.as_str()).unwrap_or_default();
        let is_full = group.parts.len() == limits::GROUP_OPERATIONS_MAX || group.bytes + bytes > limits::BODY_BYTES_MAX;
        if !group.parts.is_empty() && (is_full || group.rows.contains(row)) {
            self.finish(group, outcomes).await;
        }
        group.rows.insert(row);
        group.bytes += bytes;
        group.parts.push(added);
    }

    async fn finish(&self, group: &mut Group<'_>, outcomes: &mut Vec<Outcome>) {
        let finished = self.group(std::mem::replace(group, Group::new()).parts).await;
        self.report(&finished);
        outcomes.extend(finished);
    }

    /// Sends a group until each operation has a result. If the service rejects one, the others are sent again without
    /// it. A transient error has been retried already and fails all of them: another request would add load to a
    /// service that is busy.
    async fn group(&self, mut group: Vec<IndexedPart>) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(group.len());
        let mut is_ambiguous = false;
        while !group.is_empty() {
            let (indexes, parts): (Vec<usize>, Vec<BatchPart>) =
                group.into_iter().map(|IndexedPart { index, part }| (index, part)).unzip();
            let error = match self.table.commit_parts(&parts, &mut Exchange::default()).await {
                Ok(etags) => {
                    outcomes.extend(indexes.into_iter().zip(etags.into_iter().map(Ok)));
                    return outcomes;
                }
                Err(error) => error,
            };
            // An attempt without a response may have applied the whole group.
            is_ambiguous |= error.is_ambiguous();
            let error = if is_ambiguous { error.made_ambiguous() } else { error };
            let failed = error.failed_index().filter(|failed| *failed < indexes.len() && !error.is_transient());
            let error = error.without_index();
            let Some(failed) = failed else {
                outcomes.extend(indexes.into_iter().map(|index| (index, Err(error.clone()))));
                return outcomes;
            };
            outcomes.push((indexes[failed], Err(error)));
            let rest = indexes.into_iter().zip(parts).enumerate().filter(|(place, _)| *place != failed);
            group = rest.map(|(_, (index, part))| IndexedPart { index, part }).collect();
        }
        outcomes
    }

    fn report(&self, finished: &[Outcome]) {
        if finished.is_empty() {
            return;
        }
        let failed = finished.iter().filter(|(_, result)| result.is_err()).count();
        let failed = self.failed.fetch_add(failed, Ordering::Relaxed) + failed;
        let done = self.done.fetch_add(finished.len(), Ordering::Relaxed) + finished.len();
        if let Some(report) = self.on_progress {
            report(BulkProgress { done, failed, total: self.operations.len() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Entity;

    fn split(keys: &[(&str, &str)]) -> Vec<Vec<usize>> {
        let operations: Vec<TableOperation> =
            keys.iter().map(|(partition, row)| TableOperation::insert(&Entity::new(*partition, *row))).collect();
        sequences(&operations)
    }

    #[test]
    fn a_sequence_is_one_partition_in_order() {
        assert_eq!(split(&[("a", "1"), ("b", "1"), ("a", "2")]), [vec![0, 2], vec![1]]);
        assert!(split(&[]).is_empty());
    }

    #[test]
    fn a_large_partition_has_many_sequences_unless_an_entity_occurs_twice() {
        let rows: Vec<String> = (0..250).map(|row| row.to_string()).collect();
        let mut keys: Vec<(&str, &str)> = rows.iter().map(|row| ("p", row.as_str())).collect();
        assert_eq!(split(&keys).iter().map(Vec::len).collect::<Vec<_>>(), [100, 100, 50]);
        keys.push(("p", "7"));
        assert_eq!(split(&keys).iter().map(Vec::len).collect::<Vec<_>>(), [251]);
    }
}
