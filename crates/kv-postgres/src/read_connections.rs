//! Connections that reads of single records share.
//!
//! Such a read is short, and most of its cost is a wake-up on each side. So these reads are pipelined: each is sent at once,
//! behind those without a response, and the database finds several at a time. Longer statements, such as pages and changes,
//! use a connection of their own from the [pool](crate::pool), where no read waits behind them. So do the chunks of blobs,
//! which are read as pages of one record.
//!
//! A missing connection is opened in the background as long as another one is open.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::try_join_all;
use parking_lot::Mutex;
use tablerock_kv::{Bytes, Error, ErrorKind, Result};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use tokio_postgres::types::ToSql;

use crate::PostgresOptions;
use crate::connection::Connection;
use crate::failure::{breaks_connection, closed, translate};
use crate::kind::Kind;
use crate::place::Place;
use crate::pool::{Pool, READ_ATTEMPTS_MAX};
use crate::read::are_read_together;

/// One of so many connections is for these reads.
const CONNECTIONS_PER_READ_CONNECTION: usize = 8;
/// The maximum number: these reads are many, but short.
const READ_CONNECTIONS_MAX: usize = 4;
/// The reads in progress on one connection from which the next one is used too. Reads in one batch cost less each; but with
/// all of them on one connection, server and database take turns waiting.
const READS_BEFORE_NEXT: usize = 8;
/// The maximum number of reads in progress on one connection.
const READS_PER_CONNECTION: usize = 128;

/// The partition and the key of a record.
pub(crate) type RecordKey<'a> = (&'a [u8], &'a [u8]);

pub(crate) struct ReadConnections {
    connections: Vec<Arc<ReadConnection>>,
    permits: Semaphore,
}

#[derive(Default)]
struct ReadConnection {
    connection: Mutex<Option<Arc<Connection>>>,
    /// The reads in progress.
    reads: AtomicUsize,
    /// Held while a connection is opened, so that all reads that need one share it.
    opening: tokio::sync::Mutex<()>,
}

impl ReadConnections {
    /// Returns `None` if there are too few connections to reserve one.
    pub(crate) fn of(options: &PostgresOptions) -> Option<Self> {
        let count = (options.connections_max / CONNECTIONS_PER_READ_CONNECTION).min(READ_CONNECTIONS_MAX);
        (count > 0).then(|| Self {
            connections: (0..count).map(|_| Arc::default()).collect(),
            permits: Semaphore::new(count * READS_PER_CONNECTION),
        })
    }

    /// Returns the number of connections.
    pub(crate) fn count(&self) -> usize {
        self.connections.len()
    }

    /// Returns the values of some records, with all statements sent at once.
    pub(crate) async fn read(&self, pool: &Arc<Pool>, keys: &[RecordKey<'_>]) -> Result<Vec<Option<Bytes>>> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let ReadInProgress(reader) = &self.begin();
            let (_permit, connection) = self.acquire(pool, reader).await?;
            let error = match timeout(pool.response_timeout(), read_keys(pool.kind, &connection, keys)).await {
                Ok(Ok(values)) => return Ok(values),
                Ok(Err(error)) if breaks_connection(&error) => {
                    reader.broke(&connection, pool);
                    translate("a read failed", error)
                }
                Ok(Err(error)) => match translate("a read failed", error) {
                    // The database aborted it in favour of others; a retry may succeed at once.
                    error if error.kind() == ErrorKind::Conflict => error,
                    error => return Err(error),
                },
                Err(_) => {
                    reader.broke(&connection, pool);
                    return Err(Error::unavailable("a read failed: the database did not respond in time"));
                }
            };
            if attempts == READ_ATTEMPTS_MAX {
                return Err(error);
            }
        }
    }

