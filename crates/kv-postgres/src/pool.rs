//! A bounded pool of connections, and their replacement.
//!
//! A request acquires a connection for the time of its statements, and waits within a bound if none is free. A broken
//! connection is dropped, and with it all idle ones, since a failure of one mostly affects all; new ones are opened on
//! demand. So the pool recovers from a restart or fail-over of the database. A connection whose request was cancelled in the
//! middle of a statement returns to the pool when the database has finished it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::try_join_all;
use parking_lot::Mutex;
use tablerock_kv::{Error, ErrorKind, Health, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement};

use crate::connection::Connection;
use crate::failure::{breaks_connection, closed, translate};
use crate::hosts::HostOrder;
use crate::kind::Kind;
use crate::place::Place;
use crate::read_connections::ReadConnections;
use crate::statements::TableStatements;
use crate::{PostgresOptions, Target};

/// The time after the statement timeout of the database at which a connection counts as lost.
const GRACE: Duration = Duration::from_secs(2);

/// The connection of the [health check](crate::health_check), and that of the [check of nodes](crate::node_check).
const HEALTH_CHECKS: usize = 1;
const NODE_CHECKS: usize = 1;

/// The attempts of a read whose connection breaks, or that the database aborts in favour of others.
pub(crate) const READ_ATTEMPTS_MAX: u32 = 4;

/// The values of a statement's parameters.
pub(crate) type Parameters<'a> = [&'a (dyn ToSql + Sync)];

/// Chooses a statement of a connection.
pub(crate) type Pick = fn(&TableStatements) -> &Statement;

/// A statement that only reads, one of several that are sent together.
#[derive(Clone)]
pub(crate) struct Query<'a> {
    pub(crate) place: Place,
    pub(crate) pick: Pick,
    pub(crate) parameters: Vec<&'a (dyn ToSql + Sync)>,
}

pub(crate) struct Pool {
    pub(crate) target: Target,
    pub(crate) options: PostgresOptions,
    pub(crate) kind: Kind,
    /// The size of the pool.
    connections: usize,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
    pub(crate) read_connections: Option<ReadConnections>,
    health: Mutex<Health>,
    /// The part of the partitions that is served, while the database itself is healthy.
    part: Mutex<Health>,
    is_closed: AtomicBool,
}

impl Pool {
    pub(crate) fn new(target: Target, options: PostgresOptions, kind: Kind) -> Self {
        let read_connections = ReadConnections::of(&options);
        let checks = HEALTH_CHECKS + if kind == Kind::Citus { NODE_CHECKS } else { 0 };
        let apart = read_connections.as_ref().map_or(0, ReadConnections::count) + checks;
        let connections = options.connections_max.saturating_sub(apart).max(1);
        Self {
            target,
            options,
            kind,
            connections,
            permits: Arc::new(Semaphore::new(connections)),
            idle: Mutex::default(),
            read_connections,
            health: Mutex::new(Health::Healthy),
            part: Mutex::new(Health::Healthy),
            is_closed: AtomicBool::new(false),
        }
    }

    /// Acquires a connection. A failure to open one changes the health of the database; a timeout for a free one does not.
    pub(crate) async fn acquire(self: &Arc<Self>) -> Result<PooledConnection> {
        let wait = self.options.connection_wait;
        let permit = timeout(wait, self.permits.clone().acquire_owned()).await.map_err(|_| {
            let connections = self.connections;
            Error::unavailable(format!("none of {connections} connections to the database was free for {wait:?}"))
        })?;
        let permit = permit.map_err(|_| closed())?;
        let connection = match self.take_idle() {
            Some(connection) => connection,
            None => self.note_failure(self.open_connection().await)?,
        };
        Ok(PooledConnection { inner: Some((connection, permit)), pool: self.clone(), state: ConnectionState::Clean })
    }

    /// Opens a connection within the time for one.
    pub(crate) async fn open_connection(&self) -> Result<Connection> {
        Connection::open(&self.target, &self.options, self.kind, self.options.connection_wait).await
    }

    /// Returns whether several hosts serve, so that a failure of one does not affect the others.
    pub(crate) fn takes_turns(&self) -> bool {
        self.target.hosts.are_several() && self.target.host_order(self.kind) == HostOrder::TakeTurns
    }

    /// Sets the health to down if a connection could not be opened.
    pub(crate) fn note_failure<T>(&self, opened: Result<T>) -> Result<T> {
        opened.inspect_err(|error| self.set_health(Health::Down(error.message().to_owned())))
    }

    fn take_idle(&self) -> Option<Connection> {
        let mut idle = self.idle.lock();
        std::iter::from_fn(|| idle.pop()).find(|connection| !connection.client.is_closed())
    }

