//! The data directory: one process at a time, of a format we know.
//!
//! ```text
//! tablerock-lock     locked while a process has the directory; holds its process id
//! tablerock-format   which format the data has
//! store.unfinished   there while the data is made: what a crash leaves then is made again
//! store/             fjall's files
//! contents/          large contents, a folder for each group and a file for each content
//! ```
//!
//! Other files are left alone.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use tablerock_kv::{Error, Result};

use crate::failure::translate_io;
use crate::format;

const LOCK_NAME: &str = "tablerock-lock";
const DATA_NAME: &str = "store";
const CONTENTS_NAME: &str = "contents";
const UNFINISHED_NAME: &str = "store.unfinished";

/// A data directory that is ours as long as this value lives.
#[derive(Debug)]
pub(crate) struct Directory {
    location: PathBuf,
    /// The operating system drops the lock with the file, however the process ends.
    _lock: File,
}

impl Directory {
    /// Takes the directory, and makes it if it is not there.
    pub(crate) fn open(location: &Path) -> Result<Self> {
        let unusable = |error| {
            let attempt =
                format!("cannot write to {}; check its permissions, or choose another --location", location.display());
            translate_io(&attempt, error)
        };
        create(location).map_err(unusable)?;
        let lock = lock(location).map_err(|failure| match failure {
            LockFailure::Held(pid) => in_use(location, pid),
            LockFailure::Io(error) => unusable(error),
        })?;
        let directory = Self { location: location.to_owned(), _lock: lock };
        if !format::check(location)? {
            if directory.data().exists() {
                return Err(Error::invalid(format!(
                    "{} has a folder {DATA_NAME} but no file tablerock-format, so it is not whole; \
                     restore that file, or choose another --location",
                    location.display()
                )));
            }
            format::write(location).map_err(unusable)?;
        }
        Ok(directory)
    }

    /// Where the data is.
    pub(crate) fn data(&self) -> PathBuf {
        self.location.join(DATA_NAME)
    }

    /// Where large contents are, once there are any.
    pub(crate) fn contents(&self) -> PathBuf {
        self.location.join(CONTENTS_NAME)
    }

    /// Whether there is data, made to the end. Data that was not is removed: nobody has been told of it.
    pub(crate) fn has_data(&self) -> Result<bool> {
        let is_there = self.data().exists();
        if is_there && self.unfinished().exists() {
            fs::remove_dir_all(self.data()).map_err(|error| self.cannot_make(error))?;
            return Ok(false);
        }
        Ok(is_there)
    }

    /// Makes the data: `make` fills the folder. The note beside it goes when all of it is durable.
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
        translate_io(&format!("cannot make {}", self.data().display()), error)
    }
}

/// Makes the directory and those above it, durably.
fn create(location: &Path) -> std::io::Result<()> {
    let mut made: Vec<_> = location.ancestors().take_while(|path| !path.exists()).collect();
    fs::create_dir_all(location)?;
    if made.is_empty() && !format::is_written(location) {
        // Somebody else made it, or we did and were killed before its name was durable. A power cut could still take
        // it away as a whole.
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
            // Where locks are mandatory the holder's process id cannot be read; it is only a help.
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

fn in_use(location: &Path, pid: Option<u32>) -> Error {
    let holder = pid.map_or(String::new(), |pid| format!(" (pid {pid})"));
    Error::unavailable(format!(
        "{} is in use by another Tablerock{holder}; stop it or choose another --location",
        location.display()
    ))
}

/// fjall syncs its files and the folders it puts them in, but not the folder above those.
fn sync_folders(path: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    format::sync_directory(path)
}
