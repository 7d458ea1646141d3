//! The health check, every second: the state of the database, so that the health endpoint does not report that of the last
//! request, and its clock.
//!
//! It has a connection of its own, so that a busy pool does not affect it, and a short timeout, so that it detects a hanging
//! database long before requests time out. It also probes the connections that reads share. When the state of the database
//! has changed, or its host where only one serves, all idle connections are replaced. Where all hosts serve, the database is
//! down only if two checks fail, the second at another host.

use std::mem::{Discriminant, discriminant};
use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::{Error, ErrorKind, Health, Result};
use tokio::time::timeout;

use crate::DatabaseClock;
use crate::connection::{Connection, is_read_only};
use crate::failure::translate;
use crate::hosts::HostAddress;
use crate::kind::Kind;
use crate::place::Place;
use crate::pool::Pool;
use crate::schema::READ_VERSION;

/// The timeout of a check, with the connection that it may have to open.
const CHECK_TIMEOUT: Duration = Duration::from_secs(3);

const NOTHING: &[u8] = b"";

pub(crate) async fn keep_checking(pool: Arc<Pool>, clock: Arc<DatabaseClock>) {
    let mut check = HealthCheck { pool, clock, connection: None, address: None, last: discriminant(&Health::Healthy) };
    loop {
        tokio::time::sleep(check.pool.options.health_pause).await;
        check.run().await;
    }
}

struct HealthCheck {
    pool: Arc<Pool>,
    clock: Arc<DatabaseClock>,
    connection: Option<Connection>,
    /// The host and the state at the last check.
    address: Option<HostAddress>,
    last: Discriminant<Health>,
}

impl HealthCheck {
    async fn run(&mut self) {
        let takes_turns = self.pool.takes_turns();
        let mut found = self.probe_in_time().await;
        if found.is_err() && takes_turns {
            self.connection = None;
            self.pool.forget_connections();
            found = self.probe_in_time().await;
        }
        let health = match found {
            Ok(health) => health,
            Err(error) => {
                self.connection = None;
                if error.kind() == ErrorKind::Internal {
                    tracing::warn!(%error, "health check of the database failed");
                    return;
                }
                Health::Down(error.message().to_owned())
            }
        };
        let address = self.connection.as_ref().map(|connection| connection.address).or(self.address);
        let has_moved = !takes_turns && self.address.is_some() && self.address != address;
        if has_moved || self.last != discriminant(&health) {
            self.pool.forget_connections();
        }
        (self.address, self.last) = (address, discriminant(&health));
        self.pool.set_health(health);
    }

    async fn probe_in_time(&mut self) -> Result<Health> {
        let silent = |_| Error::unavailable(format!("the database did not respond in {CHECK_TIMEOUT:?}"));
        timeout(CHECK_TIMEOUT, self.probe()).await.map_err(silent)?
    }

    async fn probe(&mut self) -> Result<Health> {
        let connection = match self.connection.take().filter(|connection| !connection.client.is_closed()) {
            Some(connection) => connection,
            None => Connection::open(&self.pool.target, &self.pool.options, self.pool.kind, CHECK_TIMEOUT).await?,
        };
        let Connection { client, statements, .. } = self.connection.insert(connection);
        let shared = async {
            match &self.pool.read_connections {
                Some(connections) => connections.probe().await,
                None => Ok(()),
            }
        };
        let own = async {
            let is_read_only = is_read_only(client).await?;
            // On Citus the clock is that of the coordinator, which may be away: the check of the nodes reads it.
            if self.pool.kind != Kind::Citus {
                self.clock.refresh(client).await?;
            }
            // On Citus every node has the schema's version, and the records of each node have a check of their own.
            let read = match self.pool.kind {
                Kind::Citus => client.query_opt(READ_VERSION, &[]).await,
                _ => client.query_opt(&statements.at(Place::Records).get, &[&NOTHING, &NOTHING]).await,
            };
            read.map_err(|error| translate("the database cannot be read", error))?;
            Ok::<_, Error>(is_read_only)
        };
        let (is_read_only, ()) = tokio::try_join!(own, shared)?;
        match is_read_only {
            true if self.pool.target.hosts.are_several() => Err(Error::unavailable("the database rejects writes")),
            true => Ok(Health::ReadOnly("the database is set to reject writes".to_owned())),
            false => Ok(Health::Healthy),
        }
    }
}
