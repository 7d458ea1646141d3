//! Translation of the database's errors.
//!
//! An error is classified by what it means for the caller, not by who reports it: a conflict is retried, a part of the
//! database that is away is `Unavailable`. The meanings are one table, for PostgreSQL, Citus, YugabyteDB and CockroachDB.

use tablerock_kv::{Error, ErrorKind};
use tokio_postgres::error::{DbError, Severity, SqlState};

/// The meaning of an error: its code begins with `code`, and its message contains `says`.
struct Meaning {
    code: &'static str,
    says: &'static str,
    kind: ErrorKind,
}

const fn meaning(code: &'static str, says: &'static str, kind: ErrorKind) -> Meaning {
    Meaning { code, says, kind }
}

/// The first row that matches decides. An error of no row is `Internal`: the statement itself is wrong.
const MEANINGS: &[Meaning] = &[
    // A serialization failure, a deadlock (also one between nodes), a duplicate key: a record that was absent when it was read.
    meaning("40001", "", ErrorKind::Conflict),
    meaning("40P01", "", ErrorKind::Conflict),
    meaning("23505", "", ErrorKind::Conflict),
    // The row of an index is too large; ours has only partition and key.
    meaning("54000", "", ErrorKind::TooLong),
    // The stored data is damaged.
    meaning("XX001", "", ErrorKind::Corrupt),
    meaning("XX002", "", ErrorKind::Corrupt),
    // The same conflicts without their code. Citus copies the rows of a group to their shard, and reports a duplicate key in
    // a copy as internal; YugabyteDB reports what its storage layer says.
    meaning("XX000", "duplicate key value", ErrorKind::Conflict),
    meaning("XX000", "could not serialize access", ErrorKind::Conflict),
    meaning("XX000", "estart read required", ErrorKind::Conflict),
    meaning("XX000", "onflicts with", ErrorKind::Conflict),
    meaning("XX000", "aborted by a conflict", ErrorKind::Conflict),
    meaning("XX000", "tuple concurrently", ErrorKind::Conflict),
    // A shard of Citus that has just moved away or was split: nothing was written, and the next attempt finds the new one. The
    // name of a shard ends with its number.
    meaning("XX000", "could not find valid entry for shard", ErrorKind::Conflict),
    meaning("42P01", "tablerock_records_", ErrorKind::Conflict),
    // Anything else that the database calls internal is a node that died, a tablet without a leader, a range without a
    // quorum: a later attempt may succeed.
    meaning("XX", "", ErrorKind::Unavailable),
    // The statements of the connection are gone or outdated; it is replaced.
    meaning("26000", "", ErrorKind::Unavailable),
    meaning("0A000", "cached plan must not change", ErrorKind::Unavailable),
    // Changed permissions, or a database or a schema that is being restored.
    meaning("42501", "", ErrorKind::Unavailable),
    meaning("3D000", "", ErrorKind::Unavailable),
    meaning("3F000", "", ErrorKind::Unavailable),
    // Connections, also between nodes; a transaction that ended; credentials; a rollback, or an outcome that the database
    // does not know; resources; objects in use and timeouts of locks; the operator and timeouts; the system and ranges that
    // are away.
    meaning("08", "", ErrorKind::Unavailable),
    meaning("25", "", ErrorKind::Unavailable),
    meaning("28", "", ErrorKind::Unavailable),
    meaning("40", "", ErrorKind::Unavailable),
    meaning("53", "", ErrorKind::Unavailable),
    meaning("55", "", ErrorKind::Unavailable),
    meaning("57", "", ErrorKind::Unavailable),
    meaning("58", "", ErrorKind::Unavailable),
];

/// Translates the error of a statement; `attempt` names its purpose.
pub(crate) fn translate(attempt: &str, error: tokio_postgres::Error) -> Error {
    // An error without a code is not from the database: the connection broke.
    let kind =
        error.as_db_error().map_or(ErrorKind::Unavailable, |error| kind_of(error.code().code(), error.message()));
    let detail = detail(&error);
    let message = match kind {
        ErrorKind::TooLong => {
            format!("{attempt}: partition and key together are longer than the database can index: {detail}")
        }
        _ => format!("{attempt}: {detail}"),
    };
    Error::new(kind, message).with_source(error)
}

/// Returns the words of the database, or those of the driver about the connection.
pub(crate) fn detail(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => format!("{} ({})", error.message(), error.code().code()),
        None => match std::error::Error::source(error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    }
}

fn kind_of(code: &str, message: &str) -> ErrorKind {
    let meant = MEANINGS.iter().find(|meaning| code.starts_with(meaning.code) && message.contains(meaning.says));
    meant.map_or(ErrorKind::Internal, |meaning| meaning.kind)
}

/// Returns whether the connection is unusable after this error. One that came as a response leaves the connection as it is:
/// it may be about another node, which this one has no connection to.
pub(crate) fn breaks_connection(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().is_none_or(|error| ends_session(error) || outdates_session(error))
}

