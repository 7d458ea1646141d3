//! Any number of writes: cut into groups by partition, sent side by side, with a result for each.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt as _};
use tablerock_protocol::batch::BATCH_FRAME_BYTES;
use tablerock_protocol::limits;

use super::sealing::SEALED_TOGETHER;
use super::write::EncodedWrite;
use super::{TableClient, Write};
use crate::transport::BoxFuture;
use crate::{Error, Etag, Result};

/// How many groups are under way together unless it is said otherwise.
const SIDE_BY_SIDE: usize = 8;

/// Writes that are sent as fast as the service takes them. They are not atomic together: each has its own result, and
/// one that is refused holds up none of the others. Writes to the same entity happen in their order.
///
/// ```
/// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
/// # example::with_people(async |people| {
/// # use tablerock_client::{Entity, Write};
/// # let entities = ["00002", "00003"].map(|row| Entity::new("Sales", row));
/// let report = people
///     .bulk(entities.iter().map(Write::insert))
///     .on_progress(|progress| println!("{} of {}", progress.done, progress.total))
///     .await;
/// for (place, error) in report.failures() {
///     println!("{}: {error}", entities[place].row_key);
/// }
/// # assert_eq!(report.failures().map(|(place, _)| place).collect::<Vec<_>>(), [0]);
/// # Ok(()) });
/// ```
#[must_use = "nothing is sent before it is awaited"]
pub struct Bulk {
    table: TableClient,
    writes: Vec<Write>,
    side_by_side: usize,
    on_progress: Option<Arc<dyn Fn(BulkProgress) + Send + Sync>>,
}

/// How far a bulk has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BulkProgress {
    /// Writes with a result, good or bad.
    pub done: usize,
    /// Writes that failed.
    pub failed: usize,
    /// All writes.
    pub total: usize,
}

/// The results of a bulk, in the order of its writes.
#[derive(Debug, Clone)]
pub struct BulkReport {
    /// For each write its new ETag, which a delete has not, or why it failed.
    pub results: Vec<Result<Option<Etag>>>,
}

impl TableClient {
    /// Any number of writes, in any partitions.
    pub fn bulk(&self, writes: impl IntoIterator<Item = Write>) -> Bulk {
        let writes = writes.into_iter().collect();
        Bulk { table: self.clone(), writes, side_by_side: SIDE_BY_SIDE, on_progress: None }
    }
}

impl Bulk {
    /// How many groups are under way together; eight if nothing is said.
    pub fn side_by_side(mut self, groups: usize) -> Self {
        self.side_by_side = groups.max(1);
        self
    }

    /// Is told of every group that has its results.
    pub fn on_progress(mut self, tell: impl Fn(BulkProgress) + Send + Sync + 'static) -> Self {
        self.on_progress = Some(Arc::new(tell));
        self
    }

    async fn run(self) -> BulkReport {
        let Self { table, writes, side_by_side, on_progress } = self;
        let lanes = lanes(&writes);
        let run = Run {
            table: &table,
            writes: &writes,
            endpoint_bytes: table.endpoint().to_string().len(),
            on_progress: on_progress.as_deref(),
            done: AtomicUsize::new(0),
            failed: AtomicUsize::new(0),
        };
        let run = &run;
        let finished = stream::iter(lanes).map(|lane| run.lane(lane)).buffer_unordered(side_by_side);
        let outcomes: Vec<Vec<(usize, Result<Option<Etag>>)>> = finished.collect().await;
        let mut results: Vec<Option<Result<Option<Etag>>>> = vec![None; writes.len()];
        for (place, result) in outcomes.into_iter().flatten() {
            results[place] = Some(result);
        }
        BulkReport { results: results.into_iter().map(|result| result.expect("every write is in one lane")).collect() }
    }
}

