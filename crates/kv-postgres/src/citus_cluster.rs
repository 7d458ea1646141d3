//! The shards of a Citus cluster: where they are, how busy they are, and Citus' functions that isolate and move them.
//!
//! This is for operators, next to the servers and not part of them. One session at the coordinator does everything, and holds
//! an advisory lock meanwhile, so that two operators do not move shards at once.

use std::collections::HashMap;
use std::time::Duration;

use tablerock_kv::{Bytes, Error, Result};
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row};

use crate::Target;
use crate::connection::{Bounds, connect_at};
use crate::failure::{detail, translate};
use crate::hosts::HostOrder;
use crate::kind::Kind;

/// The time for one host, and for the statements that only look.
const LOOK_WAIT: Duration = Duration::from_secs(30);
/// The time for which a statement waits for locks of others.
const LOCK_WAIT: Duration = Duration::from_secs(30);
/// The time after the database's own timeout at which a session counts as lost.
const GRACE: Duration = Duration::from_secs(5);

/// Of all sessions that ask for this number, one moves shards.
const TRY_LOCK: &str = "SELECT pg_try_advisory_lock(32760388092031599)";

const IS_COORDINATOR: &str = "SELECT citus_is_coordinator()";
const COORDINATOR: &str = "SELECT concat(nodename, ':', nodeport) FROM pg_dist_node WHERE groupid = 0";

const NODES: &str = "SELECT nodename, nodeport FROM pg_dist_node \
     WHERE noderole = 'primary' AND isactive AND shouldhaveshards ORDER BY nodename, nodeport";

const SHARDS: &str = "SELECT shard.shardid, node.nodename, node.nodeport, shard.shardminvalue = shard.shardmaxvalue \
     FROM pg_dist_shard AS shard JOIN pg_dist_placement AS placement ON placement.shardid = shard.shardid \
     JOIN pg_dist_node AS node ON node.groupid = placement.groupid AND node.noderole = 'primary' \
     WHERE shard.logicalrelid = to_regclass('tablerock_records') ORDER BY shard.shardid";

/// Index and table scans, rows read, rows changed, and bytes, as each node has counted them for its shards.
const COUNTERS: &str = "SELECT shardid, success, result FROM run_command_on_shards('tablerock_records', $$\
     SELECT concat_ws(' ', coalesce(idx_scan, 0) + coalesce(seq_scan, 0), \
     coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0), n_tup_ins + n_tup_upd + n_tup_del, \
     pg_total_relation_size(relid)) FROM pg_stat_all_tables WHERE relid = '%s'::regclass$$)";

const SHARDS_OF: &str = "SELECT get_shard_id_for_distribution_column('tablerock_records', wanted.partition) \
     FROM unnest($1::bytea[]) WITH ORDINALITY AS wanted (partition, place) ORDER BY wanted.place";

/// A node that may have shards.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CitusNode {
    /// The host name.
    pub host: String,
    /// The port.
    pub port: i32,
}

impl std::fmt::Display for CitusNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// A shard of the records.
#[derive(Debug, Clone)]
pub struct CitusShard {
    /// Citus' number of the shard.
    pub id: i64,
    /// The node that has it.
    pub node: CitusNode,
    /// Whether it has one hash only, as that of an isolated partition.
    pub is_isolated: bool,
    /// The counts of its node since its statistics began.
    pub counters: ShardCounters,
}

/// The statistics of a shard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ShardCounters {
    /// Scans of the index or the table.
    pub scans: u64,
    /// Rows that were read.
    pub rows: u64,
    /// Rows that were inserted, changed or deleted.
    pub changes: u64,
    /// The size, with indexes.
    pub bytes: u64,
}

/// The way in which Citus copies a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShardTransfer {
    /// By logical replication: writes go on.
    Replicate,
    /// With writes to the shard blocked meanwhile.
    BlockWrites,
}

impl ShardTransfer {
    fn mode(self) -> &'static str {
        match self {
            Self::Replicate => "auto",
            Self::BlockWrites => "block_writes",
        }
    }
}

/// A session at the coordinator of a Citus cluster.
#[derive(Debug)]
pub struct CitusCluster {
    client: Client,
}

