//! Connections, a bounded number of them, and their replacement.
//!
//! A request borrows a connection for as long as its statements take. Who finds all of them lent waits, within a bound.
//! A connection that broke is thrown away, and with it all that are idle, since what broke one has mostly broken all;
//! new ones are made when they are needed. So a database that restarts or fails over is found again by itself. One whose
//! borrower went away in the middle of a statement is lent again when the database is done with that.

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
use crate::readers::Readers;
use crate::statements::Statements;
use crate::{PostgresOptions, Target};

/// How much longer than the database itself we wait for a statement before the connection counts as lost.
const GRACE: Duration = Duration::from_secs(2);

/// The connection on which the [keeper](crate::keeper) looks, whatever the others are at.
const KEEPERS: usize = 1;

/// How often a read runs whose connection broke, or which the database had give way to others.
pub(crate) const READ_TRIES_MAX: u32 = 4;

/// The values of a statement's parameters.
pub(crate) type Parameters<'a> = [&'a (dyn ToSql + Sync)];

/// Chooses a statement of a connection.
pub(crate) type Pick = fn(&Statements) -> &Statement;

/// A statement that only reads, one of several that are sent together.
#[derive(Clone, Copy)]
pub(crate) struct Query<'a> {
    pub(crate) pick: Pick,
    pub(crate) parameters: [&'a (dyn ToSql + Sync); 2],
}

pub(crate) struct Pool {
    pub(crate) target: Target,
    pub(crate) options: PostgresOptions,
    /// How many there are to lend.
    connections: usize,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
    pub(crate) readers: Option<Readers>,
    health: Mutex<Health>,
    is_closed: AtomicBool,
}

impl Pool {
    pub(crate) fn new(target: Target, options: PostgresOptions) -> Self {
        let readers = Readers::of(&options);
        let apart = readers.as_ref().map_or(0, Readers::count) + KEEPERS;
        let connections = options.connections_max.saturating_sub(apart).max(1);
        Self {
            target,
            options,
            connections,
            permits: Arc::new(Semaphore::new(connections)),
            idle: Mutex::default(),
            readers,
            health: Mutex::new(Health::Healthy),
            is_closed: AtomicBool::new(false),
        }
    }

    /// Borrows a connection. That none is free for long says nothing about the database; that none can be made does.
    pub(crate) async fn lease(self: &Arc<Self>) -> Result<Lease> {
        let wait = self.options.connection_wait;
        let permit = timeout(wait, self.permits.clone().acquire_owned()).await.map_err(|_| {
            let connections = self.connections;
            Error::unavailable(format!("none of {connections} connections to the database was free for {wait:?}"))
        })?;
        let permit = permit.map_err(|_| closed())?;
        let connection = match self.take_idle() {
            Some(connection) => connection,
            None => self.tell(self.open_connection().await)?,
        };
        Ok(Lease { lent: Some((connection, permit)), pool: self.clone(), state: State::Clean })
    }

    /// Makes a connection, within the time for one.
    pub(crate) async fn open_connection(&self) -> Result<Connection> {
        Connection::open(&self.target, &self.options, self.options.connection_wait).await
    }

    /// Somebody needed a connection and got none: that is news about the database.
    pub(crate) fn tell<T>(&self, opened: Result<T>) -> Result<T> {
        opened.inspect_err(|error| self.note(Health::Down(error.message().to_owned())))
    }

    fn take_idle(&self) -> Option<Connection> {
        let mut idle = self.idle.lock();
        std::iter::from_fn(|| idle.pop()).find(|connection| !connection.client.is_closed())
    }

    /// Throws away what is idle and what reads share: what broke one connection has mostly broken all.
    pub(crate) fn forget_connections(&self) {
        self.idle.lock().clear();
        if let Some(readers) = &self.readers {
            readers.forget();
        }
    }

    /// Runs a statement that only reads. One that met a broken connection is run again on a new one, and one that had to
    /// give way is run again too.
    pub(crate) async fn query(self: &Arc<Self>, pick: Pick, parameters: &Parameters<'_>) -> Result<Vec<Row>> {
        let mut tries = 0;
        loop {
            tries += 1;
            let mut lease = self.lease().await?;
            match lease.query(pick, parameters).await {
                Err(error) if tries < READ_TRIES_MAX && lease.is_worth_another_try(&error) => {}
                rows => return rows,
            }
        }
    }

