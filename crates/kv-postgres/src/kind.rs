//! The kinds of database, as far as they need different tables, settings or statements.

use tablerock_kv::{Error, Result};
use tokio_postgres::Client;

use crate::failure::translate;

/// Any database that is not one of the others gets the tables of PostgreSQL, without what only it knows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Postgres,
    Citus,
    Yugabyte,
    Other,
}

const IS_COORDINATOR: &str = "SELECT citus_is_coordinator()";
const COORDINATOR: &str = "SELECT concat(nodename, ':', nodeport) FROM pg_dist_node WHERE groupid = 0";

impl Kind {
    pub(crate) async fn of(client: &Client) -> Result<Self> {
        let unknown = |error| translate("cannot find out the kind of database", error);
        let version: String =
            client.query_one("SELECT version()", &[]).await.and_then(|row| row.try_get(0)).map_err(unknown)?;
        if version.contains("-YB-") {
            return Ok(Self::Yugabyte);
        }
        let citus = client.query("SELECT 1 FROM pg_extension WHERE extname = 'citus'", &[]).await.map_err(unknown)?;
        Ok(match (citus.is_empty(), version.starts_with("PostgreSQL ")) {
            (false, _) => Self::Citus,
            (true, true) => Self::Postgres,
            (true, false) => Self::Other,
        })
    }

    /// Fails at a worker of Citus, where tables would be created that only this node has. They would also prevent the
    /// coordinator from creating them on all nodes.
    pub(crate) async fn check_may_create_tables(self, client: &Client) -> Result<()> {
        let failed = |error| translate("cannot find out whether this node is the coordinator", error);
        let is_coordinator =
            async || -> Result<bool, tokio_postgres::Error> { client.query_one(IS_COORDINATOR, &[]).await?.try_get(0) };
        if self != Self::Citus || is_coordinator().await.map_err(failed)? {
            return Ok(());
        }
        let coordinator = client.query_opt(COORDINATOR, &[]).await.map_err(failed)?;
        let coordinator: String = match coordinator {
            Some(row) => row.try_get(0).map_err(failed)?,
            None => "which this node does not know".to_owned(),
        };
        let message = format!(
            "this node is a worker of a Citus cluster, and only the coordinator ({coordinator}) creates or changes the \
             tables: start one server with the coordinator's URL first"
        );
        Err(Error::invalid(message))
    }
}