impl CitusCluster {
    /// Finds the coordinator among the hosts of a URL. A change of the cluster takes at most `change_wait`.
    pub async fn connect(target: &Target, change_wait: Duration) -> Result<Self> {
        let bounds = Bounds { statement: change_wait, idle: change_wait };
        let addresses = timeout(LOOK_WAIT, target.hosts.addresses(HostOrder::LastServed)).await;
        let unresolved = |_| Error::unavailable(format!("the name of {target} was not resolved in {LOOK_WAIT:?}"));
        let mut problem = None;
        for address in addresses.map_err(unresolved)? {
            match timeout(LOOK_WAIT, Self::open_at(target, address, bounds)).await {
                Ok(Ok(cluster)) => return Ok(cluster),
                Ok(Err(error)) => drop(problem.get_or_insert(error)),
                Err(_) => {
                    problem.get_or_insert(Error::unavailable(format!("{target} did not respond in {LOOK_WAIT:?}")));
                }
            }
        }
        Err(problem.unwrap_or_else(|| Error::invalid(format!("{target} has no host"))))
    }

    async fn open_at(target: &Target, address: crate::hosts::HostAddress, bounds: Bounds) -> Result<Self> {
        let client = connect_at(target, address, bounds).await?;
        let kind = Kind::of(&client).await?;
        if kind != Kind::Citus {
            let message = format!(
                "{target} is not a Citus cluster: the extension citus is not installed in this database, so there are no \
                 shards to move"
            );
            return Err(Error::invalid(message));
        }
        let failed = |error| translate("cannot find the coordinator", error);
        let is_coordinator: bool =
            client.query_one(IS_COORDINATOR, &[]).await.and_then(|row| row.try_get(0)).map_err(failed)?;
        if !is_coordinator {
            let coordinator = client.query_opt(COORDINATOR, &[]).await.map_err(failed)?;
            let coordinator = coordinator.map_or_else(|| "unknown".to_owned(), |row| row.get::<_, String>(0));
            let message = format!(
                "this node is a worker, and only the coordinator ({coordinator}) moves shards: name it in the URL of the \
                 store"
            );
            return Err(Error::invalid(message));
        }
        let has_records = client.query(SHARDS, &[]).await.map_err(failed)?;
        if has_records.is_empty() {
            return Err(Error::invalid(
                "this Citus cluster has no tables of Tablerock: check the database's name, and search_path if it is set",
            ));
        }
        let limits = format!("SET lock_timeout = {}", LOCK_WAIT.as_millis());
        client.batch_execute(&limits).await.map_err(failed)?;
        Ok(Self { client })
    }

    /// Takes the lock on moving shards for as long as this session lives; `false` if another session has it.
    pub async fn try_lock(&self) -> Result<bool> {
        let rows = self.look("cannot take the lock on moving shards", TRY_LOCK).await?;
        Ok(rows.first().is_some_and(|row| row.get(0)))
    }

    /// Returns the nodes that may have shards.
    pub async fn nodes(&self) -> Result<Vec<CitusNode>> {
        let rows = self.look("cannot read the nodes of the cluster", NODES).await?;
        Ok(rows.iter().map(|row| node(row, 0)).collect())
    }

    /// Returns all shards of the records with their statistics.
    pub async fn shards(&self) -> Result<Vec<CitusShard>> {
        let counted = self.look("cannot read the statistics of the shards", COUNTERS).await?;
        let mut counters = HashMap::new();
        for row in &counted {
            let (id, result): (i64, Option<&str>) = (row.get(0), row.get(2));
            if !row.get::<_, bool>(1) {
                let result = result.unwrap_or_default();
                return Err(Error::unavailable(format!("cannot read the statistics of shard {id}: {result}")));
            }
            counters.insert(id, parse_counters(result.unwrap_or_default()));
        }
        let shards = self.look("cannot read the shards of the cluster", SHARDS).await?;
        let shard = |row: &Row| {
            let id: i64 = row.get(0);
            let counters = counters.get(&id).copied().unwrap_or_default();
            CitusShard { id, node: node(row, 1), is_isolated: row.get::<_, Option<bool>>(3) == Some(true), counters }
        };
        Ok(shards.iter().map(shard).collect())
    }

