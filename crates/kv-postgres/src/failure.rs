//! The database's errors in the words of the contract.

use tablerock_kv::{Error, ErrorKind};
use tokio_postgres::error::SqlState;

/// What a failed statement means. `doing` says what it was for.
pub(crate) fn translate(doing: &str, error: tokio_postgres::Error) -> Error {
    let kind = kind_of(&error);
    let detail = match error.as_db_error() {
        Some(refusal) => format!("{} ({})", refusal.message(), refusal.code().code()),
        None => match std::error::Error::source(&error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    };
    let message = match kind {
        ErrorKind::TooLong => {
            format!("{doing}: partition and key together are longer than the database can index: {detail}")
        }
        _ => format!("{doing}: {detail}"),
    };
    Error::new(kind, message).with_source(error)
}

/// The reaction that an error asks for. One without a code never came from the database: the connection broke.
fn kind_of(error: &tokio_postgres::Error) -> ErrorKind {
    let Some(code) = error.code() else { return ErrorKind::Unavailable };
    match code.code() {
        // Serialization failures and deadlocks: the database chose this transaction to give way. A key that is taken: a
        // record that was absent when it was looked for is there by now.
        "40001" | "40P01" | "23505" => ErrorKind::Conflict,
        // A row of an index has a size, and ours has nothing but partition and key.
        "54000" => ErrorKind::TooLong,
        // The data is not what the database once stored.
        "XX001" | "XX002" => ErrorKind::Corrupt,
        code => match &code[..2] {
            // Connections, resources, the operator's intervention, a standby that takes no writes, credentials that
            // were changed, a lock that was waited for too long: all of it passes or is remedied.
            "08" | "53" | "57" | "58" | "25" | "28" | "55" | "40" => ErrorKind::Unavailable,
            _ => ErrorKind::Internal,
        },
    }
}

/// Whether the connection on which this happened can be of no further use.
pub(crate) fn breaks_connection(error: &tokio_postgres::Error) -> bool {
    let Some(code) = error.code() else { return true };
    // After a fail-over the old primary keeps its connections open and refuses writes.
    matches!(&code.code()[..2], "08" | "57" | "58") && *code != SqlState::QUERY_CANCELED
        || *code == SqlState::READ_ONLY_SQL_TRANSACTION
}

pub(crate) fn closed() -> Error {
    Error::unavailable("the engine is closed")
}
