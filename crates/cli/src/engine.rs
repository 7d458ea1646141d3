//! Opens engines. This is the only file that names them all: `serve`, `copy` and `export` use it.

use std::sync::Arc;

use tablerock_kv::{Clock, Engine, Error, MemoryEngine, SystemClock};
use tablerock_kv_local::{LocalEngine, LocalOptions};
use tablerock_kv_postgres::{PostgresEngine, PostgresOptions};

use crate::store_location::StoreLocation;

/// Whether opening a store may create it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenMode {
    CreateIfMissing,
    /// The store is only read, so a missing one is an error.
    MustExist,
}

/// Opens the engine, and the clock that belongs to it: servers that share a database use its clock.
pub(crate) async fn open_engine(
    location: &StoreLocation,
    cache_bytes: u64,
    mode: OpenMode,
) -> Result<(Arc<dyn Engine>, Arc<dyn Clock>), String> {
    match location {
        StoreLocation::Memory => Ok((Arc::new(MemoryEngine::new()), Arc::new(SystemClock))),
        StoreLocation::Folder(data) => {
            let options = LocalOptions { cache_bytes, ..LocalOptions::default() };
            let engine = LocalEngine::open_with(data, &options).map_err(|error| with_hint(&error))?;
            Ok((Arc::new(engine), Arc::new(SystemClock)))
        }
        StoreLocation::Database { target, connections_max } => {
            let create_if_missing = mode == OpenMode::CreateIfMissing;
            let connections_max = *connections_max;
            let options = PostgresOptions { connections_max, create_if_missing, ..PostgresOptions::default() };
            let engine = PostgresEngine::open(target.clone(), options).await;
            let engine = engine.map_err(|error| format!("cannot use {target}: {}", with_hint(&error)))?;
            let clock = engine.clock();
            Ok((engine, clock))
        }
    }
}

/// The text of a store's error for the terminal, followed by the flag that helps, if there is one.
pub(crate) fn with_hint(error: &Error) -> String {
    hint(error).map_or_else(|| error.to_string(), |hint| format!("{error}; {hint}"))
}

/// The remedy for an error of a store, in terms of this program's flags. Libraries do not know the flags, so remedies
/// that name one belong here.
fn hint(error: &Error) -> Option<&'static str> {
    let is_disk_full = cause::<std::io::Error>(error)?.kind() == std::io::ErrorKind::StorageFull;
    is_disk_full.then_some("free some space, or use another disk with --location")
}

/// Returns the first cause of this type. A store's error holds its source in an `Arc`, which hides its type.
fn cause<T: std::error::Error + 'static>(error: &Error) -> Option<&T> {
    type Shared = Arc<dyn std::error::Error + Send + Sync>;
    let mut causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    causes.find_map(|cause| match cause.downcast_ref::<Shared>() {
        Some(shared) => shared.downcast_ref(),
        None => cause.downcast_ref(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_gets_a_hint_and_other_errors_stay_as_they_are() {
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let error = Error::unavailable("cannot write the journal").with_source(full);
        assert!(with_hint(&error).ends_with("--location"), "{}", with_hint(&error));
        assert_eq!(with_hint(&Error::unavailable("busy")), "busy");
    }
}
