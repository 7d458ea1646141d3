//! The tables, and their creation by one of many servers that start at once.
//!
//! One row holds the version of the schema. A server that finds an old version locks that row, reads it again and migrates;
//! the others wait for the lock and find the new version. The changes run on a second connection, since some of these
//! databases do not allow a transaction to hold a lock and change tables. Each change is idempotent, so the next server
//! can finish what a failed one began.

use std::time::Duration;

use tablerock_kv::{Error, ErrorKind, Result};
use tokio::time::timeout;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use crate::connection::{Bounds, connect, setting};
use crate::failure::translate;
use crate::{PostgresOptions, Target};

/// The version that this program writes and reads.
const VERSION: i64 = 1;

/// The attempts of a migration that conflicts with another server's, and the pause between them.
const ATTEMPTS_MAX: u32 = 20;
const ATTEMPT_PAUSE: Duration = Duration::from_millis(100);

/// The timeout of a migration and of servers that wait for it. If the database ended the lock earlier, two servers could
/// migrate at once, so its timeouts are at least as long.
const MIGRATION_WAIT: Duration = Duration::from_secs(600);
const BOUNDS: Bounds = Bounds { statement: MIGRATION_WAIT, idle: MIGRATION_WAIT };

/// Vacuums the records, and the large values apart from them, once one in twenty is dead instead of one in five. So the space
/// of dropped rows is free before new rows need it, and the table does not grow.
const VACUUM_EARLY: &str = "ALTER TABLE tablerock_records SET (\
     autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000, \
     toast.autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_threshold = 1000)";

const CREATE_SCHEMA: &str =
    "CREATE TABLE IF NOT EXISTS tablerock_schema (id INTEGER PRIMARY KEY, version INTEGER NOT NULL)";
const BEGIN_AT_ZERO: &str = "INSERT INTO tablerock_schema (id, version) VALUES (1, 0) ON CONFLICT (id) DO NOTHING";
// What an INTEGER is differs: CockroachDB's has 64 bits.
const READ_VERSION: &str = "SELECT CAST(version AS bigint) FROM tablerock_schema WHERE id = 1";
const LOCK_VERSION: &str = "SELECT CAST(version AS bigint) FROM tablerock_schema WHERE id = 1 FOR UPDATE";

/// Creates or migrates the tables if needed, and warns if the database does not sync.
pub(crate) async fn prepare(target: &Target, options: &PostgresOptions) -> Result<()> {
    let silent = |_| Error::unavailable("cannot prepare the database's tables: no response in time");
    let (client, _) = connect(target, options.connection_wait, BOUNDS).await?;
    timeout(options.statement_wait, warn_of_lost_syncs(&client)).await.map_err(silent)??;
    // A database whose tables are ready responds at once, or is down.
    let found = timeout(options.statement_wait, version(&client, READ_VERSION)).await.map_err(silent)??;
    if found == Some(VERSION) {
        return Ok(());
    }
    if !options.create_if_missing && found.is_none_or(|version| version == 0) {
        return Err(Error::invalid(
            "this database has no tables of Tablerock: check the database's name, and search_path if it is set",
        ));
    }
    timeout(MIGRATION_WAIT, async {
        for attempt in 1.. {
            match migrate(&client, target, options).await {
                Err(error) if error.kind() == ErrorKind::Conflict && attempt < ATTEMPTS_MAX => {
                    tokio::time::sleep(ATTEMPT_PAUSE).await;
                }
                outcome => return outcome,
            }
        }
        unreachable!("the last attempt returns")
    })
    .await
    .map_err(silent)?
}

async fn migrate(client: &Client, target: &Target, options: &PostgresOptions) -> Result<()> {
    run(client, CREATE_SCHEMA).await?;
    run(client, BEGIN_AT_ZERO).await?;
    run(client, "BEGIN").await?;
    let outcome = migrate_locked(client, target, options).await;
    let end = if outcome.is_ok() { "COMMIT" } else { "ROLLBACK" };
    outcome.and(run(client, end).await)
}

