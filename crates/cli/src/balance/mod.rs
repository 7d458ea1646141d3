//! `tablerock balance`: spreads the load of a store over the nodes of a Citus cluster, one step at a time.
//!
//! | file | owns |
//! | --- | --- |
//! | `measure.rs` | the load of shards and partitions |
//! | `plan.rs` | the decision on the next step |
//! | this one | the loop of measuring, deciding and doing, and what it prints |

mod measure;
mod plan;

use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use tablerock_kv::Store;
use tablerock_kv_postgres::{CitusCluster, ShardTransfer, Target};

use self::measure::{Measured, measure};
use self::plan::{LOAD_MIN, Plan};
use crate::arguments::BalanceArguments;
use crate::engine::{OpenMode, open_engine};
use crate::store_location::{CACHE_BYTES, StoreLocation};
use crate::{hint, runtime};

/// The connections for reading the load of the servers.
const CONNECTIONS_MAX: usize = 2;

pub(crate) fn run(arguments: &BalanceArguments) -> Result<(), String> {
    if arguments.tolerance.is_nan() || arguments.tolerance < 1.05 {
        return Err(format!("--tolerance {} is too small: use 1.05 or more", arguments.tolerance));
    }
    let target = Target::parse(&arguments.store).map_err(|error| format!("--store: {}", error.message()))?;
    runtime()?.block_on(balance(arguments, target))
}

async fn balance(arguments: &BalanceArguments, target: Target) -> Result<(), String> {
    let failed = |error: tablerock_kv::Error| hint::with_remedy(&error);
    let cluster = CitusCluster::connect(&target, Duration::from_secs(arguments.timeout)).await.map_err(failed)?;
    // A dry run changes nothing, so it may run next to another one.
    if !arguments.dry_run && !cluster.try_lock().await.map_err(failed)? {
        return Err("another balance of this database is in progress; wait until it ends, or use --dry-run".to_owned());
    }
    let location = StoreLocation::Database { target, connections_max: CONNECTIONS_MAX };
    let opened = open_engine(&location, CACHE_BYTES, OpenMode::MustExist).await?;
    let store = Store::new(opened.engine);
    let mut outcome = Ok(());
    for number in 1..=arguments.steps {
        let measured = measure(&cluster, &store, &*opened.clock, Duration::from_secs(arguments.interval)).await;
        outcome = match measured {
            Ok(measured) => match step(arguments, &cluster, &measured, number).await {
                Ok(true) => continue,
                Ok(false) => Ok(()),
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        };
        break;
    }
    let closed = store.close().await.map_err(failed);
    outcome.and(closed)
}

/// Does the next step. Returns whether another one may follow.
async fn step(
    arguments: &BalanceArguments,
    cluster: &CitusCluster,
    measured: &Measured,
    number: u32,
) -> Result<bool, String> {
    let Measured { load, stored, shards, servers } = measured;
    print_line(&format!(
        "load in reads per second over {} s, a write counts as four; {servers} servers",
        arguments.interval
    ));
    for (node, sum) in load.by_node() {
        let count = load.shards.iter().filter(|shard| shard.node == node).count();
        print_line(&format!("  {node}: {sum:.0}, {count} shards"));
    }
    let transfer = if arguments.block_writes { ShardTransfer::BlockWrites } else { ShardTransfer::Replicate };
    let wait = Duration::from_secs(arguments.timeout);
    let doing = if arguments.dry_run { "would" } else { "will" };
    let started = Instant::now();
    let done = match load.plan(arguments.tolerance) {
        Plan::Idle => {
            print_line(&format!("nothing to do: less than {LOAD_MIN} reads per second"));
            return Ok(false);
        }
        Plan::Balanced => {
            print_line(&format!(
                "nothing to do: the busiest node has at most {} times the load of the quietest",
                arguments.tolerance
            ));
            return Ok(false);
        }
        Plan::Stuck { node, shard } => {
            let hot = load.partitions.iter().find(|hot| hot.shard == shard);
            let hot = hot.map(|hot| format!(", which has {}", hot.name)).unwrap_or_default();
            print_line(&format!(
                "nothing to do: no move makes {node} less busy; its hottest shard is {shard}{hot}. Spread hot keys over \
                 several partitions"
            ));
            return Ok(false);
        }
        Plan::Isolate { place } => {
            let hot = &load.partitions[place];
            print_line(&format!(
                "step {number}: {doing} isolate {}, {:.0}, from shard {}",
                hot.name, hot.load, hot.shard
            ));
            if arguments.dry_run {
                return Ok(false);
            }
            cluster.isolate(&stored[place], transfer, wait).await.map(|shard| format!("it has shard {shard} now"))
        }
        Plan::Move { shard, from, to } => {
            let moved = load.shards.iter().find(|moved| moved.id == shard);
            let (rate, bytes) = moved.map_or((0.0, 0), |moved| (moved.load, moved.bytes));
            print_line(&format!(
                "step {number}: {doing} move shard {shard}, {rate:.0}, {} KiB, from {from} to {to}",
                bytes >> 10
            ));
            if arguments.dry_run {
                return Ok(false);
            }
            let nodes = cluster.nodes().await.map_err(|error| hint::with_remedy(&error))?;
            let source = shards.iter().find(|known| known.id == shard).map(|known| &known.node);
            let to = nodes.iter().find(|node| node.to_string() == to);
            let (Some(source), Some(to)) = (source, to) else {
                return Err("the nodes of the cluster have changed; run balance again".to_owned());
            };
            cluster.move_shard(shard, [source, to], transfer, wait).await.map(|()| "moved".to_owned())
        }
    };
    let done = done.map_err(|error| hint::with_remedy(&error))?;
    print_line(&format!("step {number}: {done}, {:.1} s", started.elapsed().as_secs_f64()));
    Ok(true)
}

/// Prints a line. A closed stdout is not a reason to stop in the middle of a step.
fn print_line(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}
