//! The part of the partitions that is served, on a database whose nodes each have some of them.
//!
//! Citus: for each node that has shards of the records, one of its partitions is read, one node after the other on a
//! connection of this check. The part that is served is that of the shards on nodes that respond. The database itself is
//! [checked](crate::health_check) apart from this. The clock, which is that of the coordinator, is read here as well.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tablerock_kv::{Bytes, Error, Health, Result};
use tokio::time::timeout;

use crate::DatabaseClock;
use crate::connection::Connection;
use crate::failure::translate;
use crate::kind::Kind;
use crate::place::Place;
use crate::pool::Pool;

/// The timeout of one node, with the connection that may have to be opened.
const NODE_TIMEOUT: Duration = Duration::from_secs(3);

/// The time after which the places of the shards, and the clock, are read again.
const PLACES_AGE_MAX: Duration = Duration::from_secs(10);

/// Each node with its number of shards, and a partition in one of them, if one of a thousand is.
const PLACES: &str = "SELECT concat(node.nodename, ':', node.nodeport), CAST(count(DISTINCT placement.shardid) AS bigint), \
     min(probe.partition) FROM pg_dist_shard AS shard \
     JOIN pg_dist_placement AS placement ON placement.shardid = shard.shardid \
     JOIN pg_dist_node AS node ON node.groupid = placement.groupid AND node.noderole = 'primary' \
     LEFT JOIN (SELECT lpad(to_hex(number), 4, '0') AS partition, get_shard_id_for_distribution_column(\
       'tablerock_records', decode(lpad(to_hex(number), 4, '0'), 'hex')) AS shardid \
       FROM generate_series(0, 1023) AS number) AS probe ON probe.shardid = shard.shardid \
     WHERE shard.logicalrelid = to_regclass('tablerock_records') GROUP BY 1 ORDER BY 1";

/// A node, the number of its shards, and a partition that it has.
struct ShardNode {
    node: String,
    shards: i64,
    partition: Option<Vec<u8>>,
}

pub(crate) async fn keep_checking(pool: Arc<Pool>, clock: Arc<DatabaseClock>) {
    let mut check = NodeCheck { pool, clock, connection: None, places: vec![], read_at: None, clock_read_at: None };
    loop {
        tokio::time::sleep(check.pool.options.health_pause).await;
        let part = check.run().await;
        check.pool.set_part(part);
    }
}

struct NodeCheck {
    pool: Arc<Pool>,
    clock: Arc<DatabaseClock>,
    connection: Option<Connection>,
    places: Vec<ShardNode>,
    read_at: Option<Instant>,
    /// The time of the last attempt to read the clock.
    clock_read_at: Option<Instant>,
}

impl NodeCheck {
    /// Returns the health of the nodes. A failure of the database itself is reported by its own check.
    async fn run(&mut self) -> Health {
        if self.read_at.is_none_or(|read_at| read_at.elapsed() > PLACES_AGE_MAX) {
            match within(self.read_places()).await {
                Ok(places) => (self.places, self.read_at) = (places, Some(Instant::now())),
                Err(error) => {
                    tracing::debug!(%error, "cannot read the places of the shards");
                    self.connection = None;
                }
            }
        }
        if self.clock_read_at.is_none_or(|read_at| read_at.elapsed() > PLACES_AGE_MAX) {
            self.clock_read_at = Some(Instant::now());
            if let Err(error) = within(self.refresh_clock()).await {
                tracing::debug!(%error, "cannot read the clock of the coordinator");
                self.connection = None;
            }
        }
        let (mut all, mut served, mut reasons) = (0, 0, vec![]);
        for at in 0..self.places.len() {
            let found = within(self.probe(at)).await;
            let place = &self.places[at];
            all += place.shards;
            match found {
                Ok(()) => served += place.shards,
                Err(error) => {
                    reasons.push(format!("{}: {}", place.node, error.message()));
                    // A connection that waits for one node is of no use for the next.
                    self.connection = None;
                }
            }
        }
        let reasons = reasons.join("; ");
        match served {
            _ if served == all => Health::Healthy,
            0 => Health::Down(format!("none of {all} shards is served: {reasons}")),
            _ => Health::Degraded(format!("{served} of {all} shards are served: {reasons}")),
        }
    }

