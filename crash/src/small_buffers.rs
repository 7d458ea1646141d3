//! A data directory with small write buffers, so that a little load makes the engine flush and compact.
//!
//! The directory stores the size of its write buffers, so the binary under test needs no setting: the engine creates the
//! directory here, and the binary opens it.

use std::path::Path;

use tablerock_kv_local::{LocalEngine, LocalOptions};

const WRITE_BUFFER_BYTES: u64 = 64 << 10;

/// Creates the directory for a server with this `--location`.
pub async fn prepare(location: &Path) -> Result<(), String> {
    let options = LocalOptions { write_buffer_bytes: WRITE_BUFFER_BYTES, ..LocalOptions::default() };
    let data = location.join("tablerock-data");
    let created = tokio::task::spawn_blocking(move || LocalEngine::open_with(&data, &options).map(drop)).await;
    created.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
}
