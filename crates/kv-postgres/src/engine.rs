//! The engine: its calls, and the start and stop of its tasks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use parking_lot::Mutex;
use tablerock_kv::{
    BlindPut, Bytes, Commit, Engine, Error, ErrorKind, Health, Page, Range, Result, Rng, ScanLimits, Wanted, Witness,
};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::kind::Kind;
use crate::pool::Pool;
use crate::{
    DatabaseClock, PostgresOptions, Target, blind_put, commit, drops, health_check, node_check, read, scan, schema,
};

/// The pause between two attempts to reach the database on opening.
const OPENING_PAUSE: Duration = Duration::from_millis(500);

/// An engine whose records are rows of a database, shared with any number of other servers.
pub struct PostgresEngine {
    pub(crate) pool: Arc<Pool>,
    pub(crate) clock: Arc<DatabaseClock>,
    rng: Rng,
    /// The background tasks until the engine is closed.
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl PostgresEngine {
    /// Creates the tables if needed and starts the background tasks. Waits, within a bound, for a database that is not up
    /// yet: server and database are often started together.
    pub async fn open(target: Target, options: PostgresOptions) -> Result<Arc<Self>> {
        let give_up = Instant::now() + options.opening_wait;
        let kind = loop {
            match schema::prepare(&target, &options).await {
                Ok(kind) => break kind,
                Err(error) if error.kind() == ErrorKind::Unavailable && Instant::now() < give_up => {
                    tracing::warn!(%error, "waiting for the database");
                    tokio::time::sleep(OPENING_PAUSE).await;
                }
                Err(error) => return Err(error),
            }
        };
        let pool = Arc::new(Pool::new(target, options, kind));
        // A role without rights on the tables fails here instead of with the first request.
        let connection = pool.acquire().await?;
        let clock = timeout(pool.response_timeout(), DatabaseClock::start(&connection.connection().client, kind)).await;
        let clock =
            clock.map_err(|_| Error::unavailable("cannot read the clock of the database: no response in time"))?;
        let clock = Arc::new(clock?);
        drop(connection);
        let mut tasks = vec![
            tokio::spawn(health_check::keep_checking(pool.clone(), clock.clone())),
            tokio::spawn(drops::keep_sweeping(pool.clone(), clock.clone())),
        ];
        if kind == Kind::Citus {
            tasks.push(tokio::spawn(node_check::keep_checking(pool.clone(), clock.clone())));
        }
        Ok(Arc::new(Self { pool, clock, rng: Rng::from_os(), tasks: Mutex::new(tasks) }))
    }

    /// Returns the clock that all servers on this database share.
    pub fn clock(&self) -> Arc<DatabaseClock> {
        self.clock.clone()
    }
}

impl std::fmt::Debug for PostgresEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresEngine").field("target", &self.pool.target).finish_non_exhaustive()
    }
}

impl Drop for PostgresEngine {
    fn drop(&mut self) {
        self.tasks.lock().drain(..).for_each(|task| task.abort());
    }
}

#[async_trait]
impl Engine for PostgresEngine {
    async fn get(&self, partition: &[u8], key: &[u8]) -> Result<Option<Bytes>> {
        read::one(&self.pool, partition, key).await
    }

    async fn get_many(&self, wanted: &[Wanted]) -> Result<Vec<Vec<Option<Bytes>>>> {
        read::many(&self.pool, wanted).await
    }

    async fn scan(&self, range: &Range, limits: ScanLimits) -> Result<Page> {
        scan::scan(&self.pool, range, limits).await
    }

    /// Commits are durable when they are visible, so this is an ordinary read.
    async fn read_newest(&self, partition: &[u8], keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        read::some(&self.pool, partition, keys).await
    }

    async fn commit(&self, commit: Commit) -> Result<()> {
        commit::commit(&self.pool, commit, None).await
    }

    async fn commit_witnessed(&self, commit: Commit, witness: &Witness) -> Result<()> {
        commit::commit(&self.pool, commit, Some(witness)).await
    }

    async fn put_blind(&self, put: BlindPut, row: (&[u8], &[u8])) -> Result<(bool, Option<Bytes>)> {
        blind_put::put(&self.pool, &put, row).await
    }

    async fn scan_then_get(
        &self,
        range: &Range,
        limits: ScanLimits,
        row: (&[u8], &[u8]),
    ) -> Result<(Page, Option<Bytes>)> {
        scan::scan_then_get(&self.pool, range, limits, row).await
    }

    async fn drop_range(&self, range: Range) -> Result<()> {
        drops::record(&self.pool, &self.clock, &self.rng, &range).await
    }

    async fn nodes_of(&self, partitions: &[Bytes]) -> Result<Vec<Option<String>>> {
        node_check::nodes_of(&self.pool, partitions).await
    }

    /// Other servers write to the same database.
    fn is_exclusive(&self) -> bool {
        false
    }

    fn health(&self) -> Health {
        self.pool.health()
    }

    async fn close(&self) -> Result<()> {
        let tasks = std::mem::take(&mut *self.tasks.lock());
        tasks.iter().for_each(JoinHandle::abort);
        self.pool.close().await;
        Ok(())
    }
}