/// Migrates while other servers wait for the lock.
async fn migrate_locked(client: &Client, target: &Target, options: &PostgresOptions) -> Result<()> {
    let found = version(client, LOCK_VERSION).await?.unwrap_or_default();
    if found > VERSION {
        let message = format!(
            "the database was written by a newer Tablerock: its schema has version {found}, and this program knows {VERSION}"
        );
        return Err(Error::invalid(message));
    }
    if found == VERSION {
        return Ok(());
    }
    let (worker, _) = connect(target, options.connection_wait, BOUNDS).await?;
    let kind = Kind::of(&worker).await?;
    for statement in kind.first_tables() {
        run(&worker, statement).await?;
    }
    match kind {
        Kind::Postgres => run(&worker, VACUUM_EARLY).await?,
        Kind::Citus => distribute(&worker).await?,
        Kind::Yugabyte | Kind::Other => {}
    }
    tracing::info!(version = VERSION, database = ?kind, "the database's tables are ready");
    run(client, &format!("UPDATE tablerock_schema SET version = {VERSION} WHERE id = 1")).await
}

/// The databases that need different settings. Others get the tables of PostgreSQL, without what only it knows.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Postgres,
    Citus,
    Yugabyte,
    Other,
}

impl Kind {
    async fn of(client: &Client) -> Result<Self> {
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

    /// Records are ordered by partition and key. YugabyteDB spreads partitions by a hash unless the key has `ASC`, which
    /// the others do not accept.
    fn first_tables(self) -> [&'static str; 2] {
        let records = match self {
            Self::Postgres | Self::Citus | Self::Other => {
                "CREATE TABLE IF NOT EXISTS tablerock_records (partition BYTEA NOT NULL, key BYTEA NOT NULL, \
                 digest BYTEA NOT NULL, value BYTEA NOT NULL, PRIMARY KEY (partition, key))"
            }
            Self::Yugabyte => {
                "CREATE TABLE IF NOT EXISTS tablerock_records (partition BYTEA NOT NULL, key BYTEA NOT NULL, \
                 digest BYTEA NOT NULL, value BYTEA NOT NULL, PRIMARY KEY (partition ASC, key ASC))"
            }
        };
        let drops = "CREATE TABLE IF NOT EXISTS tablerock_drops (id BYTEA PRIMARY KEY, \
             start_partition BYTEA NOT NULL, start_key BYTEA NOT NULL, end_partition BYTEA, end_key BYTEA, \
             due TIMESTAMPTZ NOT NULL, claimed_until TIMESTAMPTZ NOT NULL)";
        [records, drops]
    }
}

/// Spreads the records over Citus' workers, whole partitions together.
async fn distribute(client: &Client) -> Result<()> {
    let failed = |error| refused("Citus did not distribute the records", error);
    let done = "SELECT 1 FROM pg_dist_partition WHERE logicalrelid = 'tablerock_records'::regclass";
    if client.query(done, &[]).await.map_err(failed)?.is_empty() {
        let distribute = "SELECT create_distributed_table('tablerock_records', 'partition')";
        client.query(distribute, &[]).await.map_err(failed)?;
    }
    Ok(())
}

/// Warns if the database acknowledges syncs that it does not perform. Each connection turns on synced commits itself.
async fn warn_of_lost_syncs(client: &Client) -> Result<()> {
    if setting(client, "fsync").await?.as_deref() == Some("off") {
        tracing::warn!("the database runs with fsync = off: a power cut may lose acknowledged writes");
    }
    Ok(())
}

/// Returns the version of the schema; `None` if there is none yet.
async fn version(client: &Client, statement: &str) -> Result<Option<i64>> {
    let failed = |error| translate("cannot read the version of the database's tables", error);
    match client.query_opt(statement, &[]).await {
        Ok(row) => row.map(|row| row.try_get(0)).transpose().map_err(failed),
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

async fn run(client: &Client, statement: &str) -> Result<()> {
    client.batch_execute(statement).await.map_err(|error| refused("cannot prepare the database's tables", error))
}

/// Translates an error of a migration. A race between servers is a conflict: both may pass "if not exists" at once, and a
/// change of tables elsewhere can end a transaction.
fn refused(doing: &str, error: tokio_postgres::Error) -> Error {
    let is_race = error.as_db_error().is_some_and(|refusal| {
        matches!(refusal.code().code(), "23505" | "42P07" | "42710" | "40001" | "40P01")
            || refusal.message().contains("concurrently updated")
            || refusal.message().contains("atalog")
    });
    if is_race { Error::conflict(doing).with_source(error) } else { translate(doing, error) }
}