impl IntoFuture for Bulk {
    type Output = BulkReport;
    type IntoFuture = BoxFuture<'static, BulkReport>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for Bulk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, writes, side_by_side, .. } = self;
        let mut shown = f.debug_struct("Bulk");
        shown.field("table", &table.name()).field("writes", &writes.len()).field("side_by_side", side_by_side);
        shown.finish_non_exhaustive()
    }
}

impl BulkReport {
    /// The writes that failed: their places, and why.
    pub fn failures(&self) -> impl Iterator<Item = (usize, &Error)> {
        let results = self.results.iter().enumerate();
        results.filter_map(|(place, result)| result.as_ref().err().map(|error| (place, error)))
    }

    /// All ETags, or the first failure.
    pub fn into_result(self) -> Result<Vec<Option<Etag>>> {
        self.results.into_iter().collect()
    }
}

/// Places of writes that are sent one group after the other. Lanes run side by side. A partition that writes to an
/// entity twice is one lane, so that the writes keep their order; any other is cut into as many as it has groups.
fn lanes(writes: &[Write]) -> Vec<Vec<usize>> {
    let mut partitions: HashMap<Option<&str>, Vec<usize>> = HashMap::new();
    let mut order = Vec::new();
    for (place, write) in writes.iter().enumerate() {
        let partition = write.entity().ok().map(|entity| entity.partition_key.as_str());
        partitions.entry(partition).or_insert_with(|| {
            order.push(partition);
            Vec::new()
        });
        partitions.entry(partition).and_modify(|places| places.push(place));
    }
    let mut lanes = Vec::new();
    for partition in order {
        let places = partitions.remove(&partition).unwrap_or_default();
        let mut rows = HashSet::with_capacity(places.len());
        let is_repeating =
            places.iter().any(|place| writes[*place].entity().is_ok_and(|entity| !rows.insert(&entity.row_key)));
        if is_repeating {
            lanes.push(places);
        } else {
            lanes.extend(places.chunks(limits::GROUP_OPERATIONS_MAX).map(<[usize]>::to_vec));
        }
    }
    lanes
}

/// A bulk under way.
struct Run<'a> {
    table: &'a TableClient,
    writes: &'a [Write],
    endpoint_bytes: usize,
    on_progress: Option<&'a (dyn Fn(BulkProgress) + Send + Sync)>,
    done: AtomicUsize,
    failed: AtomicUsize,
}

/// A write on its way, with its place among all.
struct Sent {
    place: usize,
    encoded: EncodedWrite,
}

/// Writes that will go together.
struct Group<'a> {
    writes: Vec<Sent>,
    bytes: usize,
    rows: HashSet<&'a str>,
}

impl Group<'_> {
    fn new() -> Self {
        Self { writes: Vec::new(), bytes: BATCH_FRAME_BYTES, rows: HashSet::new() }
    }
}

type Outcome = (usize, Result<Option<Etag>>);