fn ends_session(error: &DbError) -> bool {
    match error.parsed_severity() {
        Some(severity) => matches!(severity, Severity::Fatal | Severity::Panic),
        None => matches!(error.severity(), "FATAL" | "PANIC"),
    }
}

/// The prepared statements are gone or outdated. Or this is the primary of before a fail-over, which keeps its connections
/// open and rejects writes, unless the rejection is that of another node.
fn outdates_session(error: &DbError) -> bool {
    let is_of_another_node = || error.where_().is_some_and(|place| place.contains("while executing command on"));
    match error.code() {
        code if *code == SqlState::INVALID_SQL_STATEMENT_NAME => true,
        code if *code == SqlState::FEATURE_NOT_SUPPORTED => error.message().contains("cached plan must not change"),
        code if *code == SqlState::READ_ONLY_SQL_TRANSACTION => !is_of_another_node(),
        _ => false,
    }
}

pub(crate) fn closed() -> Error {
    Error::unavailable("the engine is closed")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The errors that the databases document or were seen to report, and their meaning: a conflict is retried and becomes
    /// 409 or 412, `Unavailable` is 503.
    #[test]
    fn an_error_is_classified_by_what_it_means_for_the_caller() {
        use ErrorKind::{Conflict, Corrupt, Internal, TooLong, Unavailable};
        let cases = [
            // PostgreSQL
            ("40001", "could not serialize access due to concurrent update", Conflict),
            ("40P01", "deadlock detected", Conflict),
            ("23505", "duplicate key value violates unique constraint \"tablerock_records_pkey\"", Conflict),
            ("54000", "index row size 2800 exceeds btree version 4 maximum 2704", TooLong),
            ("XX001", "invalid page in block 7 of relation base/1/2", Corrupt),
            ("XX000", "tuple concurrently updated", Conflict),
            ("08006", "connection failure", Unavailable),
            ("25006", "cannot execute INSERT in a read-only transaction", Unavailable),
            ("25P03", "terminating connection due to idle-in-transaction timeout", Unavailable),
            ("28P01", "password authentication failed for user \"tablerock\"", Unavailable),
            ("26000", "prepared statement \"s3\" does not exist", Unavailable),
            ("0A000", "cached plan must not change result type", Unavailable),
            ("42501", "permission denied for table tablerock_records", Unavailable),
            ("53100", "could not extend file: No space left on device", Unavailable),
            ("53300", "sorry, too many clients already", Unavailable),
            ("55P03", "canceling statement due to lock timeout", Unavailable),
            ("57014", "canceling statement due to statement timeout", Unavailable),
            ("57P01", "terminating connection due to administrator command", Unavailable),
            ("57P03", "the database system is starting up", Unavailable),
            ("58030", "could not read block 7 in file: Input/output error", Unavailable),
            ("42601", "syntax error at or near \"SELEC\"", Internal),
            ("42P01", "relation \"tablerock_records\" does not exist", Internal),
            // Citus
            ("XX000", "duplicate key value violates unique constraint \"tablerock_records_pkey_102040\"", Conflict),
            ("40P01", "canceling the transaction since it was involved in a distributed deadlock", Conflict),
            ("XX000", "could not find valid entry for shard 102040", Conflict),
            ("XX000", "postmaster was shut down, exiting", Unavailable),
            ("XX000", "SSL SYSCALL error: EOF detected", Unavailable),
            ("08006", "connection to the remote node tablerock@worker1:5432 failed", Unavailable),
            ("42P01", "relation \"public.tablerock_records_102040\" does not exist", Conflict),
            // YugabyteDB
            ("40001", "Restart read required at: { read: { physical: 1 } }", Conflict),
            ("40001", "All transparent retries exhausted. could not serialize access", Conflict),
            ("XX000", "Query error: Restart read required at: { read: { physical: 1 } }", Conflict),
            ("XX000", "Operation failed: abc Conflicts with higher priority transaction: def", Conflict),
            ("XX000", "Operation expired: Transaction abc expired or aborted by a conflict", Conflict),
            ("XX000", "Timed out: Read RPC timed out after 120.000s", Unavailable),
            ("XX000", "Network error: recvmsg error: Connection refused", Unavailable),
            ("XX000", "Service unavailable: Leader not ready to serve requests", Unavailable),
            ("XX000", "Not found: Tablet abc not found", Unavailable),
            ("40001", "schema version mismatch for table tablerock_records", Conflict),
            // CockroachDB
            ("40001", "restart transaction: TransactionRetryWithProtoRefreshError: WriteTooOldError", Conflict),
            ("40003", "result is ambiguous: error=rpc error", Unavailable),
            ("53200", "root: memory budget exceeded", Unavailable),
            ("55C01", "schema change occurred", Unavailable),
            ("57P01", "server is shutting down", Unavailable),
            ("58C00", "replica unavailable: r57 lost quorum", Unavailable),
            ("58C01", "connection to node failed", Unavailable),
            ("08C00", "proxy could not connect to the backend", Unavailable),
            ("XXUUU", "node unavailable; try another peer", Unavailable),
        ];
        for (code, message, kind) in cases {
            assert_eq!(kind_of(code, message), kind, "{code} {message}");
        }
    }
}
