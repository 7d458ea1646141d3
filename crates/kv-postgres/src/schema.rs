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

use crate::connection::{Bounds, connect};
use crate::directory_marks::MARKS as MARKS_COUNT;
use crate::failure::{detail, translate};
use crate::hosts::HostOrder;
use crate::kind::Kind;
use crate::{PostgresOptions, Target, durability};

/// The version of the tables that this program writes and reads. That of Citus has directories on all nodes.
const fn version_of(kind: Kind) -> i64 {
    match kind {
        Kind::Citus => 2,
        Kind::Postgres | Kind::Yugabyte | Kind::Other => 1,
    }
}

/// The attempts of a migration that conflicts with another server's, and the pause between them.
const ATTEMPTS_MAX: u32 = 20;
const ATTEMPT_PAUSE: Duration = Duration::from_millis(100);

/// The timeout of a migration and of servers that wait for it. If the database ended the lock earlier, two servers could
/// migrate at once, so its timeouts are at least as long.
const MIGRATION_WAIT: Duration = Duration::from_secs(600);
const BOUNDS: Bounds = Bounds { statement: MIGRATION_WAIT, idle: MIGRATION_WAIT };

pub(crate) const RECORDS: &str = "tablerock_records";
pub(crate) const DIRECTORY: &str = "tablerock_directory";
const MARKS: &str = "tablerock_marks";
const DROPS: &str = "tablerock_drops";
const SCHEMA: &str = "tablerock_schema";

/// Vacuums the records, and the large values apart from them, once one in twenty is dead instead of one in five. So the space
/// of dropped rows is free before new rows need it, and the table does not grow.
const VACUUM_EARLY: &str = "ALTER TABLE tablerock_records SET (\
     autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000, \
     toast.autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_threshold = 1000)";

const CREATE_DIRECTORY: &str = "CREATE TABLE IF NOT EXISTS tablerock_directory (partition BYTEA NOT NULL, \
     key BYTEA NOT NULL, digest BYTEA NOT NULL, value BYTEA NOT NULL, PRIMARY KEY (partition, key))";
const CREATE_MARKS: &str =
    "CREATE TABLE IF NOT EXISTS tablerock_marks (id INTEGER PRIMARY KEY, changes BIGINT NOT NULL)";
const CREATE_SCHEMA: &str =
    "CREATE TABLE IF NOT EXISTS tablerock_schema (id INTEGER PRIMARY KEY, version INTEGER NOT NULL)";
const BEGIN_AT_ZERO: &str = "INSERT INTO tablerock_schema (id, version) VALUES (1, 0) ON CONFLICT (id) DO NOTHING";
// What an INTEGER is differs: CockroachDB's has 64 bits.
pub(crate) const READ_VERSION: &str = "SELECT CAST(version AS bigint) FROM tablerock_schema WHERE id = 1";
const LOCK_VERSION: &str = "SELECT CAST(version AS bigint) FROM tablerock_schema WHERE id = 1 FOR UPDATE";

