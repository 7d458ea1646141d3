//! One connection to the database.

use std::time::Duration;

use tablerock_kv::Result;
use tokio_postgres::Client;

use crate::failure::translate;
use crate::statements::Statements;
use crate::{PostgresOptions, Target};

/// How long a transaction of ours may rest between two statements before the database ends it. Only that of a server
/// which died without a word ever does, and others wait for its rows.
const REST_MAX: Duration = Duration::from_secs(10);

/// Every statement is answered by the primary key. A planner whose statistics are younger than the data may think
/// otherwise and keep to it, so it is told. A database that does not know these settings does not need them.
const PLANNER_SETTINGS: [&str; 2] = ["SET enable_seqscan = off", "SET enable_bitmapscan = off"];

/// A connection with its statements.
pub(crate) struct Connection {
    pub(crate) client: Client,
    pub(crate) statements: Statements,
}

impl Connection {
    pub(crate) async fn open(target: &Target, options: &PostgresOptions) -> Result<Self> {
        let client = connect(target, options).await?;
        for setting in PLANNER_SETTINGS {
            let _ = client.batch_execute(setting).await;
        }
        let statements = Statements::prepare(&client).await;
        let statements = statements.map_err(|error| translate("the database does not take our statements", error))?;
        Ok(Self { client, statements })
    }
}

/// A bare connection whose statements are bounded in time.
pub(crate) async fn connect(target: &Target, options: &PostgresOptions) -> Result<Client> {
    let unreachable = |error| translate("the database cannot be reached", error);
    let (client, connection) = target.config.connect(target.tls.clone()).await.map_err(unreachable)?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to the database ended");
        }
    });
    let bounds = format!(
        "SET statement_timeout = {}; SET idle_in_transaction_session_timeout = {}",
        options.statement_wait.as_millis(),
        REST_MAX.as_millis()
    );
    client.batch_execute(&bounds).await.map_err(unreachable)?;
    Ok(client)
}