    /// Runs statements that only read in one round trip, each as a transaction of its own. They are run again as
    /// [one](Self::query) is.
    pub(crate) async fn query_all(self: &Arc<Self>, queries: &[Query<'_>]) -> Result<Vec<Vec<Row>>> {
        let mut tries = 0;
        loop {
            tries += 1;
            let mut lease = self.lease().await?;
            match lease.query_all(queries).await {
                Err(error) if tries < READ_TRIES_MAX && lease.is_worth_another_try(&error) => {}
                found => return found,
            }
        }
    }

    /// Runs a statement that changes rows, as a transaction of its own, and says how many those were.
    pub(crate) async fn execute(self: &Arc<Self>, pick: Pick, parameters: &Parameters<'_>) -> Result<u64> {
        self.lease().await?.execute(pick, parameters).await
    }

    pub(crate) fn health(&self) -> Health {
        self.health.lock().clone()
    }

    /// How long to wait for the database, whatever it was asked.
    pub(crate) fn patience(&self) -> Duration {
        self.options.statement_wait + GRACE
    }

    /// Remembers how the database is. A closed engine stays down.
    pub(crate) fn note(&self, health: Health) {
        let mut known = self.health.lock();
        if !self.is_closed.load(Ordering::Acquire) && *known != health {
            match &health {
                Health::Healthy => tracing::info!("the database serves again"),
                Health::ReadOnly(why) | Health::Down(why) => tracing::warn!(why, "the database does not serve"),
            }
            *known = health;
        }
    }

    /// Lends nothing any more, and waits within the bound of a statement for what is lent.
    pub(crate) async fn close(&self) {
        {
            let mut health = self.health.lock();
            self.is_closed.store(true, Ordering::Release);
            *health = Health::Down(closed().message().to_owned());
        }
        if let Some(readers) = &self.readers {
            readers.close(&self.options).await;
        }
        let all = u32::try_from(self.connections).unwrap_or(u32::MAX);
        // Whoever is still at it after that is cut off when the runtime ends.
        let _ = timeout(self.options.statement_wait, self.permits.acquire_many(all)).await;
        self.permits.close();
        self.idle.lock().clear();
    }
}

/// A borrowed connection. It goes back when this is dropped, unless it broke.
pub(crate) struct Lease {
    lent: Option<(Connection, OwnedSemaphorePermit)>,
    pool: Arc<Pool>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Clean,
    /// A statement is under way. If its owner goes away, the database still works on it.
    Busy,
    /// A transaction is open. If its owner goes away, it has to be rolled back before others get the connection.
    InTransaction,
    Broken,
    /// It has not answered for so long that it counts as broken.
    Silent,
}

impl Lease {
    pub(crate) fn connection(&self) -> &Connection {
        &self.lent.as_ref().expect("a lease has its connection until it is dropped").0
    }

    pub(crate) fn patience(&self) -> Duration {
        self.pool.patience()
    }

    pub(crate) async fn query(&mut self, pick: Pick, parameters: &Parameters<'_>) -> Result<Vec<Row>> {
        self.sends();
        let connection = self.connection();
        let rows = connection.client.query(pick(&connection.statements), parameters);
        let rows = timeout(self.patience(), rows).await;
        self.judge("a read failed", rows.ok())
    }

    pub(crate) async fn query_all(&mut self, queries: &[Query<'_>]) -> Result<Vec<Vec<Row>>> {
        self.sends();
        let connection = self.connection();
        // The driver sends a statement when it is first polled, and does not wait for the one before it.
        let found = queries.iter().map(|query| async move {
            connection.client.query((query.pick)(&connection.statements), &query.parameters).await
        });
        let found = timeout(self.patience(), try_join_all(found)).await;
        self.judge("a read failed", found.ok())
    }

    pub(crate) async fn execute(&mut self, pick: Pick, parameters: &Parameters<'_>) -> Result<u64> {
        self.sends();
        let connection = self.connection();
        let changed = connection.client.execute(pick(&connection.statements), parameters);
        let changed = timeout(self.patience(), changed).await;
        self.judge("a write failed, or nobody knows whether it did", changed.ok())
    }

    /// A statement of its own goes out next. [`judge`](Self::judge) is told how it ended.
    pub(crate) fn sends(&mut self) {
        if self.state == State::Clean {
            self.state = State::Busy;
        }
    }

    /// A transaction begins with the next statement.
    pub(crate) fn begins(&mut self) {
        self.state = State::InTransaction;
    }

    /// The transaction is over, one way or the other.
    pub(crate) fn ended(&mut self) {
        if self.state == State::InTransaction {
            self.state = State::Clean;
        }
    }

    /// What an outcome says about the connection. `None` is none in time.
    pub(crate) fn judge<T>(&mut self, doing: &str, outcome: Option<Result<T, tokio_postgres::Error>>) -> Result<T> {
        if self.state == State::Busy {
            self.state = State::Clean;
        }
        match outcome {
            Some(Ok(value)) => Ok(value),
            Some(Err(error)) => {
                if breaks_connection(&error) {
                    self.state = State::Broken;
                }
                Err(translate(doing, error))
            }
            None => {
                self.state = State::Silent;
                Err(Error::unavailable(format!("{doing}: the database did not answer in time")))
            }
        }
    }

    pub(crate) fn is_broken(&self) -> bool {
        matches!(self.state, State::Broken | State::Silent)
    }

    /// Whether a read that failed so may well succeed at once. Who waited for an answer in vain has no time left.
    fn is_worth_another_try(&self, error: &Error) -> bool {
        self.state == State::Broken || error.kind() == ErrorKind::Conflict
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some((connection, permit)) = self.lent.take() else { return };
        if self.pool.is_closed.load(Ordering::Acquire) {
            return;
        }
        match self.state {
            State::Clean => self.pool.idle.lock().push(connection),
            State::Broken | State::Silent => self.pool.forget_connections(),
            // An empty statement is answered when all before it are done.
            State::Busy => give_back_later(self.pool.clone(), connection, permit, ""),
            State::InTransaction => give_back_later(self.pool.clone(), connection, permit, "ROLLBACK"),
        }
    }
}

/// Waits until the database is done with what somebody asked for who went away, ends it with `last`, and lends the
/// connection only then. Until then it counts as lent, which is what it is.
fn give_back_later(pool: Arc<Pool>, connection: Connection, permit: OwnedSemaphorePermit, last: &'static str) {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
    runtime.spawn(async move {
        let ended = timeout(pool.patience(), connection.client.batch_execute(last)).await;
        if matches!(ended, Ok(Ok(()))) && !pool.is_closed.load(Ordering::Acquire) {
            pool.idle.lock().push(connection);
        }
        drop(permit);
    });
}
