//! One connection to the database.

use std::time::{Duration, Instant};

use tablerock_kv::{Error, ErrorKind, Result};
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::failure::translate;
use crate::hosts::Place;
use crate::statements::Statements;
use crate::{PostgresOptions, Target};

/// How long a transaction of ours may rest between two statements before the database ends it. Only that of a server
/// which died without a word ever does, and others wait for its rows.
const REST_MAX: Duration = Duration::from_secs(10);

/// Every statement is answered by the primary key. A planner whose statistics are younger than the data may think
/// otherwise and keep to it, so it is told. A database that does not know these settings does not need them.
const PLANNER_SETTINGS: [&str; 2] = ["SET enable_seqscan = off", "SET enable_bitmapscan = off"];

/// `t` on a host that follows another one: what it shows may be old.
const IS_STANDBY: &str = "SELECT pg_is_in_recovery()";

/// How long the database lets a session of ours take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) statement: Duration,
    pub(crate) rest: Duration,
}

impl Bounds {
    pub(crate) fn of(options: &PostgresOptions) -> Self {
        Self { statement: options.statement_wait, rest: REST_MAX }
    }
}

/// A connection with its statements.
pub(crate) struct Connection {
    pub(crate) client: Client,
    pub(crate) statements: Statements,
    /// Where it leads.
    pub(crate) place: Place,
}

impl Connection {
    /// Makes one within `wait`.
    pub(crate) async fn open(target: &Target, options: &PostgresOptions, wait: Duration) -> Result<Self> {
        let opened = timeout(wait, async {
            let (client, place) = connect(target, wait, Bounds::of(options)).await?;
            for setting in PLANNER_SETTINGS {
                let _ = client.batch_execute(setting).await;
            }
            let statements = Statements::prepare(&client).await;
            let statements =
                statements.map_err(|error| translate("the database does not take our statements", error))?;
            Ok(Self { client, statements, place })
        });
        opened.await.unwrap_or_else(|_| {
            Err(Error::unavailable(format!("the database cannot be reached: no connection was made in {wait:?}")))
        })
    }
}

/// A bare connection to a host that is no standby, whose statements are bounded in time and whose commits are synced. It
/// is made within `wait`, of which each address of each host has its share.
pub(crate) async fn connect(target: &Target, wait: Duration, bounds: Bounds) -> Result<(Client, Place)> {
    let give_up = Instant::now() + wait;
    let unresolved = |_| Error::unavailable("the database cannot be reached: its name is not resolved in time");
    let places = timeout(wait, target.hosts.places()).await.map_err(unresolved)?;
    let mut refusals = vec![];
    for (index, &place) in places.iter().enumerate() {
        let left = give_up.saturating_duration_since(Instant::now());
        // The first is the one that served last, and mostly will: it may well be slow.
        let share = match (index, places.len()) {
            (0, 2..) => left / 2,
            (_, count) => left / (count - index) as u32,
        };
        let attempt = target.hosts.attempt(place, places[(index + 1) % places.len()]);
        match timeout(share, connect_at(target, place, bounds)).await {
            Ok(Ok(client)) => {
                attempt.succeeded();
                return Ok((client, place));
            }
            Ok(Err(error)) => refusals.push(error),
            Err(_) => {
                refusals.push(Error::unavailable(format!("the database cannot be reached: silent for {share:?}")))
            }
        }
    }
    Err(together(refusals))
}

/// What several hosts answered, as one error. One that does not pass by itself is what the operator has to hear.
fn together(mut refusals: Vec<Error>) -> Error {
    if refusals.len() == 1 {
        return refusals.remove(0);
    }
    let lasting = refusals.iter().map(Error::kind).find(|kind| *kind != ErrorKind::Unavailable);
    let messages: Vec<&str> = refusals.iter().map(Error::message).collect();
    let message = format!("none of the database's {} addresses serves: {}", messages.len(), messages.join("; "));
    Error::new(lasting.unwrap_or(ErrorKind::Unavailable), message)
}

async fn connect_at(target: &Target, place: Place, bounds: Bounds) -> Result<Client> {
    let unreachable = |error| translate("the database cannot be reached", error);
    let config = target.hosts.config_at(place);
    let (client, connection) = config.connect(target.tls.clone()).await.map_err(unreachable)?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to the database ended");
        }
    });
    let Bounds { statement, rest } = bounds;
    let bounds = format!(
        "SET statement_timeout = {}; SET idle_in_transaction_session_timeout = {}",
        statement.as_millis(),
        rest.as_millis()
    );
    client.batch_execute(&bounds).await.map_err(unreachable)?;
    check_serves(&client, target.hosts.are_several()).await?;
    sync_commits(&client).await?;
    Ok(client)
}

/// A standby shows what it has received so far, and what was acknowledged may not be among it. So it is as good as down
/// until it is promoted. Of several hosts, one that was told to take no writes is not the primary either; if there is no
/// other, its reads are still good.
async fn check_serves(client: &Client, has_others: bool) -> Result<()> {
    if first_value(client, IS_STANDBY).await?.is_some_and(|answer| answer.starts_with('t')) {
        return Err(Error::unavailable("the database is a standby, whose data may be old"));
    }
    if has_others && is_read_only(client).await? {
        return Err(Error::unavailable("the database takes no writes, and there are other hosts"));
    }
    Ok(())
}

/// Whether writes are refused: on a standby, or where the operator said so.
pub(crate) async fn is_read_only(client: &Client) -> Result<bool> {
    Ok(setting(client, "transaction_read_only").await?.as_deref() == Some("on"))
}

/// Has every commit of this session synced, here and where the operator asks for it, before it is acknowledged. The value
/// is set even if it is good already: otherwise the session would follow when the operator changes it.
async fn sync_commits(client: &Client) -> Result<()> {
    let Some(found) = setting(client, "synchronous_commit").await? else { return Ok(()) };
    let wanted = if matches!(&found[..], "off" | "local") { "on" } else { &found };
    let set = client.batch_execute(&format!("SET synchronous_commit = '{wanted}'")).await;
    set.map_err(|error| translate("the database does not sync what it acknowledges", error))
}

/// A setting, if the database knows it.
pub(crate) async fn setting(client: &Client, name: &str) -> Result<Option<String>> {
    first_value(client, &format!("SHOW {name}")).await
}

/// The first value that a question is answered with; `None` if the database does not know what it is asked.
async fn first_value(client: &Client, question: &str) -> Result<Option<String>> {
    let answer = match client.simple_query(question).await {
        Ok(answer) => answer,
        Err(error) if is_unknown(&error) => return Ok(None),
        Err(error) => return Err(translate("the database does not say how it is set", error)),
    };
    Ok(answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    }))
}

fn is_unknown(error: &tokio_postgres::Error) -> bool {
    let unknown = [SqlState::UNDEFINED_OBJECT, SqlState::UNDEFINED_FUNCTION, SqlState::FEATURE_NOT_SUPPORTED];
    error.code().is_some_and(|code| unknown.contains(code))
}