/// Checks the settings of the database, and creates or migrates the tables if needed.
pub(crate) async fn prepare(target: &Target, options: &PostgresOptions) -> Result<Kind> {
    let silent = |_| Error::unavailable("cannot prepare the database's tables: no response in time");
    let (client, _) = connect(target, HostOrder::LastServed, options.connection_wait, BOUNDS).await?;
    // A database whose tables are ready responds at once, or is down.
    let look = async {
        let kind = Kind::of(&client).await?;
        durability::check(&client, kind, target.role()).await?;
        let found = version(&client, READ_VERSION).await?;
        Ok::<_, Error>((kind, found))
    };
    let (kind, found) = timeout(options.statement_wait, look).await.map_err(silent)??;
    if found == Some(version_of(kind)) {
        return Ok(kind);
    }
    if !options.create_if_missing && found.is_none_or(|version| version == 0) {
        return Err(Error::invalid(
            "this database has no tables of Tablerock: check the database's name, and search_path if it is set",
        ));
    }
    kind.check_may_create_tables(&client).await?;
    timeout(MIGRATION_WAIT, async {
        for attempt in 1.. {
            match migrate(&client, target, options, kind).await.map(|()| kind) {
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

async fn migrate(client: &Client, target: &Target, options: &PostgresOptions, kind: Kind) -> Result<()> {
    run(client, CREATE_SCHEMA).await?;
    if kind == Kind::Citus {
        copy_to_all_nodes(client, SCHEMA).await?;
    }
    run(client, BEGIN_AT_ZERO).await?;
    run(client, "BEGIN").await?;
    let outcome = migrate_locked(client, target, options, kind).await;
    let end = if outcome.is_ok() { "COMMIT" } else { "ROLLBACK" };
    outcome.and(run(client, end).await)
}

/// Migrates while other servers wait for the lock.
async fn migrate_locked(client: &Client, target: &Target, options: &PostgresOptions, kind: Kind) -> Result<()> {
    let (found, known) = (version(client, LOCK_VERSION).await?.unwrap_or_default(), version_of(kind));
    if found > known {
        let message = format!(
            "the database was written by a newer Tablerock: its schema has version {found}, and this program knows {known}"
        );
        return Err(Error::invalid(message));
    }
    if found == known {
        return Ok(());
    }
    if found > 0 {
        // Servers of that version may be running, and would not see what this one changes.
        let message = format!(
            "the tables of this {kind:?} database have version {found}, and this program needs version {known}: copy the \
             data to a new database with `tablerock copy`"
        );
        return Err(Error::invalid(message));
    }
    let (worker, _) = connect(target, HostOrder::LastServed, options.connection_wait, BOUNDS).await?;
    for statement in kind.first_tables() {
        run(&worker, statement).await?;
    }
    match kind {
        Kind::Postgres => run(&worker, VACUUM_EARLY).await?,
        Kind::Citus => distribute(&worker).await?,
        Kind::Yugabyte | Kind::Other => {}
    }
    tracing::info!(version = known, database = ?kind, "the database's tables are ready");
    run(client, &format!("UPDATE tablerock_schema SET version = {known} WHERE id = 1")).await
}

impl Kind {
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

/// Spreads the records over Citus' workers, whole partitions together. The other tables are small and needed on every node.
async fn distribute(client: &Client) -> Result<()> {
    if !is_distributed(client, RECORDS).await? {
        let distribute = format!("SELECT create_distributed_table('{RECORDS}', 'partition')");
        run(client, &distribute).await?;
    }
    let marks = (0..MARKS_COUNT).map(|id| format!("({id}, 0)")).collect::<Vec<_>>().join(", ");
    let statements = [
        CREATE_DIRECTORY.to_owned(),
        CREATE_MARKS.to_owned(),
        format!("INSERT INTO {MARKS} (id, changes) VALUES {marks} ON CONFLICT (id) DO NOTHING"),
    ];
    for statement in &statements {
        run(client, statement).await?;
    }
    for table in [DROPS, DIRECTORY, MARKS] {
        copy_to_all_nodes(client, table).await?;
    }
    Ok(())
}

/// Makes a table a reference table of Citus: servers at all nodes read and write the same rows.
async fn copy_to_all_nodes(client: &Client, table: &str) -> Result<()> {
    if !is_distributed(client, table).await? {
        run(client, &format!("SELECT create_reference_table('{table}')")).await?;
    }
    Ok(())
}

async fn is_distributed(client: &Client, table: &str) -> Result<bool> {
    let failed = |error| refused("cannot find out which tables Citus distributes", error);
    let found = format!("SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass('{table}')");
    Ok(!client.query(&found, &[]).await.map_err(failed)?.is_empty())
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
            || ["concurrently updated", "atalog", "already distributed", "already exists"]
                .iter()
                .any(|race| refusal.message().contains(race))
    });
    match is_race {
        true => Error::conflict(format!("{doing}: {}", detail(&error))).with_source(error),
        false => translate(doing, error),
    }
}
