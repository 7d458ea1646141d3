//! Translation of the database's errors.

use tablerock_kv::{Error, ErrorKind};
use tokio_postgres::error::SqlState;

/// Translates the error of a statement; `attempt` names its purpose.
pub(crate) fn translate(attempt: &str, error: tokio_postgres::Error) -> Error {
    let kind = kind_of(&error);
    let detail = match error.as_db_error() {
        Some(error) => format!("{} ({})", error.message(), error.code().code()),
        None => match std::error::Error::source(&error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    };
    let message = match kind {
        ErrorKind::TooLong => {
            format!("{attempt}: partition and key together are longer than the database can index: {detail}")
        }
        _ => format!("{attempt}: {detail}"),
    };
    Error::new(kind, message).with_source(error)
}

/// Returns the kind of an error. One without a code is not from the database: the connection broke.
fn kind_of(error: &tokio_postgres::Error) -> ErrorKind {
    let Some(code) = error.code() else { return ErrorKind::Unavailable };
    match code.code() {
        // Serialization failures and deadlocks, and a duplicate key: a record that was absent when it was read.
        "40001" | "40P01" | "23505" => ErrorKind::Conflict,
        // The row of an index is too large; ours has only partition and key.
        "54000" => ErrorKind::TooLong,
        // The stored data is damaged.
        "XX001" | "XX002" => ErrorKind::Corrupt,
        code => match &code[..2] {
            // Connections, resources, intervention of the operator, a read-only standby, changed credentials, a lock
            // timeout: a later attempt may succeed.
            "08" | "53" | "57" | "58" | "25" | "28" | "55" | "40" => ErrorKind::Unavailable,
            _ => ErrorKind::Internal,
        },
    }
}

/// Returns whether the connection is unusable after this error.
pub(crate) fn breaks_connection(error: &tokio_postgres::Error) -> bool {
    let Some(code) = error.code() else { return true };
    // After a fail-over the old primary keeps its connections open and rejects writes.
    matches!(&code.code()[..2], "08" | "57" | "58") && *code != SqlState::QUERY_CANCELED
        || *code == SqlState::READ_ONLY_SQL_TRANSACTION
}

pub(crate) fn closed() -> Error {
    Error::unavailable("the engine is closed")
}
