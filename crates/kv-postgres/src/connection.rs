//! One connection to the database.

use std::time::{Duration, Instant};

use tablerock_kv::{Error, ErrorKind, Result};
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::failure::translate;
use crate::hosts::{HostAddress, HostOrder};
use crate::kind::Kind;
use crate::statements::Statements;
use crate::{PostgresOptions, Target};

/// The idle time between two statements after which the database ends a transaction. Only a server that vanished idles so
/// long, and others wait for its row locks.
const IDLE_MAX: Duration = Duration::from_secs(10);

/// Every statement uses the primary key. A planner with old statistics may choose otherwise, so other plans are disabled. A
/// database that does not know these settings does not need them.
const PLANNER_SETTINGS: [&str; 2] = ["SET enable_seqscan = off", "SET enable_bitmapscan = off"];

/// A page over partitions is a short task on every shard. On its own, Citus opens up to sixteen connections to each worker
/// for them and closes all but one, which costs several times as much as the tasks.
const CITUS_SETTING: &str = "SET citus.max_adaptive_executor_pool_size = 1";

/// `t` on a host that follows another one, whose data may be stale.
const IS_STANDBY: &str = "SELECT pg_is_in_recovery()";

/// The timeouts that the database applies to a session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) statement: Duration,
    pub(crate) idle: Duration,
}

impl Bounds {
    pub(crate) fn of(options: &PostgresOptions) -> Self {
        Self { statement: options.statement_wait, idle: IDLE_MAX }
    }
}

/// A connection with its statements.
pub(crate) struct Connection {
    pub(crate) client: Client,
    pub(crate) statements: Statements,
    /// The host that it is connected to.
    pub(crate) address: HostAddress,
}

impl Connection {
    /// Opens a connection within `wait`.
    pub(crate) async fn open(target: &Target, options: &PostgresOptions, kind: Kind, wait: Duration) -> Result<Self> {
        let opened = timeout(wait, async {
            let (client, address) = connect(target, target.host_order(kind), wait, Bounds::of(options)).await?;
            for setting in PLANNER_SETTINGS.into_iter().chain((kind == Kind::Citus).then_some(CITUS_SETTING)) {
                let _ = client.batch_execute(setting).await;
            }
            let statements = Statements::prepare(&client, kind).await;
            let statements = statements.map_err(|error| translate("the database rejects a statement", error))?;
            Ok(Self { client, statements, address })
        });
        opened.await.unwrap_or_else(|_| {
            Err(Error::unavailable(format!("the database cannot be reached: no connection was made in {wait:?}")))
        })
    }
}

/// Opens a bare connection to a host that is not a standby, with timeouts for statements and with synced commits. Each
/// address of each host has its share of `wait`.
pub(crate) async fn connect(
    target: &Target,
    order: HostOrder,
    wait: Duration,
    bounds: Bounds,
) -> Result<(Client, HostAddress)> {
    let give_up = Instant::now() + wait;
    let unresolved = |_| Error::unavailable("the database cannot be reached: its name was not resolved in time");
    let addresses = timeout(wait, target.hosts.addresses(order)).await.map_err(unresolved)?;
    let mut errors = vec![];
    for (index, &address) in addresses.iter().enumerate() {
        let left = give_up.saturating_duration_since(Instant::now());
        // The first probably serves: it gets more time.
        let share = match (index, addresses.len()) {
            (0, 2..) => left / 2,
            (_, count) => left / (count - index) as u32,
        };
        let attempt = target.hosts.attempt(address, addresses[(index + 1) % addresses.len()]);
        match timeout(share, connect_at(target, address, bounds)).await {
            Ok(Ok(client)) => {
                attempt.succeeded();
                return Ok((client, address));
            }
            Ok(Err(error)) => errors.push(error),
            Err(_) => {
                errors.push(Error::unavailable(format!("the database cannot be reached: no response in {share:?}")))
            }
        }
    }
    Err(combine(errors))
}

/// Combines the errors of several hosts. A kind other than `Unavailable` wins: it needs the operator.
fn combine(mut errors: Vec<Error>) -> Error {
    if errors.len() == 1 {
        return errors.remove(0);
    }
    let lasting = errors.iter().map(Error::kind).find(|kind| *kind != ErrorKind::Unavailable);
    let messages: Vec<&str> = errors.iter().map(Error::message).collect();
    let message = format!("none of the database's {} addresses serves: {}", messages.len(), messages.join("; "));
    Error::new(lasting.unwrap_or(ErrorKind::Unavailable), message)
}

pub(crate) async fn connect_at(target: &Target, address: HostAddress, bounds: Bounds) -> Result<Client> {
    let unreachable = |error| translate("the database cannot be reached", error);
    let config = target.hosts.config_of(address);
    let (client, connection) = config.connect(target.tls.clone()).await.map_err(unreachable)?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "connection to the database ended");
        }
    });
    let Bounds { statement, idle } = bounds;
    let bounds = format!(
        "SET statement_timeout = {}; SET idle_in_transaction_session_timeout = {}",
        statement.as_millis(),
        idle.as_millis()
    );
    client.batch_execute(&bounds).await.map_err(unreachable)?;
    check_serves(&client, target.hosts.are_several()).await?;
    sync_commits(&client).await?;
    Ok(client)
}

/// Rejects a standby, which may lack acknowledged writes: it counts as down until it is promoted. Of several hosts, a
/// read-only one is not the primary either; a single one still serves reads.
async fn check_serves(client: &Client, has_others: bool) -> Result<()> {
    if first_value(client, IS_STANDBY).await?.is_some_and(|value| value.starts_with('t')) {
        return Err(Error::unavailable("the database is a standby, whose data may be stale"));
    }
    if has_others && is_read_only(client).await? {
        return Err(Error::unavailable("the database rejects writes, and there are other hosts"));
    }
    Ok(())
}

/// Returns whether the database rejects writes: it is a standby, or configured so.
pub(crate) async fn is_read_only(client: &Client) -> Result<bool> {
    Ok(setting(client, "transaction_read_only").await?.as_deref() == Some("on"))
}

/// Makes the database sync every commit of this session before it acknowledges it. The value is set even if it is already
/// right: otherwise the session would follow a later change of the configuration.
async fn sync_commits(client: &Client) -> Result<()> {
    let Some(found) = setting(client, "synchronous_commit").await? else { return Ok(()) };
    let wanted = if matches!(&found[..], "off" | "local") { "on" } else { &found };
    let set = client.batch_execute(&format!("SET synchronous_commit = '{wanted}'")).await;
    set.map_err(|error| translate("cannot turn on synchronous commits", error))
}

/// Returns a setting, if the database knows it.
pub(crate) async fn setting(client: &Client, name: &str) -> Result<Option<String>> {
    first_value(client, &format!("SHOW {name}")).await
}

/// Returns the first value of a query; `None` if the database does not know the setting or function.
async fn first_value(client: &Client, query: &str) -> Result<Option<String>> {
    let messages = match client.simple_query(query).await {
        Ok(messages) => messages,
        Err(error) if is_unknown(&error) => return Ok(None),
        Err(error) => return Err(translate("cannot read a setting of the database", error)),
    };
    Ok(messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    }))
}

fn is_unknown(error: &tokio_postgres::Error) -> bool {
    let unknown = [SqlState::UNDEFINED_OBJECT, SqlState::UNDEFINED_FUNCTION, SqlState::FEATURE_NOT_SUPPORTED];
    error.code().is_some_and(|code| unknown.contains(code))
}
