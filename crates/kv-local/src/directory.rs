//! The data directory: locked by one process, in a known format.
//!
//! ```text
//! tablerock-lock     locked while a process has the directory open; holds its process id
//! tablerock-format   the format of the data
//! store.unfinished   present while the data is created; after a crash meanwhile it is created again
//! store/             fjall's files
//! contents/          large contents, a folder for each group and a file for each content
//! ```
//!
//! Other files are not touched.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use tablerock_kv::{Error, Result};

use crate::LocationError;
use crate::failure::translate_io;
use crate::format;

const LOCK_NAME: &str = "tablerock-lock";
const DATA_NAME: &str = "store";
const CONTENTS_NAME: &str = "contents";
const UNFINISHED_NAME: &str = "store.unfinished";

/// A data directory, locked as long as this value lives.
#[derive(Debug)]
pub(crate) struct Directory {
    location: PathBuf,
    /// The operating system releases the lock with the file, however the process ends.
    _lock: File,
}

impl Directory {
    /// Locks the directory and creates it if it does not exist.
    pub(crate) fn open(location: &Path) -> Result<Self> {
        let not_writable = |error| LocationError::NotWritable { location: location.to_owned(), error }.into_error();
        create(location).map_err(not_writable)?;
        let lock = lock(location).map_err(|failure| match failure {
            LockFailure::Held(pid) => LocationError::InUse { location: location.to_owned(), pid }.into_error(),
            LockFailure::Io(error) => not_writable(error),
        })?;
        let directory = Self { location: location.to_owned(), _lock: lock };
        if !format::check(location)? {
            if directory.data().exists() {
                return Err(LocationError::Incomplete { location: location.to_owned() }.into_error());
            }
            format::write(location).map_err(not_writable)?;
        }
        Ok(directory)
    }

    /// The folder of the data.
    pub(crate) fn data(&self) -> PathBuf {
        self.location.join(DATA_NAME)
    }

    /// The folder of large contents, which is created with the first of them.
    pub(crate) fn contents(&self) -> PathBuf {
        self.location.join(CONTENTS_NAME)
    }

    /// Returns whether there is complete data. Incomplete data is removed: it holds no acknowledged writes.
    pub(crate) fn has_data(&self) -> Result<bool> {
        let is_there = self.data().exists();
        if is_there && self.unfinished().exists() {
            fs::remove_dir_all(self.data()).map_err(|error| self.cannot_make(error))?;
            return Ok(false);
        }
        Ok(is_there)
    }

    /// Creates the data: `make` fills the folder. The marker file is removed once all of it is durable.
    pub(crate) fn make_data<T>(&self, make: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        let begin = || File::create(self.unfinished()).and_then(|_| format::sync_directory(&self.location));
        begin().map_err(|error| self.cannot_make(error))?;
        let made = make(&self.data())?;
        let finish = || {
            sync_folders(&self.data())?;
            format::sync_directory(&self.location)?;
            fs::remove_file(self.unfinished())?;
            format::sync_directory(&self.location)
        };
        finish().map_err(|error| self.cannot_make(error))?;
        Ok(made)
    }

    fn unfinished(&self) -> PathBuf {
        self.location.join(UNFINISHED_NAME)
    }

    fn cannot_make(&self, error: std::io::Error) -> Error {
        translate_io(&format!("cannot create {}", self.data().display()), error)
    }
}

/// Creates the directory and its parents, durably.
fn create(location: &Path) -> std::io::Result<()> {
    let mut made: Vec<_> = location.ancestors().take_while(|path| !path.exists()).collect();
    fs::create_dir_all(location)?;
    if made.is_empty() && !format::is_written(location) {
        // Another process created it, or this program did and was killed before its name was durable. Without this sync, a
        // power cut could remove the whole directory.
        made.push(location);
    }
    made.iter()
        .filter_map(|path| fs::canonicalize(path).ok()?.parent().map(Path::to_owned))
        .try_for_each(|parent| format::sync_directory(&parent))
}

enum LockFailure {
    Held(Option<u32>),
    Io(std::io::Error),
}

fn lock(location: &Path) -> Result<File, LockFailure> {
    let path = location.join(LOCK_NAME);
    let open = File::options().read(true).write(true).create(true).truncate(false).open(path);
    let mut file = open.map_err(LockFailure::Io)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            // Where locks are mandatory the process id of the holder cannot be read; the error is less helpful then.
            let _ = file.read_to_string(&mut text);
            return Err(LockFailure::Held(text.trim().parse().ok()));
        }
        Err(TryLockError::Error(error)) => return Err(LockFailure::Io(error)),
    }
    let mut note_holder = || {
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())
    };
    note_holder().map_err(LockFailure::Io)?;
    Ok(file)
}

/// fjall syncs its files and their folders, but not the parents of those folders.
fn sync_folders(path: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    format::sync_directory(path)
}