    /// Drops idle connections and those that reads share: a failure of one mostly affects all.
    pub(crate) fn forget_connections(&self) {
        self.idle.lock().clear();
        if let Some(read_connections) = &self.read_connections {
            read_connections.forget();
        }
    }

    /// Runs a statement that only reads. It is retried on a new connection if its connection broke, and if the database
    /// aborted it in favour of others.
    pub(crate) async fn query(
        self: &Arc<Self>,
        place: Place,
        pick: Pick,
        parameters: &Parameters<'_>,
    ) -> Result<Vec<Row>> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let mut connection = self.acquire().await?;
            let statement = pick(connection.connection().statements.at(place)).clone();
            match connection.query(&statement, parameters).await {
                Err(error) if attempts < READ_ATTEMPTS_MAX && connection.is_worth_retrying(&error) => {}
                rows => return rows,
            }
        }
    }

    /// Runs the statement that reads one record and some of another partition, with the retries of [`query`](Self::query).
    pub(crate) async fn query_one_and_some(self: &Arc<Self>, parameters: &Parameters<'_>) -> Result<Vec<Row>> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let mut connection = self.acquire().await?;
            let statement = connection.connection().statements.one_and_some.clone();
            match connection.query(&statement, parameters).await {
                Err(error) if attempts < READ_ATTEMPTS_MAX && connection.is_worth_retrying(&error) => {}
                rows => return rows,
            }
        }
    }

    /// Runs statements that only read in one round trip, each as a transaction of its own, with the retries of
    /// [`query`](Self::query).
    pub(crate) async fn query_all(self: &Arc<Self>, queries: &[Query<'_>]) -> Result<Vec<Vec<Row>>> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let mut connection = self.acquire().await?;
            match connection.query_all(queries).await {
                Err(error) if attempts < READ_ATTEMPTS_MAX && connection.is_worth_retrying(&error) => {}
                found => return found,
            }
        }
    }

    /// Runs a statement that changes rows, as a transaction of its own, and returns the number of rows.
    pub(crate) async fn execute(
        self: &Arc<Self>,
        place: Place,
        pick: Pick,
        parameters: &Parameters<'_>,
    ) -> Result<u64> {
        self.acquire().await?.execute(place, pick, parameters).await
    }

    pub(crate) fn health(&self) -> Health {
        match &*self.health.lock() {
            Health::Healthy => self.part.lock().clone(),
            health => health.clone(),
        }
    }

    /// Sets the part of the partitions that is served.
    pub(crate) fn set_part(&self, part: Health) {
        let mut known = self.part.lock();
        if std::mem::discriminant(&*known) != std::mem::discriminant(&part) {
            match &part {
                Health::Healthy => tracing::info!("all partitions are served"),
                Health::Degraded(reason) | Health::ReadOnly(reason) | Health::Down(reason) => {
                    tracing::warn!(reason, "not all partitions are served");
                }
            }
        }
        *known = part;
    }

    /// Returns the time to wait for the response to any statement.
    pub(crate) fn response_timeout(&self) -> Duration {
        self.options.statement_wait + GRACE
    }

    /// Sets the health of the database. A closed engine stays down.
    pub(crate) fn set_health(&self, health: Health) {
        let mut known = self.health.lock();
        if !self.is_closed.load(Ordering::Acquire) && *known != health {
            match &health {
                Health::Healthy => tracing::info!("database is healthy"),
                Health::Degraded(reason) | Health::ReadOnly(reason) | Health::Down(reason) => {
                    tracing::warn!(reason, "database is not healthy");
                }
            }
            *known = health;
        }
    }

    /// Closes the pool, and waits up to the statement timeout for connections in use.
    pub(crate) async fn close(&self) {
        {
            let mut health = self.health.lock();
            self.is_closed.store(true, Ordering::Release);
            *health = Health::Down(closed().message().to_owned());
        }
        if let Some(read_connections) = &self.read_connections {
            read_connections.close(&self.options).await;
        }
        let all = u32::try_from(self.connections).unwrap_or(u32::MAX);
        // Statements that take longer are cancelled when the runtime ends.
        let _ = timeout(self.options.statement_wait, self.permits.acquire_many(all)).await;
        self.permits.close();
        self.idle.lock().clear();
    }
}

