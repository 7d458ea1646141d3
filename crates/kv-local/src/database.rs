//! fjall as this engine sets it up: two keyspaces, bounded memory, and a way past a torn journal.

use std::path::Path;

use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions};
use tablerock_kv::Result;

use crate::directory::Directory;
use crate::failure::translate;
use crate::{LocalOptions, journal};

/// The longest physical key, that is partition and key with their delimiters: fjall counts it with 16 bits.
pub(crate) const KEY_BYTES_MAX: usize = u16::MAX as usize;

/// The open database and its keyspaces.
#[derive(Clone)]
pub(crate) struct Handles {
    pub(crate) database: Database,
    /// Every record, under its physical key.
    pub(crate) records: Keyspace,
    /// What the engine notes for itself: ranges to sweep.
    pub(crate) own: Keyspace,
}

/// Opens the database of a directory, and makes it first if there is none.
pub(crate) fn open(directory: &Directory, options: &LocalOptions) -> Result<Handles> {
    directory.ensure_data(|path| open_at(path, options).map(drop).map_err(|error| failed(path, error)))?;
    let path = &directory.data();
    journal::mend(path)?;
    match open_at(path, options) {
        // The structure of the journal is whole, so this is a checksum. A crash can break that of the last batch,
        // which was then never acknowledged; if it is not the last, setting it aside does not help.
        Err(fjall::Error::JournalRecovery(error)) => {
            let Some(cut) = journal::cut_last_batch(path)? else {
                return Err(failed(path, fjall::Error::JournalRecovery(error)));
            };
            match open_at(path, options) {
                Ok(handles) => {
                    tracing::warn!(bytes = cut.len(), "dropped a batch that was torn by a crash, never acknowledged");
                    Ok(handles)
                }
                Err(_) => {
                    cut.restore(path)?;
                    Err(failed(path, fjall::Error::JournalRecovery(error)))
                }
            }
        }
        opened => opened.map_err(|error| failed(path, error)),
    }
}

fn failed(path: &Path, error: fjall::Error) -> tablerock_kv::Error {
    translate(&format!("cannot open {}", path.display()), error)
}

fn open_at(path: &Path, options: &LocalOptions) -> fjall::Result<Handles> {
    let database = Database::builder(path)
        .cache_size(options.cache_bytes)
        // The journal is read again only after a crash: compressing it would cost each commit and help nobody.
        .journal_compression(CompressionType::None)
        .max_journaling_size(options.journal_bytes_max)
        .max_cached_files(Some(options.open_files_max))
        .worker_threads(options.worker_threads)
        .open()?;
    let buffered = |bytes| move || KeyspaceCreateOptions::default().max_memtable_size(bytes);
    let records = database.keyspace("records", buffered(options.write_buffer_bytes))?;
    let own = database.keyspace("own", buffered(options.write_buffer_bytes.min(1 << 20)))?;
    Ok(Handles { database, records, own })
}
