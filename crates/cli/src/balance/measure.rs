//! The load of a cluster: what its nodes count for their shards, and what the servers see of partitions.

use std::time::{Duration, Instant};

use tablerock_kv::{Bytes, Clock, Store};
use tablerock_kv_postgres::{CitusCluster, CitusShard, ShardCounters};
use tablerock_services::{LoadedPartition, Rate, StoreLoad};

use super::plan::{ClusterLoad, PartitionLoad, ShardLoad};
use crate::hint;

/// The cost of a change for a database in relation to a read, and how many rows of a page cost as much as one.
const READS_PER_CHANGE: f64 = 4.0;
const ROWS_PER_READ: f64 = 20.0;
/// The partitions that are looked at.
const PARTITIONS_MAX: usize = 50;

/// A measurement.
pub(super) struct Measured {
    pub(super) load: ClusterLoad,
    /// The stored partition of each partition of the load.
    pub(super) stored: Vec<Bytes>,
    pub(super) shards: Vec<CitusShard>,
    pub(super) servers: usize,
}

/// Measures for some time.
pub(super) async fn measure(
    cluster: &CitusCluster,
    store: &Store,
    clock: &dyn Clock,
    interval: Duration,
) -> Result<Measured, String> {
    let failed = |error: tablerock_kv::Error| hint::with_remedy(&error);
    let before = cluster.shards().await.map_err(failed)?;
    let started = Instant::now();
    tokio::time::sleep(interval).await;
    let shards = cluster.shards().await.map_err(failed)?;
    let seconds = started.elapsed().as_secs_f64();
    let nodes = cluster.nodes().await.map_err(failed)?.iter().map(ToString::to_string).collect();
    let shard_loads = shards.iter().map(|shard| {
        // A shard that moved meanwhile counts from zero at its new node.
        let earlier = before.iter().find(|earlier| earlier.id == shard.id && earlier.node == shard.node);
        ShardLoad {
            id: shard.id,
            node: shard.node.to_string(),
            load: work(earlier.map(|shard| shard.counters).unwrap_or_default(), shard.counters) / seconds,
            bytes: shard.counters.bytes,
            is_isolated: shard.is_isolated,
        }
    });
    let shard_loads: Vec<ShardLoad> = shard_loads.collect();
    let seen = StoreLoad::read(store, clock, PARTITIONS_MAX).await.map_err(failed)?;
    let known: Vec<(&(LoadedPartition, Rate), Bytes)> =
        seen.report.partitions.iter().zip(seen.stored).filter_map(|(seen, stored)| Some((seen, stored?))).collect();
    let stored: Vec<Bytes> = known.iter().map(|(_, stored)| stored.clone()).collect();
    let homes = cluster.shards_of(&stored).await.map_err(failed)?;
    let partitions = known.iter().zip(homes).map(|(((loaded, rate), _), shard)| {
        // Servers see the last minute, so one that has become quiet may still have a rate there.
        let most = shard_loads.iter().find(|known| known.id == shard).map_or(0.0, |known| known.load);
        PartitionLoad { name: name(loaded), shard, load: (rate.reads + READS_PER_CHANGE * rate.writes).min(most) }
    });
    let partitions = partitions.collect();
    Ok(Measured { load: ClusterLoad { nodes, shards: shard_loads, partitions }, stored, shards, servers: seen.servers })
}

/// The work between two readings, in reads. Statistics that were reset count from zero.
fn work(before: ShardCounters, after: ShardCounters) -> f64 {
    let since = |count: fn(&ShardCounters) -> u64| match count(&after) >= count(&before) {
        true => (count(&after) - count(&before)) as f64,
        false => count(&after) as f64,
    };
    since(|counters| counters.scans)
        + since(|counters| counters.rows) / ROWS_PER_READ
        + since(|counters| counters.changes) * READS_PER_CHANGE
}

fn name(loaded: &LoadedPartition) -> String {
    let LoadedPartition { service, account, name, partition } = loaded;
    match partition.is_empty() {
        true => format!("{} {account}/{name}", service.name()),
        false => format!("{} {account}/{name}, {partition:?}", service.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_in_reads_and_survives_a_reset_of_the_statistics() {
        let counters = |scans, rows, changes| ShardCounters { scans, rows, changes, bytes: 1 };
        assert_eq!(work(counters(10, 100, 5), counters(20, 300, 7)), 10.0 + 10.0 + 8.0);
        assert_eq!(work(counters(1_000, 1_000, 1_000), counters(20, 0, 1)), 20.0 + 4.0);
    }
}
