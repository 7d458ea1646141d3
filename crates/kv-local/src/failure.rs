//! Translation of fjall's errors: damage is `Corrupt`, everything that a restart may solve is `Unavailable`.

use std::io;

use fjall::LsmError;
use tablerock_kv::{Error, ErrorKind};

/// Returns an error with the attempt and its outcome.
pub(crate) fn translate(attempt: &str, error: fjall::Error) -> Error {
    let kind = kind_of(&error);
    Error::new(kind, format!("{attempt}: {}", describe(&error))).with_source(error)
}

pub(crate) fn translate_io(attempt: &str, error: io::Error) -> Error {
    Error::new(kind_of_io(&error), format!("{attempt}: {error}")).with_source(error)
}

fn kind_of(error: &fjall::Error) -> ErrorKind {
    match error {
        fjall::Error::Io(error) | fjall::Error::Storage(LsmError::Io(error)) => kind_of_io(error),
        fjall::Error::Storage(_)
        | fjall::Error::JournalRecovery(_)
        | fjall::Error::InvalidVersion(_)
        | fjall::Error::Decompress(_)
        | fjall::Error::InvalidTrailer
        | fjall::Error::InvalidTag(_)
        | fjall::Error::Unrecoverable => ErrorKind::Corrupt,
        fjall::Error::Poisoned | fjall::Error::Locked => ErrorKind::Unavailable,
        _ => ErrorKind::Internal,
    }
}

pub(crate) fn kind_of_io(error: &io::Error) -> ErrorKind {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => ErrorKind::Corrupt,
        _ => ErrorKind::Unavailable,
    }
}

fn describe(error: &fjall::Error) -> String {
    match error {
        fjall::Error::Io(error) | fjall::Error::Storage(LsmError::Io(error)) => error.to_string(),
        fjall::Error::Storage(LsmError::ChecksumMismatch { .. }) => "a block's checksum is wrong".to_owned(),
        fjall::Error::JournalRecovery(error) => format!("the journal is damaged ({error:?})"),
        fjall::Error::Unrecoverable | fjall::Error::Storage(LsmError::Unrecoverable) => {
            "a file of the database is missing or damaged; restore the directory from a backup".to_owned()
        }
        fjall::Error::InvalidVersion(None) => {
            "its file `version` is missing or damaged; restore the directory from a backup".to_owned()
        }
        fjall::Error::Poisoned => "an earlier write, or work in the background, failed".to_owned(),
        fjall::Error::Locked => "another process holds it open".to_owned(),
        error => format!("{error:?}"),
    }
}
