//! Opens engines. This is the only file that names them all: `serve`, `copy` and `export` use it.

use std::sync::Arc;

use tablerock_kv::{Clock, Engine, MemoryEngine, SystemClock};
use tablerock_kv_local::{LocalEngine, LocalOptions};
use tablerock_kv_postgres::{PostgresEngine, PostgresOptions};

use crate::hint;
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
            let engine = LocalEngine::open_with(data, &options).map_err(|error| hint::with_remedy(&error))?;
            Ok((Arc::new(engine), Arc::new(SystemClock)))
        }
        StoreLocation::Database { target, connections_max } => {
            let create_if_missing = mode == OpenMode::CreateIfMissing;
            let connections_max = *connections_max;
            let options = PostgresOptions { connections_max, create_if_missing, ..PostgresOptions::default() };
            let engine = PostgresEngine::open(target.clone(), options).await;
            let engine = engine.map_err(|error| format!("cannot use {target}: {}", hint::with_remedy(&error)))?;
            let clock = engine.clock();
            Ok((engine, clock))
        }
    }
}