/// A connection in use. It returns to the pool when dropped, unless it broke.
pub(crate) struct PooledConnection {
    inner: Option<(Connection, OwnedSemaphorePermit)>,
    pool: Arc<Pool>,
    state: ConnectionState,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum ConnectionState {
    Clean,
    /// A statement is in progress. The database continues it even if the request is cancelled.
    Busy,
    /// A transaction is open. If the request is cancelled, it is rolled back before the connection is used again.
    InTransaction,
    Broken,
    /// No response in time, so it counts as broken.
    Silent,
}

impl PooledConnection {
    pub(crate) fn connection(&self) -> &Connection {
        &self.inner.as_ref().expect("a connection is here until drop").0
    }

    pub(crate) fn response_timeout(&self) -> Duration {
        self.pool.response_timeout()
    }

    pub(crate) fn kind(&self) -> Kind {
        self.pool.kind
    }

    async fn query(&mut self, statement: &Statement, parameters: &Parameters<'_>) -> Result<Vec<Row>> {
        self.begin_statement();
        let rows = self.connection().client.query(statement, parameters);
        let rows = timeout(self.response_timeout(), rows).await;
        self.judge("a read failed", rows.ok())
    }

    pub(crate) async fn query_all(&mut self, queries: &[Query<'_>]) -> Result<Vec<Vec<Row>>> {
        self.begin_statement();
        let connection = self.connection();
        // The driver sends a statement when it is first polled, and does not wait for the one before it.
        let found = queries.iter().map(|query| async move {
            connection.client.query((query.pick)(connection.statements.at(query.place)), &query.parameters).await
        });
        let found = timeout(self.response_timeout(), try_join_all(found)).await;
        self.judge("a read failed", found.ok())
    }

    async fn execute(&mut self, place: Place, pick: Pick, parameters: &Parameters<'_>) -> Result<u64> {
        self.begin_statement();
        let connection = self.connection();
        let changed = connection.client.execute(pick(connection.statements.at(place)), parameters);
        let changed = timeout(self.response_timeout(), changed).await;
        self.judge("a write failed, or its outcome is unknown", changed.ok())
    }

    /// Marks the begin of a single statement, which [`judge`](Self::judge) ends.
    pub(crate) fn begin_statement(&mut self) {
        if self.state == ConnectionState::Clean {
            self.state = ConnectionState::Busy;
        }
    }

    /// Marks the begin of a transaction.
    pub(crate) fn begin_transaction(&mut self) {
        self.state = ConnectionState::InTransaction;
    }

    /// Marks the end of the transaction.
    pub(crate) fn end_transaction(&mut self) {
        if self.state == ConnectionState::InTransaction {
            self.state = ConnectionState::Clean;
        }
    }

    /// Translates an outcome and updates the state of the connection. `None` is a timeout.
    pub(crate) fn judge<T>(&mut self, doing: &str, outcome: Option<Result<T, tokio_postgres::Error>>) -> Result<T> {
        if self.state == ConnectionState::Busy {
            self.state = ConnectionState::Clean;
        }
        match outcome {
            Some(Ok(value)) => Ok(value),
            Some(Err(error)) => {
                if breaks_connection(&error) {
                    self.state = ConnectionState::Broken;
                }
                Err(translate(doing, error))
            }
            None => {
                self.state = ConnectionState::Silent;
                Err(Error::unavailable(format!("{doing}: the database did not respond in time")))
            }
        }
    }

    pub(crate) fn is_broken(&self) -> bool {
        matches!(self.state, ConnectionState::Broken | ConnectionState::Silent)
    }

    /// Returns whether a retry of a failed read may succeed at once. After a timeout there is no time left for one.
    fn is_worth_retrying(&self, error: &Error) -> bool {
        self.state == ConnectionState::Broken || error.kind() == ErrorKind::Conflict
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        let Some((connection, permit)) = self.inner.take() else { return };
        if self.pool.is_closed.load(Ordering::Acquire) {
            return;
        }
        match self.state {
            ConnectionState::Clean => self.pool.idle.lock().push(connection),
            ConnectionState::Broken | ConnectionState::Silent => self.pool.forget_connections(),
            // The response to an empty statement comes after those of all before it.
            ConnectionState::Busy => return_later(self.pool.clone(), connection, permit, ""),
            ConnectionState::InTransaction => return_later(self.pool.clone(), connection, permit, "ROLLBACK"),
        }
    }
}

/// Waits until the database has finished the statement of a cancelled request, runs `last`, and then returns the
/// connection to the pool. Until then it counts as in use.
fn return_later(pool: Arc<Pool>, connection: Connection, permit: OwnedSemaphorePermit, last: &'static str) {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
    runtime.spawn(async move {
        let ended = timeout(pool.response_timeout(), connection.client.batch_execute(last)).await;
        if matches!(ended, Ok(Ok(()))) && !pool.is_closed.load(Ordering::Acquire) {
            pool.idle.lock().push(connection);
        }
        drop(permit);
    });
}