    async fn read_places(&mut self) -> Result<Vec<ShardNode>> {
        let failed = |error| translate("cannot read the places of the shards", error);
        let rows = self.connection().await?.client.query(PLACES, &[]).await.map_err(failed)?;
        let place = |row: tokio_postgres::Row| -> Result<ShardNode, tokio_postgres::Error> {
            let partition = row.try_get::<_, Option<String>>(2)?.as_deref().and_then(from_hex);
            Ok(ShardNode { node: row.try_get(0)?, shards: row.try_get(1)?, partition })
        };
        rows.into_iter().map(place).collect::<Result<_, _>>().map_err(failed)
    }

    async fn refresh_clock(&mut self) -> Result<()> {
        let clock = self.clock.clone();
        clock.refresh(&self.connection().await?.client).await
    }

    async fn probe(&mut self, at: usize) -> Result<()> {
        let Some(partition) = self.places[at].partition.clone() else { return Ok(()) };
        let Connection { client, statements, .. } = self.connection().await?;
        let nothing: &[u8] = b"";
        let read = client.query_opt(&statements.at(Place::Records).get, &[&partition, &nothing]).await;
        read.map(drop).map_err(|error| translate("its records cannot be read", error))
    }

    async fn connection(&mut self) -> Result<&Connection> {
        let connection = match self.connection.take().filter(|connection| !connection.client.is_closed()) {
            Some(connection) => connection,
            None => Connection::open(&self.pool.target, &self.pool.options, self.pool.kind, NODE_TIMEOUT).await?,
        };
        Ok(self.connection.insert(connection))
    }
}

async fn within<T>(step: impl Future<Output = Result<T>>) -> Result<T> {
    let silent = |_| Error::unavailable(format!("no response in {NODE_TIMEOUT:?}"));
    timeout(NODE_TIMEOUT, step).await.map_err(silent)?
}

/// The node of each of some partitions, in their order.
const NODES_OF: &str = "SELECT wanted.place, concat(node.nodename, ':', node.nodeport) \
     FROM unnest($1::bytea[]) WITH ORDINALITY AS wanted (partition, place) \
     JOIN pg_dist_placement AS placement \
     ON placement.shardid = get_shard_id_for_distribution_column('tablerock_records', wanted.partition) \
     JOIN pg_dist_node AS node ON node.groupid = placement.groupid AND node.noderole = 'primary'";

/// Returns the node that has each partition. Only the nodes of Citus are known.
pub(crate) async fn nodes_of(pool: &Arc<Pool>, partitions: &[Bytes]) -> Result<Vec<Option<String>>> {
    let mut nodes = vec![None; partitions.len()];
    if pool.kind != Kind::Citus || partitions.is_empty() {
        return Ok(nodes);
    }
    let partitions: Vec<&[u8]> = partitions.iter().map(|partition| &partition[..]).collect();
    let mut pooled = pool.acquire().await?;
    pooled.begin_statement();
    let found = timeout(pooled.response_timeout(), pooled.connection().client.query(NODES_OF, &[&partitions])).await;
    for row in pooled.judge("cannot find out the nodes of partitions", found.ok())? {
        let place = usize::try_from(row.get::<_, i64>(0)).unwrap_or_default();
        if let Some(node) = place.checked_sub(1).and_then(|place| nodes.get_mut(place)) {
            *node = Some(row.get(1));
        }
    }
    Ok(nodes)
}

/// Two bytes from four digits.
fn from_hex(digits: &str) -> Option<Vec<u8>> {
    u16::from_str_radix(digits, 16).ok().map(|number| number.to_be_bytes().to_vec())
}