impl Run<'_> {
    async fn lane(&self, places: Vec<usize>) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(places.len());
        let mut group = Group::new();
        for places in places.chunks(SEALED_TOGETHER) {
            let encoded = join_all(places.iter().map(|place| self.writes[*place].encode(self.table))).await;
            for (place, encoded) in places.iter().zip(encoded) {
                match encoded {
                    Ok(encoded) => self.add(&mut group, Sent { place: *place, encoded }, &mut outcomes).await,
                    Err(error) => {
                        self.tell(&[(*place, Err(error.clone()))]);
                        outcomes.push((*place, Err(error)));
                    }
                }
            }
        }
        self.finish(&mut group, &mut outcomes).await;
        outcomes
    }

    /// Adds a write to the group, which is sent first if it has no room for it or holds the entity already.
    async fn add<'w>(&'w self, group: &mut Group<'w>, sent: Sent, outcomes: &mut Vec<Outcome>) {
        let bytes = sent.encoded.bytes_in_batch(self.endpoint_bytes);
        let row = self.writes[sent.place].entity().map(|entity| entity.row_key.as_str()).unwrap_or_default();
        let is_full =
            group.writes.len() == limits::GROUP_OPERATIONS_MAX || group.bytes + bytes > limits::BODY_BYTES_MAX;
        if !group.writes.is_empty() && (is_full || group.rows.contains(row)) {
            self.finish(group, outcomes).await;
        }
        group.rows.insert(row);
        group.bytes += bytes;
        group.writes.push(sent);
    }

    async fn finish(&self, group: &mut Group<'_>, outcomes: &mut Vec<Outcome>) {
        let finished = self.group(std::mem::replace(group, Group::new()).writes).await;
        self.tell(&finished);
        outcomes.extend(finished);
    }

    /// Sends a group until each of its writes has a result. A refusal takes the write at fault out, and the others are
    /// sent again: the group gets smaller every time. What passes is no write's fault: it has been tried again by now,
    /// and to go on would only press a service that asks for less.
    async fn group(&self, mut group: Vec<Sent>) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(group.len());
        let mut is_ambiguous = false;
        while !group.is_empty() {
            let (places, encoded): (Vec<usize>, Vec<EncodedWrite>) =
                group.into_iter().map(|sent| (sent.place, sent.encoded)).unzip();
            let has_etag: Vec<bool> = places.iter().map(|place| self.writes[*place].has_etag()).collect();
            let error = match self.table.commit_encoded(&encoded, &has_etag).await {
                Ok(etags) => {
                    outcomes.extend(places.into_iter().zip(etags.into_iter().map(Ok)));
                    return outcomes;
                }
                Err(error) => error,
            };
            // What an unanswered try may have done, it may have done to the whole group.
            is_ambiguous |= error.is_ambiguous();
            let error = if is_ambiguous { error.made_ambiguous() } else { error };
            let at_fault = error.failed_index().filter(|index| *index < places.len() && !error.is_passing());
            let Some(failed) = at_fault else {
                let error = error.of_single();
                outcomes.extend(places.into_iter().map(|place| (place, Err(error.clone()))));
                return outcomes;
            };
            outcomes.push((places[failed], Err(error.of_single())));
            let rest = places.into_iter().zip(encoded).enumerate().filter(|(index, _)| *index != failed);
            group = rest.map(|(_, (place, encoded))| Sent { place, encoded }).collect();
        }
        outcomes
    }

    fn tell(&self, finished: &[Outcome]) {
        if finished.is_empty() {
            return;
        }
        let failed = finished.iter().filter(|(_, result)| result.is_err()).count();
        let failed = self.failed.fetch_add(failed, Ordering::Relaxed) + failed;
        let done = self.done.fetch_add(finished.len(), Ordering::Relaxed) + finished.len();
        if let Some(tell) = self.on_progress {
            tell(BulkProgress { done, failed, total: self.writes.len() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Entity;

    fn cut(keys: &[(&str, &str)]) -> Vec<Vec<usize>> {
        let writes: Vec<Write> =
            keys.iter().map(|(partition, row)| Write::insert(&Entity::new(*partition, *row))).collect();
        lanes(&writes)
    }

    #[test]
    fn a_lane_is_one_partition_in_the_order_of_its_writes() {
        assert_eq!(cut(&[("a", "1"), ("b", "1"), ("a", "2")]), [vec![0, 2], vec![1]]);
        assert!(cut(&[]).is_empty());
    }

    #[test]
    fn a_large_partition_has_many_lanes_unless_an_entity_comes_twice() {
        let rows: Vec<String> = (0..250).map(|row| row.to_string()).collect();
        let mut keys: Vec<(&str, &str)> = rows.iter().map(|row| ("p", row.as_str())).collect();
        assert_eq!(cut(&keys).iter().map(Vec::len).collect::<Vec<_>>(), [100, 100, 50]);
        keys.push(("p", "7"));
        assert_eq!(cut(&keys).iter().map(Vec::len).collect::<Vec<_>>(), [251]);
    }
}
