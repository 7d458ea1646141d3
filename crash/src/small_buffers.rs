//! A data directory whose write buffers are small, so that a little load makes the engine write, merge and drop tables.
//!
//! The size of a write buffer is noted in the directory when it is made. So the binary under test needs no setting for
//! this: the directory is made here, by the engine itself, and then served by the binary.

use std::path::Path;

use tablerock_kv_local::{LocalEngine, LocalOptions};

const WRITE_BUFFER_BYTES: u64 = 64 << 10;

/// Makes the directory that a server with this `--location` will use.
pub async fn prepare(location: &Path) -> Result<(), String> {
    let options = LocalOptions { write_buffer_bytes: WRITE_BUFFER_BYTES, ..LocalOptions::default() };
    let data = location.join("tablerock-data");
    let made = tokio::task::spawn_blocking(move || LocalEngine::open_with(&data, &options).map(drop)).await;
    made.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
}
