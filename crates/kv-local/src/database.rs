//! The settings of fjall: two keyspaces and bounded memory; also the recovery from a torn journal.

use std::fs::File;
use std::path::Path;

use fjall::config::{BlockSizePolicy, PartitioningPolicy};
use fjall::{AbstractTree as _, CompressionType, Database, Keyspace, KeyspaceCreateOptions};
use tablerock_kv::{Error, Result};

use crate::directory::Directory;
use crate::failure::translate;
use crate::{LocalOptions, journal, manifest};

/// The longest physical key, that is partition and key with their delimiters: fjall stores its length in 16 bits.
pub(crate) const KEY_BYTES_MAX: usize = u16::MAX as usize;

/// Blocks hold about seven entities of 1 KB. With smaller blocks, the index of millions of entities does not fit into the
/// cache; with larger ones, a read of one entity reads more.
const BLOCK_BYTES: u32 = 8 << 10;

/// From the third level on, which holds most of a large table, a read loads a small part of a table's index instead of
/// all of it. Indexes of the levels above stay in memory.
const PARTITIONED_LEVELS: [bool; 3] = [false, false, true];

/// Our two keyspaces and the internal one of fjall, numbered from zero.
const KEYSPACES: usize = 3;

/// The open database and its keyspaces.
#[derive(Clone)]
pub(crate) struct Handles {
    pub(crate) database: Database,
    /// Every record, under its physical key.
    pub(crate) records: Keyspace,
    /// The engine's own records: sweep intents.
    pub(crate) own: Keyspace,
    write_buffer_bytes: u64,
}

impl Handles {
    /// Passes full write buffers to fjall's threads, which turn them into tables.
    ///
    /// fjall requests this from its threads after every batch, through a bounded queue. During a long compaction those
    /// requests fill the queue, and a thread that takes one and has to send its own message waits for itself: no buffer
    /// becomes a table any more, and the journal grows until the disk is full. A buffer that is rotated right after the
    /// batch that filled it is requested once at most.
    pub(crate) fn rotate_full_buffers(&self) -> Result<()> {
        for keyspace in [&self.records, &self.own] {
            if keyspace.tree.active_memtable().size() > self.write_buffer_bytes {
                keyspace.rotate_memtable().map_err(|error| translate("cannot rotate the write buffer", error))?;
            }
        }
        Ok(())
    }
}

/// Opens the database of a directory and creates it if there is none.
pub(crate) fn open(directory: &mut Directory, options: &LocalOptions) -> Result<Handles> {
    if !directory.has_data() {
        return directory.make_data(|path| open_at(path, options).map_err(|error| failed(path, error)));
    }
    let path = &directory.data();
    check_whole(path)?;
    directory.check_clean_stop()?;
    directory.remove_clean_stop()?;
    journal::mend(path)?;
    match open_at(path, options) {
        // The structure of the journal is intact, so a checksum is wrong. A crash can cause that in the last batch,
        // which was then never acknowledged; if another batch is damaged, cutting the last one off does not help.
        Err(fjall::Error::JournalRecovery(error)) => {
            let Some(cut) = journal::cut_last_batch(path)? else {
                return Err(failed(path, fjall::Error::JournalRecovery(error)));
            };
            match open_at(path, options) {
                Ok(handles) => {
                    tracing::warn!(bytes = cut.len(), "cut off a torn batch, which was never acknowledged");
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

/// Fails if a file is missing without which fjall would discard the data as incomplete and start empty: the file that
/// names a keyspace's tables, or all journals.
fn check_whole(data: &Path) -> Result<()> {
    (0..KEYSPACES).try_for_each(|id| manifest::check(&data.join(format!("keyspaces/{id}"))))?;
    match journal::newest(data)? {
        Some(_) => Ok(()),
        None => {
            let path = data.join("0.jnl");
            Err(Error::corrupt(format!("{} is missing; restore the directory from a backup", path.display())))
        }
    }
}

/// Returns whether nothing has the database open any more. Its threads write until its last handle is dropped, and a scan
/// in progress may hold one.
pub(crate) fn is_closed(data: &Path) -> bool {
    File::open(data.join("lock")).is_ok_and(|lock| lock.try_lock().is_ok())
}

fn failed(path: &Path, error: fjall::Error) -> tablerock_kv::Error {
    translate(&format!("cannot open {}", path.display()), error)
}

fn open_at(path: &Path, options: &LocalOptions) -> fjall::Result<Handles> {
    let (database, records) = open_bare(path, options)?;
    let own = database.keyspace("own", || create_options(options))?;
    Ok(Handles { database, records, own, write_buffer_bytes: options.write_buffer_bytes })
}

/// Opens fjall with this engine's settings and a keyspace for records, to measure the overhead of the engine.
pub fn open_bare(path: &Path, options: &LocalOptions) -> fjall::Result<(Database, Keyspace)> {
    let database = Database::builder(path)
        .cache_size(options.cache_bytes)
        // The journal is read only after a crash: compression would cost each commit and gain nothing.
        .journal_compression(CompressionType::None)
        .max_journaling_size(options.journal_bytes_max)
        .max_cached_files(Some(options.open_files_max))
        .worker_threads(options.worker_threads)
        .open()?;
    let records = database.keyspace("records", || create_options(options))?;
    Ok((database, records))
}

fn create_options(options: &LocalOptions) -> KeyspaceCreateOptions {
    KeyspaceCreateOptions::default()
        .max_memtable_size(options.write_buffer_bytes)
        .data_block_size_policy(BlockSizePolicy::all(BLOCK_BYTES))
        .index_block_partitioning_policy(PartitioningPolicy::new(PARTITIONED_LEVELS))
        .filter_block_partitioning_policy(PartitioningPolicy::new(PARTITIONED_LEVELS))
}