    /// Chooses the first connection that is not busy, or else the least busy one.
    fn begin(&self) -> ReadInProgress<'_> {
        let reads = |reader: &ReadConnection| reader.reads.load(Ordering::Relaxed);
        let free = self.connections.iter().find(|reader| reads(reader) < READS_BEFORE_NEXT);
        let reader =
            free.or_else(|| self.connections.iter().min_by_key(|reader| reads(reader))).expect("there is a reader");
        reader.reads.fetch_add(1, Ordering::Relaxed);
        ReadInProgress(reader)
    }

    /// Waits for a permit and a connection. A timeout for the permit does not change the health of the database.
    async fn acquire(
        &self,
        pool: &Arc<Pool>,
        reader: &Arc<ReadConnection>,
    ) -> Result<(SemaphorePermit<'_>, Arc<Connection>)> {
        let wait = pool.options.connection_wait;
        let permit = timeout(wait, self.permits.acquire()).await.map_err(|_| {
            Error::unavailable(format!("no connection to the database was free for a read for {wait:?}"))
        })?;
        let permit = permit.map_err(|_| closed())?;
        if let Some(connection) = reader.open_connection() {
            return Ok((permit, connection));
        }
        let Some(other) = self.connections.iter().find_map(|other| other.open_connection()) else {
            let opened = timeout(wait, reader.connection(pool)).await;
            let late =
                |_| Error::unavailable(format!("no connection to the database was opened for a read in {wait:?}"));
            return Ok((permit, pool.note_failure(opened.map_err(late).and_then(|opened| opened))?));
        };
        let (reader, pool) = (reader.clone(), pool.clone());
        tokio::spawn(async move {
            // Another read may be opening it already.
            if let Ok(_opening) = reader.opening.try_lock() {
                let _ = reader.open_alone(&pool).await;
            }
        });
        Ok((permit, other))
    }

    /// Waits for a response on each open connection. The [health check](crate::health_check) bounds the time and replaces
    /// connections that do not respond. It reads nothing: the node that has a record may be away while others serve.
    pub(crate) async fn probe(&self) -> Result<()> {
        let open: Vec<_> = self.connections.iter().filter_map(|reader| reader.open_connection()).collect();
        let probes = open.iter().map(|connection| connection.client.batch_execute(""));
        try_join_all(probes).await.map(drop).map_err(|error| translate("a read failed", error))
    }

    /// Makes the next reads open new connections: a failure of one connection mostly affects all.
    pub(crate) fn forget(&self) {
        self.connections.iter().for_each(|reader| *reader.connection.lock() = None);
    }

    /// Waits for the reads in progress and rejects further ones.
    pub(crate) async fn close(&self, options: &PostgresOptions) {
        let all = u32::try_from(self.count() * READS_PER_CONNECTION).unwrap_or(u32::MAX);
        // Reads that take longer are cancelled when the runtime ends.
        let _ = timeout(options.statement_wait, self.permits.acquire_many(all)).await;
        self.permits.close();
        self.forget();
    }
}

/// A read that counts as long as this lives.
struct ReadInProgress<'a>(&'a Arc<ReadConnection>);

impl Drop for ReadInProgress<'_> {
    fn drop(&mut self) {
        self.0.reads.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ReadConnection {
    /// Returns the connection, which other reads share, and opens it if needed.
    async fn connection(&self, pool: &Pool) -> Result<Arc<Connection>> {
        if let Some(connection) = self.open_connection() {
            return Ok(connection);
        }
        let _opening = self.opening.lock().await;
        self.open_alone(pool).await
    }

    /// Does the same for a caller that holds `opening`.
    async fn open_alone(&self, pool: &Pool) -> Result<Arc<Connection>> {
        if let Some(connection) = self.open_connection() {
            return Ok(connection);
        }
        let connection = Arc::new(pool.open_connection().await?);
        *self.connection.lock() = Some(connection.clone());
        Ok(connection)
    }

    fn open_connection(&self) -> Option<Arc<Connection>> {
        self.connection.lock().clone().filter(|connection| !connection.client.is_closed())
    }

    /// Replaces all connections, unless another read on this one has done so.
    fn broke(&self, broken: &Arc<Connection>, pool: &Pool) {
        let is_news = self.connection.lock().as_ref().is_some_and(|connection| Arc::ptr_eq(connection, broken));
        if is_news {
            pool.forget_connections();
        }
    }
}

async fn read_keys(
    kind: Kind,
    connection: &Connection,
    keys: &[RecordKey<'_>],
) -> Result<Vec<Option<Bytes>>, tokio_postgres::Error> {
    let Connection { client, statements, .. } = connection;
    if let [(partition, key), (second_partition, second_key)] = keys
        && are_read_together(kind, partition, second_partition)
    {
        let rows = client.query(&statements.both, &[partition, key, second_partition, second_key]).await?;
        let value = |is_second: bool| {
            let row = rows.iter().find(|row| row.get::<_, bool>(0) == is_second);
            row.map(|row| Bytes::copy_from_slice(row.get(1)))
        };
        return Ok(vec![value(false), value(true)]);
    }
    // The driver sends a statement when it is first polled, and does not wait for the one before it.
    let reads = keys.iter().map(|(partition, key)| async move {
        let parameters: [&(dyn ToSql + Sync); 2] = [partition, key];
        let get = &statements.at(Place::of(kind, partition)).get;
        let row = client.query_opt(get, &parameters).await?;
        Ok(row.map(|row| Bytes::copy_from_slice(row.get(0))))
    });
    try_join_all(reads).await
}
