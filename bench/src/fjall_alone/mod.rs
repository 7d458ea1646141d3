//! The ceiling for writes: fjall with nothing in front of it. It commits, one after the other and each with its own
//! sync, the very groups that Tablerock has just committed, in a database that is set up in the same way.

pub mod journal;

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, Instant};

use fjall::{AbstractTree as _, Database, Keyspace, PersistMode};
use tablerock_kv_local::{LocalOptions, open_bare};

use crate::Result;
use crate::fjall_alone::journal::Record;
use crate::load::Run;
use crate::load::histogram::Histogram;
use crate::load::process::cpu_time;

#[derive(Debug)]
pub struct FjallAlone {
    /// Where Tablerock has its data.
    pub source: PathBuf,
    /// Where fjall puts its own; emptied before each run.
    pub directory: PathBuf,
}

impl FjallAlone {
    pub fn run(&self) -> Result<Run> {
        let groups = journal::groups(&self.source)?;
        if self.directory.exists() {
            fs::remove_dir_all(&self.directory).map_err(|error| format!("{}: {error}", self.directory.display()))?;
        }
        let (database, records) = open(&self.directory).map_err(|error| error.to_string())?;
        let entities = groups.iter().map(|group| group.len() as u64).sum();
        let computed = || cpu_time(process::id()).unwrap_or_default();
        let (before, begin) = (computed(), Instant::now());
        let mut latencies = Histogram::default();
        for group in groups {
            let sent = Instant::now();
            commit(&database, &records, group).map_err(|error| error.to_string())?;
            latencies.record(sent.elapsed());
        }
        let (time, server_cpu) = (begin.elapsed(), computed() - before);
        let (generator_cpu, others_cpu) = (Duration::ZERO, Duration::ZERO);
        Ok(Run { latencies, entities, lost: 0, time, server_cpu, generator_cpu, others_cpu })
    }
}

/// How long it takes to make and open a database.
pub fn open_time(directory: &Path) -> Result<Duration> {
    let begin = Instant::now();
    let opened = open(directory).map_err(|error| error.to_string())?;
    let time = begin.elapsed();
    drop(opened);
    Ok(time)
}

fn open(directory: &Path) -> fjall::Result<(Database, Keyspace)> {
    open_bare(directory, &LocalOptions::default())
}

fn commit(database: &Database, records: &Keyspace, group: Vec<Record>) -> fjall::Result<()> {
    let mut batch = database.batch().durability(Some(PersistMode::SyncData));
    for (key, value) in group {
        batch.insert(records, key, value);
    }
    batch.commit()?;
    // As Tablerock does: left to itself, fjall would ask its threads for it again and again.
    if records.tree.active_memtable().size() > LocalOptions::default().write_buffer_bytes {
        records.rotate_memtable()?;
    }
    Ok(())
}
