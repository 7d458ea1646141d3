//! The look at the database every second: how it is, so that the health endpoint does not tell how it was when somebody
//! last asked for something, and what its clock shows.
//!
//! It has a connection of its own, so that it sees the database and not how busy this server is, and little time, so that
//! a database which hangs is noticed long before the requests that wait for it end. What it finds on the connections that
//! reads share counts too. When the database is found in another state than before, or on another host, all connections
//! that nobody uses are made anew.

use std::mem::{Discriminant, discriminant};
use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::{Error, ErrorKind, Health, Result};
use tokio::time::timeout;

use crate::DatabaseClock;
use crate::connection::{Connection, is_read_only};
use crate::failure::translate;
use crate::hosts::Place;
use crate::pool::Pool;

/// How long a look may take, with the connection that it may have to make.
const LOOK_WAIT: Duration = Duration::from_secs(3);

pub(crate) async fn keep_looking(pool: Arc<Pool>, clock: Arc<DatabaseClock>) {
    let mut keeper = Keeper { pool, clock, connection: None, place: None, last: discriminant(&Health::Healthy) };
    loop {
        tokio::time::sleep(keeper.pool.options.health_pause).await;
        keeper.look_and_tell().await;
    }
}

struct Keeper {
    pool: Arc<Pool>,
    clock: Arc<DatabaseClock>,
    connection: Option<Connection>,
    /// Where the database was found last, and how.
    place: Option<Place>,
    last: Discriminant<Health>,
}

impl Keeper {
    async fn look_and_tell(&mut self) {
        let silent = |_| Error::unavailable(format!("the database did not answer in {LOOK_WAIT:?}"));
        let found = timeout(LOOK_WAIT, self.look()).await.map_err(silent).and_then(|found| found);
        let health = match found {
            Ok(health) => health,
            Err(error) => {
                self.connection = None;
                if error.kind() == ErrorKind::Internal {
                    tracing::warn!(%error, "cannot ask the database how it is");
                    return;
                }
                Health::Down(error.message().to_owned())
            }
        };
        let place = self.connection.as_ref().map(|connection| connection.place).or(self.place);
        let has_moved = self.place.is_some() && self.place != place;
        if has_moved || self.last != discriminant(&health) {
            self.pool.forget_connections();
        }
        (self.place, self.last) = (place, discriminant(&health));
        self.pool.note(health);
    }

    async fn look(&mut self) -> Result<Health> {
        let connection = match self.connection.take().filter(|connection| !connection.client.is_closed()) {
            Some(connection) => connection,
            None => Connection::open(&self.pool.target, &self.pool.options, LOOK_WAIT).await?,
        };
        let Connection { client, statements, .. } = self.connection.insert(connection);
        let shared = async {
            match &self.pool.readers {
                Some(readers) => readers.look().await,
                None => Ok(()),
            }
        };
        let own = async {
            let is_read_only = is_read_only(client).await?;
            let told = self.clock.refresh(client).await;
            told.map_err(|error| translate("the database does not tell the time", error))?;
            let nothing: &[u8] = b"";
            let read = client.query_opt(&statements.get, &[&nothing, &nothing]).await;
            read.map_err(|error| translate("the database cannot be read", error))?;
            Ok::<_, Error>(is_read_only)
        };
        let (is_read_only, ()) = tokio::try_join!(own, shared)?;
        match is_read_only {
            true if self.pool.target.hosts.are_several() => Err(Error::unavailable("the database takes no writes")),
            true => Ok(Health::ReadOnly("the database takes no writes: it was set so".to_owned())),
            false => Ok(Health::Healthy),
        }
    }
}
