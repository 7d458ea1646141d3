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
    /// A missing one is an error: the store is only read, or `--existing` is set.
    MustExist,
}

/// An open engine.
pub(crate) struct OpenedEngine {
    pub(crate) engine: Arc<dyn Engine>,
    /// The clock that belongs to it: servers that share a database use its clock.
    pub(crate) clock: Arc<dyn Clock>,
    /// Whether opening created a folder's data.
    pub(crate) is_new: bool,
}

/// Opens the engine of a store.
pub(crate) async fn open_engine(
    location: &StoreLocation,
    cache_bytes: u64,
    mode: OpenMode,
) -> Result<OpenedEngine, String> {
    let create_if_missing = mode == OpenMode::CreateIfMissing;
    match location {
        StoreLocation::Memory => {
            Ok(OpenedEngine { engine: Arc::new(MemoryEngine::new()), clock: Arc::new(SystemClock), is_new: false })
        }
        StoreLocation::Folder(data) => {
            let options = LocalOptions { cache_bytes, create_if_missing, ..LocalOptions::default() };
            let engine = LocalEngine::open_with(data, &options).map_err(|error| hint::with_remedy(&error))?;
            let is_new = engine.is_new();
            Ok(OpenedEngine { engine: Arc::new(engine), clock: Arc::new(SystemClock), is_new })
        }
        StoreLocation::Database { target, connections_max } => {
            let connections_max = *connections_max;
            let options = PostgresOptions { connections_max, create_if_missing, ..PostgresOptions::default() };
            let engine = PostgresEngine::open(target.clone(), options).await;
            let engine = engine.map_err(|error| format!("cannot use {target}: {}", hint::with_remedy(&error)))?;
            let clock = engine.clock();
            Ok(OpenedEngine { engine, clock, is_new: false })
        }
    }
}
