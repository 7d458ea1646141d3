//! Connections that reads of single records share.
//!
//! Such a read is over in no time, and most of what it costs is to wake whoever answers it. So these reads do not take
//! turns on a connection: each is sent at once, behind those that have no answer yet, and a database that looks finds several.
//! What may take longer, a page or a change, has a connection of its own from the [pool](crate::pool), where nobody
//! waits behind it. So do the chunks of blobs, which their readers ask for as pages of one record.
//!
//! A connection that is not there is made in the background as long as another one is.

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
use crate::pool::{Pool, READ_TRIES_MAX};

/// One connection of so many is for these reads.
const CONNECTIONS_PER_READER: usize = 8;
/// No more than these: it is the statements that are many.
const READERS_MAX: usize = 4;
/// With so many reads under way on one connection, the next one is used too. The more there are together, the less each
/// costs; but with all of them on one connection, server and database wait for each other by turns.
const READS_BEFORE_NEXT: usize = 8;
/// Reads that are under way on one connection at most.
const READS_PER_READER: usize = 128;

/// Where a record is: its partition and its key.
pub(crate) type Place<'a> = (&'a [u8], &'a [u8]);

pub(crate) struct Readers {
    readers: Vec<Arc<Reader>>,
    permits: Semaphore,
}

#[derive(Default)]
struct Reader {
    connection: Mutex<Option<Arc<Connection>>>,
    /// How many reads are under way.
    reads: AtomicUsize,
    /// Held by who makes a new connection, so that one is made for all who need it.
    opening: tokio::sync::Mutex<()>,
}

impl Readers {
    /// `None` if there are too few connections to set one aside.
    pub(crate) fn of(options: &PostgresOptions) -> Option<Self> {
        let count = (options.connections_max / CONNECTIONS_PER_READER).min(READERS_MAX);
        (count > 0).then(|| Self {
            readers: (0..count).map(|_| Arc::default()).collect(),
            permits: Semaphore::new(count * READS_PER_READER),
        })
    }

    /// How many connections these are.
    pub(crate) fn count(&self) -> usize {
        self.readers.len()
    }

    /// The values of some records, all asked for at once.
    pub(crate) async fn read(&self, pool: &Arc<Pool>, places: &[Place<'_>]) -> Result<Vec<Option<Bytes>>> {
        let mut tries = 0;
        loop {
            tries += 1;
            let UnderWay(reader) = &self.begin();
            let (_permit, connection) = self.lend(pool, reader).await?;
            let error = match timeout(pool.patience(), ask(&connection, places)).await {
                Ok(Ok(values)) => return Ok(values),
                Ok(Err(error)) if breaks_connection(&error) => {
                    reader.broke(&connection, pool);
                    translate("a read failed", error)
                }
                Ok(Err(error)) => match translate("a read failed", error) {
                    // It had to give way to others, and may well succeed at once.
                    error if error.kind() == ErrorKind::Conflict => error,
                    error => return Err(error),
                },
                Err(_) => {
                    reader.broke(&connection, pool);
                    return Err(Error::unavailable("a read failed: the database did not answer in time"));
                }
            };
            if tries == READ_TRIES_MAX {
                return Err(error);
            }
        }
    }

    /// Chooses the first connection that is not busy, or else the least busy one.
    fn begin(&self) -> UnderWay<'_> {
        let reads = |reader: &Reader| reader.reads.load(Ordering::Relaxed);
        let free = self.readers.iter().find(|reader| reads(reader) < READS_BEFORE_NEXT);
        let reader =
            free.or_else(|| self.readers.iter().min_by_key(|reader| reads(reader))).expect("there is a reader");
        reader.reads.fetch_add(1, Ordering::Relaxed);
        UnderWay(reader)
    }

    /// That there is no room for a read says nothing about the database.
    async fn lend(&self, pool: &Arc<Pool>, reader: &Arc<Reader>) -> Result<(SemaphorePermit<'_>, Arc<Connection>)> {
        let wait = pool.options.connection_wait;
        let permit = timeout(wait, self.permits.acquire()).await.map_err(|_| {
            Error::unavailable(format!("no connection to the database was free for a read for {wait:?}"))
        })?;
        let permit = permit.map_err(|_| closed())?;
        if let Some(connection) = reader.open_connection() {
            return Ok((permit, connection));
        }
        let Some(other) = self.readers.iter().find_map(|other| other.open_connection()) else {
            let opened = timeout(wait, reader.connection(pool)).await;
            let late = |_| Error::unavailable(format!("no connection to the database was made for a read in {wait:?}"));
            return Ok((permit, pool.tell(opened.map_err(late).and_then(|opened| opened))?));
        };
        let (reader, pool) = (reader.clone(), pool.clone());
        tokio::spawn(async move {
            // Another read may be at it already.
            if let Ok(_opening) = reader.opening.try_lock() {
                let _ = reader.connection_alone(&pool).await;
            }
        });
        Ok((permit, other))
    }

    /// Looks at a record on each connection that is open. The [keeper](crate::keeper) bounds the time, and has connections
    /// made anew that do not answer in it.
    pub(crate) async fn look(&self) -> Result<()> {
        let open: Vec<_> = self.readers.iter().filter_map(|reader| reader.open_connection()).collect();
        let looks = open.iter().map(|connection| ask(connection, &[(b"", b"")]));
        try_join_all(looks).await.map(drop).map_err(|error| translate("a read failed", error))
    }

    /// Has the next reads make new connections: what broke another one has mostly broken these.
    pub(crate) fn forget(&self) {
        self.readers.iter().for_each(|reader| *reader.connection.lock() = None);
    }

    /// Lets the reads that are under way finish, and takes no more.
    pub(crate) async fn close(&self, options: &PostgresOptions) {
        let all = u32::try_from(self.count() * READS_PER_READER).unwrap_or(u32::MAX);
        // Whoever is still at it after that is cut off when the runtime ends.
        let _ = timeout(options.statement_wait, self.permits.acquire_many(all)).await;
        self.permits.close();
        self.forget();
    }
}

/// A read that counts as long as this lives.
struct UnderWay<'a>(&'a Arc<Reader>);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.reads.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Reader {
    /// The connection, on which others may be reading. It is made if it is not there.
    async fn connection(&self, pool: &Pool) -> Result<Arc<Connection>> {
        if let Some(connection) = self.open_connection() {
            return Ok(connection);
        }
        let _opening = self.opening.lock().await;
        self.connection_alone(pool).await
    }

    /// The same, for who holds `opening`.
    async fn connection_alone(&self, pool: &Pool) -> Result<Arc<Connection>> {
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

    /// Has all connections made anew, unless another read that was under way on this one has seen to it.
    fn broke(&self, broken: &Arc<Connection>, pool: &Pool) {
        let is_news = self.connection.lock().as_ref().is_some_and(|connection| Arc::ptr_eq(connection, broken));
        if is_news {
            pool.forget_connections();
        }
    }
}

async fn ask(connection: &Connection, places: &[Place<'_>]) -> Result<Vec<Option<Bytes>>, tokio_postgres::Error> {
    let Connection { client, statements, .. } = connection;
    // The driver sends a statement when it is first polled, and does not wait for the one before it.
    let reads = places.iter().map(|(partition, key)| async move {
        let parameters: [&(dyn ToSql + Sync); 2] = [partition, key];
        let row = client.query_opt(&statements.get, &parameters).await?;
        Ok(row.map(|row| Bytes::copy_from_slice(row.get(0))))
    });
    try_join_all(reads).await
}