    /// Returns the shard of each of some partitions.
    pub async fn shards_of(&self, partitions: &[Bytes]) -> Result<Vec<i64>> {
        let partitions: Vec<&[u8]> = partitions.iter().map(|partition| &partition[..]).collect();
        let doing = "cannot find the shards of partitions";
        let rows = timeout(LOOK_WAIT, self.client.query(SHARDS_OF, &[&partitions])).await.map_err(|_| silent(doing))?;
        let rows = rows.map_err(|error| translate(doing, error))?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// Gives a partition a shard of its own, and returns the number of it.
    pub async fn isolate(&self, partition: &[u8], transfer: ShardTransfer, wait: Duration) -> Result<i64> {
        let statement = format!(
            "SELECT isolate_tenant_to_new_shard('tablerock_records', '\\x{}'::bytea, 'CASCADE', '{}')",
            hex(partition),
            transfer.mode()
        );
        let rows = self.change("cannot isolate the partition", &statement, wait).await?;
        Ok(rows.first().map(|row| row.get(0)).unwrap_or_default())
    }

    /// Moves a shard from one node to another.
    pub async fn move_shard(
        &self,
        shard: i64,
        [from, to]: [&CitusNode; 2],
        transfer: ShardTransfer,
        wait: Duration,
    ) -> Result<()> {
        let statement = format!("SELECT citus_move_shard_placement($1, $2, $3, $4, $5, '{}')", transfer.mode());
        let doing = format!("cannot move shard {shard} from {from} to {to}");
        let parameters: [&(dyn ToSql + Sync); 5] = [&shard, &from.host, &from.port, &to.host, &to.port];
        let moved = timeout(wait + GRACE, self.client.query(&statement, &parameters)).await;
        let moved = moved.map_err(|_| silent(&doing))?;
        moved.map(drop).map_err(|error| refused(&doing, error))
    }

    async fn look(&self, doing: &str, statement: &str) -> Result<Vec<Row>> {
        let rows = timeout(LOOK_WAIT, self.client.query(statement, &[])).await.map_err(|_| silent(doing))?;
        rows.map_err(|error| translate(doing, error))
    }

    async fn change(&self, doing: &str, statement: &str, wait: Duration) -> Result<Vec<Row>> {
        let rows = timeout(wait + GRACE, self.client.query(statement, &[])).await.map_err(|_| silent(doing))?;
        rows.map_err(|error| refused(doing, error))
    }
}

fn node(row: &Row, column: usize) -> CitusNode {
    CitusNode { host: row.get(column), port: row.get(column + 1) }
}

fn silent(doing: &str) -> Error {
    Error::unavailable(format!("{doing}: the coordinator did not respond in time"))
}

/// Translates an error of a change, with what helps against those that are known.
fn refused(doing: &str, error: tokio_postgres::Error) -> Error {
    let detail = detail(&error);
    let remedy = match &detail {
        known if known.contains("output plugin") || known.contains("output_plugin_libraries") => {
            "; use --block-writes, or set output_plugin_libraries on all nodes (docs/databases.md)"
        }
        known if known.contains("wal_level") => "; set wal_level = logical on all nodes, or use --block-writes",
        known if known.contains("permission denied") || known.contains("must be owner") => {
            "; the role must own tablerock_records"
        }
        known if known.contains("timeout") => "; retry with a longer --timeout, or when the cluster is less busy",
        _ => "",
    };
    Error::unavailable(format!("{doing}: {detail}{remedy}")).with_source(error)
}

fn parse_counters(text: &str) -> ShardCounters {
    let mut numbers = text.split_whitespace().map(|number| number.parse().unwrap_or_default());
    let mut next = || numbers.next().unwrap_or_default();
    ShardCounters { scans: next(), rows: next(), changes: next(), bytes: next() }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_numbers_in_their_order() {
        let counters = ShardCounters { scans: 1, rows: 22, changes: 333, bytes: 4_096 };
        assert_eq!(parse_counters("1 22 333 4096"), counters);
        assert_eq!(parse_counters(""), ShardCounters::default());
    }
}
