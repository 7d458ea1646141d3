//! The data directory: locked by one process, in a known format.
//!
//! ```text
//! tablerock-lock         locked while a process has the directory open; holds its process id
//! tablerock-format       the format of the data, and its id
//! tablerock-clean-stop   the journals that a clean stop left
//! store.unfinished       present while the data is created; after a crash meanwhile it is created again
//! store/                 fjall's files, and the id
//! contents/              the id, and large contents: a folder for each group and a file for each content
//! ```
//!
//! Other files are not touched.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use tablerock_kv::{Error, Result};

use crate::durable::{sync_directories, sync_directory};
use crate::failure::translate_io;
use crate::format::{self, Identity};
use crate::parts::{self, State};
use crate::store_id::StoreId;
use crate::{LocationError, clean_stop, private};

const LOCK_NAME: &str = "tablerock-lock";
pub(crate) const DATA_NAME: &str = "store";
pub(crate) const CONTENTS_NAME: &str = "contents";
pub(crate) const UNFINISHED_NAME: &str = "store.unfinished";

/// A data directory, locked as long as this value lives.
#[derive(Debug)]
pub(crate) struct Directory {
    location: PathBuf,
    state: State,
    /// The operating system releases the lock with the file, however the process ends.
    _lock: File,
}

impl Directory {
    /// Locks the directory. Creates it if it does not exist and `may_create` is set.
    pub(crate) fn open(location: &Path, may_create: bool) -> Result<Self> {
        let absent = || LocationError::Absent { location: location.to_owned() }.into_error();
        // Before anything is created: an empty folder may be the place of a mount.
        if !may_create && matches!(parts::examine(location)?, State::Absent | State::Unfinished) {
            return Err(absent());
        }
        let not_writable = |error| LocationError::NotWritable { location: location.to_owned(), error }.into_error();
        create(location).map_err(not_writable)?;
        let lock = lock(location).map_err(|failure| match failure {
            LockFailure::Held(pid) => LocationError::InUse { location: location.to_owned(), pid }.into_error(),
            LockFailure::Io(error) => not_writable(error),
        })?;
        let state = parts::examine(location)?;
        if !may_create && matches!(state, State::Absent | State::Unfinished) {
            return Err(absent());
        }
        private::warn_if_accessible(location);
        Ok(Self { location: location.to_owned(), state, _lock: lock })
    }

    /// The folder of the data.
    pub(crate) fn data(&self) -> PathBuf {
        self.location.join(DATA_NAME)
    }

    /// The folder of large contents.
    pub(crate) fn contents(&self) -> PathBuf {
        self.location.join(CONTENTS_NAME)
    }

    /// Returns whether there is complete data.
    pub(crate) fn has_data(&self) -> bool {
        matches!(self.state, State::WithoutId(_) | State::Complete(_))
    }

    /// Creates the data: `make` fills the folder. The marker file is created first, and removed once all of it is durable.
    pub(crate) fn make_data<T>(&mut self, make: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        let identity = Identity { id: StoreId::random(), has_older_contents: false };
        // One of other data would be compared with this.
        self.remove_clean_stop()?;
        self.begin_data(identity).map_err(|error| self.cannot_make(error))?;
        let made = make(&self.data())?;
        self.finish_data(identity).map_err(|error| self.cannot_make(error))?;
        self.state = State::Complete(identity);
        tracing::info!(location = %self.location.display(), id = %identity.id, "created new data");
        Ok(made)
    }

    fn begin_data(&self, identity: Identity) -> io::Result<()> {
        File::create(self.unfinished())?;
        sync_directory(&self.location)?;
        if self.data().exists() {
            // Left by an interrupted creation, so it holds no acknowledged writes.
            fs::remove_dir_all(self.data())?;
        }
        format::write(&self.location, identity)
    }

    fn finish_data(&self, identity: Identity) -> io::Result<()> {
        sync_directories(&self.data())?;
        self.mark_parts(identity.id)?;
        fs::remove_file(self.unfinished())?;
        sync_directory(&self.location)
    }

    /// Marks both folders with the id, durably.
    fn mark_parts(&self, id: StoreId) -> io::Result<()> {
        fs::create_dir_all(self.contents())?;
        sync_directory(&self.location)?;
        id.mark(&self.data())?;
        id.mark(&self.contents())
    }

    /// Returns the id of the data. Data of format 1 gets one here, and the format of this version last of all.
    pub(crate) fn ensure_identity(&mut self) -> Result<Identity> {
        let identity = match self.state {
            State::Complete(identity) => return Ok(identity),
            State::WithoutId(Some(id)) => Identity { id, has_older_contents: true },
            State::WithoutId(None) => Identity { id: StoreId::random(), has_older_contents: true },
            State::Absent | State::Unfinished => return Err(Error::internal("the data has not been created")),
        };
        let upgrade = || self.mark_parts(identity.id).and_then(|()| format::write(&self.location, identity));
        upgrade().map_err(|error| translate_io(&format!("cannot upgrade {}", self.location.display()), error))?;
        tracing::info!(location = %self.location.display(), id = %identity.id, "upgraded the data to format 2");
        self.state = State::Complete(identity);
        Ok(identity)
    }

    /// Fails if the journals are not those that a clean stop left; see [`clean_stop`].
    pub(crate) fn check_clean_stop(&self) -> Result<()> {
        clean_stop::check(&self.location, &self.data())
    }

    /// Removes the note of a clean stop, before anything is written.
    pub(crate) fn remove_clean_stop(&self) -> Result<()> {
        clean_stop::remove(&self.location)
    }

    /// Notes a clean stop, after everything is closed.
    pub(crate) fn note_clean_stop(&self) -> Result<()> {
        clean_stop::write(&self.location, &self.data())
    }

    fn unfinished(&self) -> PathBuf {
        self.location.join(UNFINISHED_NAME)
    }

    fn cannot_make(&self, error: io::Error) -> Error {
        translate_io(&format!("cannot create {}", self.data().display()), error)
    }
}

/// Creates the directory and its parents, durably.
fn create(location: &Path) -> io::Result<()> {
    let mut made: Vec<_> = location.ancestors().take_while(|path| !path.exists()).collect();
    if made.is_empty() {
        // Fails if it is a file.
        fs::create_dir_all(location)?;
    } else {
        location.parent().map_or(Ok(()), fs::create_dir_all)?;
        match private::create_directory(location) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && location.is_dir() => {}
            created => created?,
        }
    }
    if made.is_empty() && !format::is_written(location) {
        // Another process created it, or this program did and was killed before its name was durable. Without this sync, a
        // power cut could remove the whole directory.
        made.push(location);
    }
    made.iter()
        .filter_map(|path| fs::canonicalize(path).ok()?.parent().map(Path::to_owned))
        .try_for_each(|parent| sync_directory(&parent))
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
